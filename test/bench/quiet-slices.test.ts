// Which delays count: those of slices in which the host left the machine its processors, itself and by its monitor.

import { expect, test } from "bun:test"
import { QuietSlices } from "../../scripts/benches/quiet-slices.ts"
import { stolenShare, ticks } from "../../scripts/benches/stolen-time.ts"

/** Slices of 50 ticks, with one delay each; the host takes so many of each in turn, and its monitor so many milliseconds. */
function slicesWith(stolen: readonly number[], monitored: readonly number[] = []) {
  const now = { all: 0, stolen: 0 }
  let monitor = 1000
  const slices = new QuietSlices(() => ({ ticks: { ...now }, monitor }))
  stolen.forEach((lost, i) => {
    slices.add(i + 1)
    now.all += 50
    now.stolen += lost
    monitor += monitored[i] ?? 0
    slices.turn()
  })
  return slices
}

test("the delays of a slice in which a tick was stolen do not count, and are not forgotten", () => {
  const slices = slicesWith([0, 1, 0, 30])
  expect(slices.counting).toEqual([1, 3])
  expect(slices.everything).toEqual([1, 2, 3, 4])
  expect(slices.leftOut).toBe(0.5)
})

test("nor do those of a slice in which the monitor of the memory went over everything", () => {
  const slices = slicesWith([0, 0, 0, 1], [1, 40, 1.5, 0])
  expect(slices.counting).toEqual([1, 3])
  expect(slices.everything).toEqual([1, 2, 3, 4])
  expect(slices.leftOut).toBe(0.5)
})

test("where the host disturbs every slice, all of them count, and the share says what they are worth", () => {
  const slices = slicesWith([2, 1])
  expect(slices.counting).toEqual([1, 2])
  expect(slices.leftOut).toBe(1)
})

test("what was before the beginning does not count, nor does what was stolen then", () => {
  const now = { all: 0, stolen: 0 }
  let monitor = 0
  const taken = () => ({ ticks: { ...now }, monitor })
  const before = new QuietSlices(taken)
  before.add(1)
  before.turn()
  before.add(2)
  now.all += 50
  now.stolen += 5
  monitor += 50
  const slices = new QuietSlices(taken)
  slices.add(3)
  now.all += 50
  slices.turn()
  expect(slices.everything).toEqual([3])
  expect(slices.leftOut).toBe(0)
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
