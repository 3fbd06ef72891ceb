// ipgate backup: a consistent copy of the whole database, from a running server or off-line.

import { Command } from "commander"
import { BackupFile } from "../backup-file.ts"
import type { CommandEnv } from "../command-env.ts"

export function backupCommand(env: CommandEnv): Command {
  return new Command("backup")
    .summary("copy the whole database into a file")
    .description(
      "Copy the whole database, with both lists and the log, from one consistent state into a file that only you can " +
        "read. The server goes on meanwhile.",
    )
    .argument("<file>", "the file to make")
    .option("--force", "replace the file if it exists")
    .addHelpText(
      "before",
      `Examples:
  ipgate backup monday.db
  ipgate backup monday.db --force
`,
    )
    .action(async (path: string, { force = false }: { force?: boolean }) => {
      const bytes = await env.withGate(async (gate) => {
        const file = BackupFile.begin(path, force)
        try {
          for await (const piece of gate.backup()) file.write(piece)
          return file.finish()
        } finally {
          file.close()
        }
      })
      if (env.out.isJson) env.out.json({ file: path, bytes })
      env.out.line(`wrote ${path} (${bytes} bytes)`)
    })
}
