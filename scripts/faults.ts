// `./scripts/test faults`: every test of a fault in its long form, the table of what held, and the pages that quote it.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { LATEST_PATH, type Latest, PAGE_PATH, pageOf, summaryOf } from "../test/faults/page.ts"
import { type Registered, registeredFaults, testFilesOf } from "../test/faults/registered.ts"
import { type Result, resultsOf, resultText } from "../test/faults/results.ts"
import { readTally } from "../test/faults/tally.ts"

const README = join(import.meta.dir, "../README.md")

/** What a run needs from its caller. */
export type FaultRun = {
  /** Ids or chapters, such as `A-03` or `H`; none means all of the catalogue. */
  readonly only: readonly string[]
  /** False with FAULTS=short, which does as much as every run of the tests does. */
  readonly long: boolean
  /** Runs Bun with these arguments and this environment, and gives its exit code. */
  readonly bun: (args: readonly string[], env: Readonly<Record<string, string>>) => number
}

/**
 * Runs the tests, prints the table, and gives the counts. After a long run of the whole catalogue in which nothing
 * failed, the figures are written to test/faults/latest.json, and from there to test/faults/README.md and the README.
 */
export function runFaults({ only, long, bun }: FaultRun): {
  passed: number
  failed: number
  skipped: number
} {
  const chosen = registeredFaults().filter(
    ({ ids }) => only.length === 0 || ids.some((id) => only.some((beginning) => id.startsWith(beginning))),
  )
  if (chosen.length === 0) {
    console.error(`scripts/test: no test of a fault begins with ${only.join(" or ")}`)
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const startedAt = performance.now()
  const directory = mkdtempSync(join(tmpdir(), "ipgate-faults-"))
  try {
    const report = join(directory, "junit.xml")
    const tallyPath = join(directory, "tally")
    const exitCode = bun(
      [
        "test",
        "--reporter=junit",
        `--reporter-outfile=${report}`,
        "-t",
        patternOf(chosen, only),
        ...testFilesOf(chosen).map((path) => `./${path}`),
      ],
      { FAULTS: long ? "long" : "short", FAULTS_TALLY: tallyPath },
    )
    const results = resultsOf(existsSync(report) ? readFileSync(report, "utf8") : "", chosen)
    const latest: Latest = {
      date: new Date().toISOString().slice(0, 10),
      minutes: Math.ceil((performance.now() - startedAt) / 60_000),
      figures: readTally(tallyPath),
      results: Object.fromEntries(results),
    }
    console.log(`\n== faults\n\n${tableOf(chosen, results)}\n\n${summaryOf(latest)}`)
    const counts = countsOf(chosen, results, exitCode)
    if (long && only.length === 0) {
      if (counts.failed === 0) publish(chosen, latest)
      else console.log("Nothing was written to the pages, because a test failed.")
    }
    return counts
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Of the titles; Bun runs what matches and reports the rest as skipped. */
function patternOf(chosen: readonly Registered[], only: readonly string[]): string {
  if (only.length === 0) return String.raw`\[[A-Z]-[0-9]{2}[^\]]*\] `
  return chosen.map(({ title }) => title.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|")
}

function tableOf(faults: readonly Registered[], results: ReadonlyMap<string, Result>): string {
  return faults
    .flatMap(({ ids, done, title }) =>
      ids.map((id) => ({ id, done, result: resultText(results.get(title)) })),
    )
    .toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
    .map(({ id, done, result }) => `${id}  ${result.replaceAll("*", "").padEnd(28)}  ${done}`)
    .join("\n")
}

function countsOf(faults: readonly Registered[], results: ReadonlyMap<string, Result>, exitCode: number) {
  const all = faults.flatMap(({ title }) => results.get(title) ?? [])
  const sum = (kind: keyof Result) => all.reduce((total, result) => total + result[kind], 0)
  const notRun = all.filter((result) => result.passed + result.failed + result.leftOut === 0).length
  const failed = sum("failed") + notRun
  return {
    passed: sum("passed"),
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: sum("leftOut"),
  }
}

function publish(faults: readonly Registered[], latest: Latest): void {
  writeFileSync(LATEST_PATH, `${JSON.stringify(latest, null, 2)}\n`)
  writeFileSync(PAGE_PATH, pageOf(faults, latest))
  const before = readFileSync(README, "utf8")
  const after = before.replace(
    /(<!-- faults:start -->\n)[\s\S]*?(\n<!-- faults:end -->)/,
    (_, start, end) => `${start}The last whole run, on ${latest.date}: ${summaryOf(latest)}.${end}`,
  )
  writeFileSync(README, after)
}
