// ipgate denied: who was refused lately, and was let in before?

import { Command } from "commander"
import { LARGEST_LIMIT } from "../../src/core/page.ts"
import { quoted } from "../../src/core/printable.ts"
import { refusedEntryToJson } from "../../src/wire/answers.ts"
import type { CommandEnv } from "../command-env.ts"
import { UsageError } from "../exit.ts"
import { ago } from "../times.ts"

const DEFAULT_ROWS = 50

export function deniedCommand(env: CommandEnv): Command {
  return new Command("denied")
    .summary("show who was refused lately")
    .description(
      "Show the clients that were refused lately, the last one first, and the entry that let them in before. " +
        "The server keeps a few thousand of them in memory, since its start.",
    )
    .option("-n, --limit <count>", `at most so many rows, up to ${LARGEST_LIMIT} (default ${DEFAULT_ROWS})`)
    .addHelpText(
      "before",
      `Examples:
  ipgate denied
  ipgate denied -n 5 --json
`,
    )
    .action(async (options: { limit?: string }) => {
      if (env.options.offline) {
        throw new UsageError(
          "only a running server knows whom it has refused: an empty list would say nothing",
          "leave out --offline; `ipgate logs --offline` says what has ended",
        )
      }
      const limit = Number(options.limit ?? DEFAULT_ROWS)
      if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT) {
        throw new UsageError(`${quoted(options.limit ?? "")} is no number of rows from 1 to ${LARGEST_LIMIT}`)
      }
      const entries = await env.withGate((gate) => gate.refused({ limit, offset: 0 }))
      if (env.out.isJson) {
        env.out.json(entries.map(refusedEntryToJson))
        return
      }
      const now = env.process.clock.wall()
      env.out.table(
        ["IP", "COUNT", "FIRST", "LAST", "LET IN BEFORE BY"],
        entries.map(({ ip, count, firstAt, lastAt, lastEntry }) => [
          ip,
          String(count),
          ago(firstAt, now),
          ago(lastAt, now),
          lastEntry === null
            ? "-"
            : `${lastEntry.list} ${lastEntry.ip}, ${lastEntry.how} ${ago(lastEntry.endedAt, now)}`,
        ]),
      )
    })
}
