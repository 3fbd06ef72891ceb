// ipgate import: many entries at once, checked whole before the first change.

import { Command, Option } from "commander"
import { explainReason } from "../../src/core/entry.ts"
import type { ImportCounts } from "../../src/core/gate.ts"
import { tooManyRemovals } from "../../src/core/too-many-removals.ts"
import { BULK_FORMATS, type BulkFormat, formatOf } from "../bulk/bulk-format.ts"
import { compare } from "../bulk/compare.ts"
import { mustFit } from "../bulk/must-fit.ts"
import { readBulk } from "../bulk/read-bulk.ts"
import type { CommandEnv } from "../command-env.ts"
import { UsageError } from "../exit.ts"
import { Progress } from "../progress.ts"
import { readTtl } from "../times.ts"

const MEBIBYTE = 1024 * 1024

type Options = {
  format?: BulkFormat
  ttl?: string
  reason?: string
  prune?: boolean
  maxRemovals?: string
  force?: boolean
  dryRun?: boolean
}

/** Bytes of a file. It is several times what a server takes of its entries at once. */
const LARGEST_FILE = 256 * MEBIBYTE

/** As the shell tells it. */
const EXIT_OF_SIGNAL = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/** What an administrator removes by hand; more looks like a file that is cut short. */
const MAX_REMOVALS = 10

export function importCommand(env: CommandEnv): Command {
  return new Command("import")
    .summary("put many entries on the lists at once")
    .description(
      "Put the entries of a file on the lists: all of them or, if one line is bad, none. The file is one network a " +
        "line (.txt), CSV with the columns ip, list, ttl, expires, reason (.csv), or what export writes (.json).",
    )
    .argument("<file>", "the file; - is standard input, and needs --format")
    .addOption(
      new Option("--format <format>", "the format, if the name does not tell").choices([...BULK_FORMATS]),
    )
    .option("-t, --ttl <duration>", "the lifetime of entries that name none (without it they are permanent)")
    .option("-r, --reason <text>", "the reason of temporary entries that name none")
    .option("--prune", "also remove permanent entries that the file does not name as permanent")
    .option(
      "--max-removals <count>",
      `with --prune: change nothing if more than so many would go (default ${MAX_REMOVALS})`,
    )
    .option("--force", "take networks wider than /8 (IPv4) or /32 (IPv6)")
    .option("--dry-run", "say what would be done, and do nothing")
    .addHelpText(
      "before",
      `Examples:
  ipgate import office.txt --dry-run
  ipgate import partners.csv --prune --max-removals 100
  ipgate import - --format values --ttl 1d < addresses.txt
`,
    )
    .action(async (file: string, options: Options) => {
      const now = env.process.clock.wall()
      const format = formatOf(file, options.format)
      const fault = options.reason === undefined ? null : explainReason(options.reason)
      if (fault !== null) throw new UsageError(fault)
      if (options.maxRemovals !== undefined && !options.prune) {
        throw new UsageError("--max-removals needs --prune", "without --prune an import removes nothing")
      }
      const prune = options.prune
        ? { maxRemovals: options.maxRemovals === undefined ? MAX_REMOVALS : removalsOf(options.maxRemovals) }
        : null
      const name = file === "-" ? "standard input" : file
      const bytes = await env.process.readBytes(file, LARGEST_FILE)
      if (bytes === null) throw new UsageError(`${name} does not exist or cannot be read`)
      if (bytes === "too large") {
        throw new UsageError(
          `${name} is larger than ${LARGEST_FILE / MEBIBYTE} MiB, and nothing was changed`,
          prune === null
            ? "split it into several files"
            : "split it into several files and leave --prune out: with one part it would remove the others",
        )
      }
      const progress = new Progress(env.process, env.options)
      const {
        lines: wanted,
        count,
        permanent,
        places,
      } = readBulk(bytes, {
        format,
        name,
        now,
        ttlSeconds: options.ttl === undefined ? null : readTtl(options.ttl),
        reason: options.reason || null,
        force: options.force === true,
        progress: (lines) => progress.show(`checked ${lines} lines`),
      })
      if (prune !== null && permanent === 0) {
        throw new UsageError(
          `${name} names no permanent entry, and --prune would remove all that there are: nothing was changed`,
          "an import never empties a list: leave --prune out, or remove entries with `ipgate deny`",
        )
      }
      if (env.options.offline !== true) mustFit(wanted.length, name, { isPruning: prune !== null })
      const { counts, lines } = await env.withGate(async (gate) => {
        if (options.dryRun) return compare(gate, wanted, now, prune !== null)
        // Off-line an import that is killed is not made.
        if (env.options.offline !== true) sayIfKilled(env, progress)
        const written = gate.import({ lines: wanted, prune }).catch((error) => {
          throw places.inFile(error)
        })
        return { counts: await progress.during(written, `writing ${count} entries`), lines: [] }
      })
      progress.clear()
      const refusal = prune === null || !options.dryRun ? null : tooManyRemovals(counts.removed, prune)
      if (refusal === null || !env.out.isJson) report(env, counts, lines, options.dryRun === true)
      if (refusal !== null) throw refusal
    })
}

/** From now on, whoever stops the command learns that the server goes on. */
function sayIfKilled({ process, out }: CommandEnv, progress: Progress): void {
  process.beforeKilled((signal) => {
    progress.clear()
    out.failure({
      exitCode: EXIT_OF_SIGNAL[signal],
      code: "failed",
      message: `stopped by ${signal} before the server has answered`,
      hint: "the change may still take effect: ask with `ipgate check` before you repeat it",
    })
  })
}

function removalsOf(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new UsageError(`--max-removals ${text} is no number`)
  return Number(text)
}

function report({ out }: CommandEnv, counts: ImportCounts, lines: readonly string[], dryRun: boolean): void {
  const changed = counts.added + counts.replaced + counts.removed > 0
  if (out.isJson) out.json({ changed, dry_run: dryRun, ...counts })
  for (const line of lines) out.line(line)
  const { added, replaced, unchanged, removed, duplicates, ended } = counts
  const parts = [`${added} added`, `${replaced} replaced`, `${unchanged} unchanged`]
  if (removed > 0) parts.push(`${removed} removed`)
  if (duplicates > 0) parts.push(`${duplicates} duplicate${duplicates === 1 ? "" : "s"} in the file`)
  if (ended > 0) parts.push(`${ended} already ended and left out`)
  out.line(`${parts.join(", ")}${dryRun ? " (dry run: nothing was changed)" : ""}`)
}
