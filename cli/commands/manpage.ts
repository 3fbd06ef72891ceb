// ipgate manpage: the manual as files for man(1), for whoever makes a package.

import { mkdirSync, writeFileSync } from "node:fs"
import { Command } from "commander"
import { quoted } from "../../src/core/printable.ts"
import { VERSION } from "../../src/version.ts"
import type { CommandEnv } from "../command-env.ts"
import { UsageError } from "../exit.ts"

export function manpageCommand(env: CommandEnv): Command {
  const command = new Command("manpage")
  return command
    .summary("write the manual as files for man")
    .description(
      "Write the manual as files for man: ipgate(1), a page for each command, such as ipgate-allow(1), which say what --help " +
        "says, and ipgate.toml(5), which belongs into a directory man5. A file of the same name is overwritten.",
    )
    .requiredOption("--dir <directory>", "where to; it is made if it does not exist")
    .addHelpText(
      "before",
      `Examples:
  ipgate manpage --dir man1
  ipgate manpage --dir ~/.local/share/man/man1
`,
    )
    .action(async ({ dir }: { dir: string }) => {
      const { manualPages } = await import("../manual/pages.ts")
      const { releaseDate } = await import("../manual/release-date.ts")
      const program = command.parent ?? command
      const pages = manualPages(program, { version: VERSION, date: releaseDate(VERSION) })
      try {
        mkdirSync(dir, { recursive: true })
        for (const { name, text } of pages) writeFileSync(`${dir}/${name}`, text)
      } catch (cause) {
        const why = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : ""
        throw new UsageError(`the pages cannot be written to ${quoted(dir)}${why}`)
      }
      env.out.line(`wrote ${pages.length} pages to ${dir}`)
      if (env.out.isJson) env.out.json({ changed: true, pages: pages.map(({ name }) => `${dir}/${name}`) })
    })
}
