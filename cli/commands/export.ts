// ipgate export: both lists as a file that import takes back.

import { Command, Option } from "commander"
import { LONGEST_TTL_SECONDS } from "../../src/core/entry.ts"
import { linesOfPieces, parseExportedLine } from "../../src/core/entry-line.ts"
import { toTime } from "../../src/wire/answers.ts"
import { BULK_FORMATS, type BulkFormat, COLUMNS } from "../bulk/bulk-format.ts"
import { csvField } from "../bulk/csv.ts"
import type { CommandEnv } from "../command-env.ts"
import { UsageError } from "../exit.ts"

type Options = { format: BulkFormat; temp?: boolean; perm?: boolean }

/** What an exported entry holds; `ttl` is what is left, in seconds. */
type Exported = {
  readonly ip: string
  readonly list: "perm" | "temp"
  readonly ttl: number | null
  readonly expires: string | null
  readonly reason: string | null
}

export function exportCommand(env: CommandEnv): Command {
  return new Command("export")
    .summary("write the lists as a file that import takes back")
    .description(
      "Write both lists to standard output, from one consistent state, as a file that import takes back.",
    )
    .addOption(
      new Option("--format <format>", "values has no lifetimes").choices([...BULK_FORMATS]).default("csv"),
    )
    .option("--temp", "only the temporary list")
    .option("--perm", "only the permanent list")
    .addHelpText(
      "before",
      `Examples:
  ipgate export > lists.csv
  ipgate export --perm --format values > office.txt
`,
    )
    .action(async (options: Options) => {
      if (options.temp && options.perm) throw new UsageError("--temp and --perm exclude each other")
      const now = env.process.clock.wall()
      const format = env.out.isJson ? "json" : options.format
      const wanted = options.temp ? "temp" : options.perm ? "perm" : null
      const { write } = env.process
      // What goes before the first entry. It waits for that, so that nothing is written when there is no gate.
      let first = format === "csv" ? `${COLUMNS.join(",")}\n` : format === "json" ? "[" : ""
      let written = 0
      let temporary = 0
      await env.withGate(async (gate) => {
        for await (const line of linesOfPieces(gate.export())) {
          const entry = toExported(line, now)
          if (wanted !== null && entry.list !== wanted) continue
          write(
            first +
              (format === "json"
                ? `${written === 0 ? "" : ","}\n${JSON.stringify(entry)}`
                : `${textOf(entry, format)}\n`),
          )
          first = ""
          written++
          if (entry.list === "temp") temporary++
        }
        write(first + (format !== "json" ? "" : written === 0 ? "]\n" : "\n]\n"))
      })
      // Who has asked for the temporary ones by --temp knows what they are.
      if (format === "values" && wanted === null && temporary > 0) {
        env.out.warn(
          `values has no lifetimes, and ${temporary} of these are temporary: an import lets them in for good unless it has --ttl; --perm leaves them out`,
        )
      }
    })
}

function textOf({ ip, list, ttl, expires, reason }: Exported, format: "values" | "csv"): string {
  if (format === "values") return ip
  return [ip, list, ttl === null ? "" : String(ttl), expires ?? "", csvField(reason ?? "")].join(",")
}

function toExported(line: string, now: number): Exported {
  const entry = parseExportedLine(line)
  if (typeof entry === "string") throw new Error(`the server sent a line that is no entry: ${entry}`)
  const { network, until, reason } = entry
  return {
    ip: network.toString(),
    list: until === null ? "perm" : "temp",
    ttl: until === null ? null : clamped(Math.ceil((until - now) / 1000)),
    expires: until === null ? null : toTime(until),
    reason: until === null ? null : (reason ?? ""),
  }
}

/** A lifetime that import takes, whatever the clocks of client and server say. */
function clamped(seconds: number): number {
  return Math.min(Math.max(1, seconds), LONGEST_TTL_SECONDS)
}
