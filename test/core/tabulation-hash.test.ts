// TabulationHash: entries that somebody chose fall apart as if they were random, because nobody knows the numbers.

import { describe, expect, test } from "bun:test"
import { type RandomNumbers, TabulationHash } from "../../src/core/tabulation-hash.ts"
import { Prng } from "../support/prng.ts"

type Words = readonly [word0: number, word1: number, word2: number, word3: number]

const COUNT = 65_536

function numbersOf(seed: number): RandomNumbers {
  const random = new Prng(seed)
  return (numbers) => numbers.map(() => random.word())
}

/** An odd number's inverse among the 32-bit numbers. */
function inverse(odd: number): number {
  let found = odd
  for (let i = 0; i < 5; i++) found = Math.imul(found, 2 - Math.imul(odd, found))
  return found
}

/** One of 2^32 addresses of a /64 that a usual mixing function without a secret gives the same number. */
function solved(i: number): Words {
  const [word0, word1, word2] = [0x20010db8, 0x00010002, i]
  let hash = Math.imul(word0 ^ 0x9e3779b9, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 15) ^ word1, 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 13) ^ word2, 0x27d4eb2f)
  return [word0, word1, word2, Math.imul(0x12345678, inverse(0x165667b1)) ^ hash ^ (hash >>> 16)]
}

const CHOSEN: ReadonlyArray<readonly [string, (i: number) => Words]> = [
  ["addresses that collide in a function without a secret", solved],
  ["neighbours", (i) => [0x20010db8, 0, 0, i]],
  ["addresses that differ in their first half", (i) => [i << 16, 0, 0, 1]],
  ["addresses that differ in the same bits of each word", (i) => [i, i, i, i]],
  ["multiples of a large number", (i) => [0x20010db8, 0, Math.imul(i, 0x9e3779b1), Math.imul(i, 0x10001)]],
]

describe.each([1, 4] as const)("of %d words", (words) => {
  test.each(CHOSEN)("spreads %s", (_what, wordsOf) => {
    const hash = new TabulationHash(words, numbersOf(7))
    const seen = new Set<string>()
    // By the bits that pick a shard and those that pick a slot in it.
    const loads = new Uint16Array(COUNT)
    for (let i = 0; i < COUNT; i++) {
      const [word0, ...others] = wordsOf(i)
      const [word1 = 0, word2 = 0, word3 = 0] = words === 4 ? others : []
      const key = String([word0, word1, word2, word3])
      if (seen.has(key)) continue
      seen.add(key)
      const value = hash.of(word0, word1, word2, word3, words * 32)
      const basket = ((value >>> 24) << 8) | (value & 0xff)
      loads[basket] = (loads[basket] as number) + 1
    }
    // As many balls as baskets: the fullest holds eight or nine, and sixteen once in a million times.
    expect(Math.max(...loads)).toBeLessThan(16)
  })

  test("tells apart what differs in one bit or in its length", () => {
    const hash = new TabulationHash(words, numbersOf(7))
    const values = new Set<number>()
    for (let length = 0; length <= words * 32; length++) values.add(hash.of(1, 0, 0, 0, length))
    for (let bit = 0; bit < words * 32; bit++) {
      const at = [0, 0, 0, 0].map((_, i) => (i === bit >>> 5 ? 1 << bit : 0)) as unknown as Words
      values.add(hash.of(...at, 200))
    }
    expect(values.size).toBe(words * 64 + 1)
  })

  test("counts signed and unsigned words alike", () => {
    const hash = new TabulationHash(words, numbersOf(7))
    expect(hash.of(0x80000001 | 0, -1, -2, -3, 32)).toBe(
      hash.of(0x80000001, 0xffffffff, 0xfffffffe, 0xfffffffd, 32),
    )
  })
})

test("is another one each time, by numbers that nobody can foresee", () => {
  const values = Array.from({ length: 50 }, () => new TabulationHash(4).of(1, 2, 3, 4, 128))
  expect(new Set(values).size).toBeGreaterThan(45)
})
