// FlatPool: places that stay where they are, come back empty, and are used again before there are more.

import { expect, test } from "bun:test"
import { FlatPool } from "../../src/core/flat-pool.ts"

const PLENTY = 1 << 20

function write(pool: FlatPool, place: number, values: readonly number[]): void {
  for (const [i, value] of values.entries()) pool.pieceWith(place)[pool.offsetOf(place) + i] = value
}

function read(pool: FlatPool, place: number, count: number): number[] {
  return Array.from(pool.pieceWith(place).subarray(pool.offsetOf(place), pool.offsetOf(place) + count))
}

test("each place has its own integers, over all pieces, and none is place 0", () => {
  const pool = new FlatPool(3, PLENTY)
  const places = Array.from({ length: 50_000 }, () => pool.take())
  expect(new Set(places).size).toBe(50_000)
  expect(places.includes(0)).toBe(false)
  for (const place of places) write(pool, place, [place, -place, 7])
  for (const place of places) expect(read(pool, place, 3)).toEqual([place, -place, 7])
})

test("a place that came back is given out again, and is empty", () => {
  const pool = new FlatPool(4, PLENTY)
  const [first, second, third] = [pool.take(), pool.take(), pool.take()] as const
  for (const place of [first, second, third]) write(pool, place, [1, 2, 3, 4])
  pool.giveBack(first)
  pool.giveBack(third)
  expect(new Set([pool.take(), pool.take()])).toEqual(new Set([first, third]))
  for (const place of [first, third]) expect(read(pool, place, 4)).toEqual([0, 0, 0, 0])
  expect(read(pool, second, 4)).toEqual([1, 2, 3, 4])
})

test("memory grows with what is in use at once, and not with what comes and goes", () => {
  const pool = new FlatPool(16, PLENTY)
  expect(pool.bytes).toBe(0)
  const held = Array.from({ length: 5_000 }, () => pool.take())
  const before = pool.bytes
  expect(before).toBeGreaterThanOrEqual(5_000 * 16 * 4)
  expect(before).toBeLessThanOrEqual(4 * 5_000 * 16 * 4)
  for (let i = 0; i < 100_000; i++) {
    pool.giveBack(held[i % held.length] as number)
    held[i % held.length] = pool.take()
  }
  expect(pool.bytes).toBe(before)
  expect(new Set(held).size).toBe(5_000)
})

test("where there are no more places it says so, until one comes back", () => {
  const pool = new FlatPool(1, 4)
  const places = [pool.take(), pool.take(), pool.take()]
  expect(() => pool.take()).toThrow(RangeError)
  pool.giveBack(places[1] as number)
  expect(pool.take()).toBe(places[1] as number)
})
