// ipgate export: both lists as a file that import takes back.

import { Command, Option } from "commander"
import { linesOf, parseEntryLine } from "../../src/core/entry-line.ts"
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
      let written = 0
      if (format === "csv") write(`${COLUMNS.join(",")}\n`)
      await env.withGate(async (gate) => {
        for await (const entry of exported(gate.export(), now)) {
          if (wanted !== null && entry.list !== wanted) continue
          write(
            format === "json"
              ? `${written === 0 ? "[" : ","}\n${JSON.stringify(entry)}`
              : `${textOf(entry, format)}\n`,
          )
          written++
        }
      })
      if (format === "json") write(written === 0 ? "[]\n" : "\n]\n")
    })
}

function textOf({ ip, list, ttl, expires, reason }: Exported, format: "values" | "csv"): string {
  if (format === "values") return ip
  return [ip, list, ttl === null ? "" : String(ttl), expires ?? "", csvField(reason ?? "")].join(",")
}

/** Entries from pieces that may end in the middle of a line. */
async function* exported(pieces: AsyncIterable<Uint8Array>, now: number): AsyncGenerator<Exported> {
  let rest = new Uint8Array(0)
  for await (const piece of pieces) {
    const bytes = new Uint8Array(rest.length + piece.length)
    bytes.set(rest)
    bytes.set(piece, rest.length)
    const end = bytes.lastIndexOf(10) + 1
    for (const line of linesOf(bytes.subarray(0, end))) yield toExported(line, now)
    rest = bytes.slice(end)
  }
}

function toExported(line: string, now: number): Exported {
  const entry = parseEntryLine(line, now)
  if (typeof entry === "string") throw new Error(`the server sent a line that is no entry: ${entry}`)
  const { network, until, reason } = entry
  return {
    ip: network.toString(),
    list: until === null ? "perm" : "temp",
    ttl: until === null ? null : Math.max(1, Math.ceil((until - now) / 1000)),
    expires: until === null ? null : toTime(until),
    reason: until === null ? null : (reason ?? ""),
  }
}
