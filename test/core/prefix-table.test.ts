// PrefixTable: a map, whatever is put in and taken out in whatever order, in memory that changes do not wear out.

import { describe, expect, test } from "bun:test"
import { ABSENT, PrefixTable } from "../../src/core/prefix-table.ts"
import { type Prng, seeded } from "../support/prng.ts"

type Key = readonly [word0: number, word1: number, word2: number, word3: number, length: number]

const SIGN = 1 << 31

describe.each([1, 4] as const)("a table of %d-word prefixes", (words) => {
  // An IPv4 prefix is one word, and the others are zero.
  const key = (word0: number, rest: number, length: number): Key =>
    words === 1 ? [word0, 0, 0, 0, length] : [word0, rest, rest, rest, length]

  test("keeps the values of keys that differ in one word, one bit or the length", () => {
    const table = new PrefixTable(words)
    const keys: Key[] = []
    for (let length = 0; length <= (words === 1 ? 32 : 128); length++) keys.push([0, 0, 0, 0, length])
    for (let word = 0; word < words; word++) {
      for (let bit = 0; bit < 32; bit++) {
        const parts = [0, 0, 0, 0].map((_, i) => (i === word ? 1 << bit : 0)) as [
          number,
          number,
          number,
          number,
        ]
        keys.push([...parts, words * 32])
        keys.push([...parts, 7])
      }
    }
    for (const [i, key] of keys.entries()) table.set(...key, i + 1)
    expect(keys.map((key) => table.get(...key))).toEqual(keys.map((_, i) => i + 1))
  })

  test("holds every signed value but 0, and a new value replaces the old one", () => {
    const table = new PrefixTable(words)
    const key: Key = [SIGN, 0, 0, 0, 1]
    expect(table.get(...key)).toBe(ABSENT)
    for (const value of [1, -1, SIGN, ~SIGN, SIGN | 1]) {
      table.set(...key, value)
      expect(table.get(...key)).toBe(value)
    }
    table.delete(...key)
    table.delete(...key)
    expect(table.get(...key)).toBe(ABSENT)
  })

  test(
    "agrees with a Map after each of many random changes",
    seeded((random) => {
      const keys = someKeys(random, words, 3000)
      const table = new PrefixTable(words)
      const twin = new Map<number, number>()
      const compare = (at: number) =>
        expect([at, table.get(...keyAt(keys, at))]).toEqual([at, twin.get(at) ?? ABSENT])
      // The share of deletions swings, so that shards fill up, empty and fill up again.
      for (let step = 0; step < 60_000; step++) {
        const at = random.below(keys.length)
        const deletes = Math.floor(step / 10_000) % 2 === 0 ? 2 : 8
        if (random.below(10) < deletes) {
          table.delete(...keyAt(keys, at))
          twin.delete(at)
        } else {
          const value = random.word() | 0 || 1
          table.set(...keyAt(keys, at), value)
          twin.set(at, value)
        }
        compare(at)
        if (step % 5000 === 4999) for (const i of keys.keys()) compare(i)
      }
      for (const [i, key] of random.shuffled([...keys.entries()])) {
        table.delete(...key)
        twin.delete(i)
        if (i % 100 === 0) for (const other of keys.keys()) compare(other)
      }
    }),
  )

  test("does not grow by changes, only by what it holds", () => {
    const table = new PrefixTable(words)
    const keyOf = (i: number): Key => key(i << 8, 0, 24)
    for (let i = 0; i < 5000; i++) table.set(...keyOf(i), 1)
    const before = table.bytes
    for (let i = 5000; i < 100_000; i++) {
      table.delete(...keyOf(i - 5000))
      table.set(...keyOf(i), 1)
    }
    // Another 5000 keys fall otherwise onto the shards, so that some of them double once.
    expect(table.bytes).toBeLessThanOrEqual(before * 2)
    expect(table.get(...keyOf(99_999))).toBe(1)
    expect(table.get(...keyOf(94_999))).toBe(ABSENT)
  })

  test.each([
    ["neighbouring addresses", (i: number): Key => key(i, i, 32)],
    ["prefixes that differ in their first bits", (i: number): Key => key(i << 12, 0, 20)],
    [
      "addresses that differ in their last word",
      (i: number): Key => (words === 1 ? key(i, 0, 32) : [1, 0, 0, i, 128]),
    ],
  ])("spreads %s over its shards, so that no slots are wasted", (_what, keyOf) => {
    const table = new PrefixTable(words)
    const count = 100_000
    for (let i = 0; i < count; i++) table.set(...keyOf(i), i + 1)
    const slot = (words + 2) * 4
    // Between three eighths and three quarters full, if no shard is much fuller than the others.
    expect(table.bytes).toBeGreaterThanOrEqual((count * slot * 4) / 3)
    expect(table.bytes).toBeLessThanOrEqual((count * slot * 8) / 3)
    for (let i = 0; i < count; i += 997) expect(table.get(...keyOf(i))).toBe(i + 1)
    expect(table.get(...keyOf(count))).toBe(ABSENT)
  })
})

// Keys with few different words, because real lists are full of neighbours.
function someKeys(random: Prng, words: 1 | 4, count: number): Key[] {
  const keys = new Map<string, Key>()
  while (keys.size < count) {
    const word = () => random.pick([0, 1, SIGN, -1, random.below(16), random.word() | 0])
    const rest = words === 1 ? ([0, 0, 0] as const) : ([word(), word(), word()] as const)
    const key: Key = [words === 1 ? random.word() | 0 : word(), ...rest, random.below(words * 32 + 1)]
    keys.set(key.join(), key)
  }
  return [...keys.values()]
}

function keyAt(keys: readonly Key[], at: number): Key {
  return keys[at] as Key
}
