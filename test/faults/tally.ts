// The figures that tests count while they run, for the summary of `./scripts/test faults`.

import { appendFileSync, existsSync, readFileSync } from "node:fs"

/** What is counted, and what a summary calls it. */
export const FIGURES = {
  crashCycles: "crash cycles",
  requestsFuzzed: "requests fuzzed",
  inputsFuzzed: "texts and values fuzzed",
  decisionsCompared: "decisions compared",
  lost: "acknowledged changes lost",
  letIn: "clients let in that should not be",
} as const

export type Figure = keyof typeof FIGURES

/** Adds to a figure. A test counts what it has found before it asserts that it is none. */
export function tally(figure: Figure, amount: number): void {
  const path = process.env.FAULTS_TALLY
  if (path !== undefined && amount > 0) appendFileSync(path, `${figure} ${amount}\n`)
}

/** The sums of what was written to the file of a run. */
export function readTally(path: string): Record<Figure, number> {
  const sums = Object.fromEntries(Object.keys(FIGURES).map((name) => [name, 0])) as Record<Figure, number>
  if (!existsSync(path)) return sums
  for (const line of readFileSync(path, "utf8").trim().split("\n")) {
    const [name, amount] = line.split(" ") as [Figure, string]
    if (Object.hasOwn(sums, name)) sums[name] += Number(amount)
  }
  return sums
}
