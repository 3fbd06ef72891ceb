// Which windows of the bench count: the ones in which the machine had its processors for itself.

import { expect, test } from "bun:test"
import type { Window } from "../../scripts/benches/prober.ts"
import { QuietWindows } from "../../scripts/benches/quiet-windows.ts"
import type { Report } from "../../scripts/benches/report.ts"
import { stolenShare, ticks } from "../../scripts/benches/stolen-time.ts"

const told: string[] = []
const report = { log: (line: string) => told.push(line) } as unknown as Report

/** Windows of a hundred ticks and five seconds each; the host takes so many ticks of each in turn. */
function windows(stolen: readonly number[]) {
  let all = 0
  let lost = 0
  let taken = 0
  const quiet = new QuietWindows(report, 75, () => ({ all, stolen: lost, seconds: all / 20 }))
  const take = () =>
    quiet.take(async () => {
      all += 100
      lost += stolen[taken] ?? 0
      return { p99: ++taken } as Window
    })
  return { take, count: () => taken }
}

test("a window in which the host took more than a hundredth is taken again, and the next one counts", async () => {
  const { take } = windows([1, 2, 50, 0])
  expect((await take()).p99).toBe(1)
  expect((await take()).p99).toBe(4)
})

test("they are taken again for 75 seconds in all; from then on each counts, and the log says so", async () => {
  const { take, count } = windows(new Array<number>(100).fill(30))
  expect((await take()).p99).toBe(16)
  expect((await take()).p99).toBe(17)
  expect(count()).toBe(17)
  expect(told.at(-1)).toContain("30.0 %")
  expect(told.at(-1)).toContain("counts all the same")
})

test("the kernel's own figures are read: time goes on, and no more of it is stolen than there is", async () => {
  const before = ticks()
  const until = performance.now() + 100
  while (performance.now() < until);
  const after = ticks()
  expect(after.all).toBeGreaterThan(before.all)
  const share = stolenShare(before, after)
  expect(share).toBeGreaterThanOrEqual(0)
  expect(share).toBeLessThanOrEqual(1)
})
