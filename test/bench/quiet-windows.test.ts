// Which windows of the bench count: those of which most went by undisturbed.

import { expect, test } from "bun:test"
import type { Window } from "../../scripts/benches/prober.ts"
import { QuietWindows } from "../../scripts/benches/quiet-windows.ts"
import type { Report } from "../../scripts/benches/report.ts"

const told: string[] = []
const report = { log: (line: string) => told.push(line) } as unknown as Report

/** Windows of five seconds each, of which such shares were left out in turn. */
function windows(leftOut: readonly number[]) {
  let taken = 0
  const quiet = new QuietWindows(report, 75, () => taken * 5)
  const take = () => quiet.take(async () => ({ leftOut: leftOut[taken] ?? 0, p99: ++taken }) as Window)
  return { take, quiet, count: () => taken }
}

test("a window of which more than half was left out is taken again, and the next one counts", async () => {
  const { take, quiet } = windows([0.5, 0.55, 1, 0])
  expect((await take()).p99).toBe(1)
  expect((await take()).p99).toBe(4)
  expect(quiet.takenAgain).toBe(2)
})

test("they are taken again for 75 seconds in all; from then on each counts, and the log says so", async () => {
  const { take, count } = windows(new Array<number>(100).fill(0.9))
  expect((await take()).p99).toBe(16)
  expect((await take()).p99).toBe(17)
  expect(count()).toBe(17)
  expect(told.at(-1)).toContain("90 %")
  expect(told.at(-1)).toContain("counts all the same")
})
