// The page of the faults, test/faults/README.md: made from the catalogue, from the tests, and from the last long run.

import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { CATALOGUE, CHAPTERS } from "./catalogue.ts"
import { NOT_TESTED } from "./not-tested.ts"
import type { Registered } from "./registered.ts"
import { type Result, resultText } from "./results.ts"
import { FIGURES, type Figure } from "./tally.ts"

export const PAGE_PATH = join(import.meta.dir, "README.md")
export const LATEST_PATH = join(import.meta.dir, "latest.json")

/** What the last long run has shown. */
export type Latest = {
  /** The day, as `2026-11-21`. */
  readonly date: string
  readonly minutes: number
  readonly figures: Readonly<Record<Figure, number>>
  /** By the title of a fault test. */
  readonly results: Readonly<Record<string, Result>>
}

export function latestRun(): Latest | null {
  return existsSync(LATEST_PATH) ? (JSON.parse(readFileSync(LATEST_PATH, "utf8")) as Latest) : null
}

/** The whole page. */
export function pageOf(faults: readonly Registered[], latest: Latest | null): string {
  const tested = CATALOGUE.filter(({ id }) => faults.some(({ ids }) => ids.includes(id)))
  const parts = [
    "# The faults",
    "What is done to ipgate on purpose, and what must hold all the while. This page is written by `./scripts/test faults`,\n" +
      "and `UPDATE_FAULTS=1 bun test test/faults` writes it without a new run. " +
      `The catalogue has ${CATALOGUE.length} rows:\n${tested.length} are tested, ` +
      `${Object.keys(NOT_TESTED).length} are not, for the reasons [at the end](#not-tested-here).`,
    latest === null ? "No whole run has been recorded." : runOf(faults, latest),
  ]
  for (const [letter, title] of Object.entries(CHAPTERS)) {
    const rows = tested.filter(({ id }) => id.startsWith(letter))
    if (rows.length === 0) continue
    const lines = rows.flatMap(({ id, fault }) =>
      faults
        .filter(({ ids }) => ids.includes(id))
        .map((test, i) => [
          i === 0 ? id : "",
          i === 0 ? fault : "",
          test.done,
          test.holds,
          resultText(latest?.results[test.title]),
        ]),
    )
    parts.push(`## ${title}`, table(["id", "fault", "what is done", "what must hold", "result"], lines))
  }
  const left = CATALOGUE.flatMap(({ id, fault }) =>
    Object.hasOwn(NOT_TESTED, id) ? [[id, fault, NOT_TESTED[id] ?? ""]] : [],
  )
  parts.push("## Not tested here", table(["id", "fault", "why"], left))
  return `${parts.join("\n\n")}\n`
}

/** The page without its results, which a run without the programs of another machine need not repeat. */
export function withoutResults(page: string): string {
  return page
    .split("\n")
    .filter((line) => !line.startsWith("The last whole run") && !line.startsWith("No whole run"))
    .map((line) => (line.startsWith("|") ? line.replace(/\|[^|]*\|$/, "|") : line))
    .join("\n")
}

/** One line with the figures of a run, for the README of the project and for the end of the run. */
export function summaryOf(latest: Latest): string {
  const results = Object.entries(latest.results).filter(([, { passed, failed }]) => passed + failed > 0)
  const tried = new Set(results.flatMap(([title]) => title.slice(1, title.indexOf("]")).split(" ")))
  const figures = Object.entries(FIGURES).map(
    ([name, words]) => `${words}: ${(latest.figures[name as Figure] ?? 0).toLocaleString("en-US")}`,
  )
  return [`faults tried: ${tried.size} of ${CATALOGUE.length}`, ...figures].join(", ")
}

function runOf(faults: readonly Registered[], latest: Latest): string {
  const known = faults.flatMap(({ title }) => latest.results[title] ?? [])
  const sum = (kind: keyof Result) => known.reduce((total, result) => total + result[kind], 0)
  const tests = `${sum("passed")} tests passed, ${sum("failed")} failed, ${sum("leftOut")} were left out`
  return `The last whole run, on ${latest.date}, took ${latest.minutes} minutes; ${tests}; ${summaryOf(latest)}.`
}

function table(titles: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  return [line(titles), line(titles.map(() => "---")), ...rows.map(line)].join("\n")
}
