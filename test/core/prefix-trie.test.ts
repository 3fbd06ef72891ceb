// PrefixTrie: the prefixes of an address and their values, whatever is put in and taken out in whatever order.

import { describe, expect, test } from "bun:test"
import { ABSENT } from "../../src/core/prefix-table.ts"
import { PrefixTrie } from "../../src/core/prefix-trie.ts"
import type { Words } from "../../src/core/trie-nodes.ts"
import { type Prng, seeded } from "../support/prng.ts"

describe.each([1, 4] as const)("a trie of %d-word prefixes", (words) => {
  const longest = words * 32

  const key = (bits: string): Words => {
    const word = (i: number) => Number.parseInt(bits.padEnd(128, "0").slice(i * 32, i * 32 + 32), 2)
    return { word0: word(0), word1: word(1), word2: word(2), word3: word(3) }
  }
  const values = (trie: PrefixTrie, address: string) => {
    const found: number[] = []
    expect(trie.some(key(address), (value) => found.push(value) < 0)).toBe(false)
    return found
  }
  /** What a map from bits says: the values of all beginnings, the shortest first. */
  const valuesIn = (twin: ReadonlyMap<string, number>, address: string) =>
    Array.from({ length: longest + 1 }, (_, length) => twin.get(address.slice(0, length)) ?? ABSENT).filter(
      (value) => value !== ABSENT,
    )

  /** Bits in which digits repeat, so that prefixes are alike for long, and part everywhere. */
  function alike(random: Prng): string {
    let bits = ""
    while (bits.length < longest)
      bits += random.pick(["0000", "0000", "0001", "1000", "1111", random.bits(4)])
    return bits
  }

  test(
    "agrees with a map after each of many random changes",
    seeded((random) => {
      const trie = new PrefixTrie(words)
      const twin = new Map<string, number>()
      const pool = Array.from({ length: 1_500 }, () => alike(random).slice(0, random.below(longest + 1)))
      // The share of deletions swings, so that the trie fills up, empties and fills up again.
      for (let step = 0; step < 40_000; step++) {
        const bits = random.pick(pool)
        if (random.below(10) < (Math.floor(step / 8_000) % 2 === 0 ? 2 : 8)) {
          trie.delete(key(bits), bits.length)
          twin.delete(bits)
        } else {
          const value = random.word() | 0 || 1
          trie.set(key(bits), bits.length, value)
          twin.set(bits, value)
        }
        const other = random.pick(pool)
        expect([other, trie.get(key(other), other.length)]).toEqual([other, twin.get(other) ?? ABSENT])
        const address = (random.below(2) === 0 ? bits : other) + random.bits(longest).slice(0, longest)
        const asked = address.slice(0, longest)
        expect([asked, ...values(trie, asked)]).toEqual([asked, ...valuesIn(twin, asked)])
      }
      for (const bits of random.shuffled(pool)) {
        trie.delete(key(bits), bits.length)
        twin.delete(bits)
        for (const other of [bits, random.pick(pool)]) {
          expect(trie.get(key(other), other.length)).toBe(twin.get(other) ?? ABSENT)
        }
      }
      for (const bits of pool) expect(values(trie, bits.padEnd(longest, "1"))).toEqual([])
    }),
    30_000,
  )

  test("any two prefixes, in both orders: each answers for itself, and one alone is left when the other goes", () => {
    const lengths = Array.from({ length: Math.min(longest, 40) + 1 }, (_, length) => length)
    for (const first of lengths) {
      for (const second of lengths) {
        for (const differAt of [0, 3, 4, 17, 38]) {
          const one = "01".repeat(longest / 2)
          const flipped = one[differAt] === "0" ? "1" : "0"
          const two = one.slice(0, differAt) + flipped + one.slice(differAt + 1)
          const twin = new Map<string, number>()
          const trie = new PrefixTrie(words)
          for (const [bits, value] of [
            [one.slice(0, first), 1],
            [two.slice(0, second), 2],
          ] as const) {
            trie.set(key(bits), bits.length, value)
            twin.set(bits, value)
          }
          for (const asked of [one, two]) expect(values(trie, asked)).toEqual(valuesIn(twin, asked))
          trie.delete(key(one.slice(0, first)), first)
          twin.delete(one.slice(0, first))
          for (const asked of [one, two]) expect(values(trie, asked)).toEqual(valuesIn(twin, asked))
        }
      }
    }
  })

  test("all sixteen ways at each digit, and all fifteen prefixes that end in one", () => {
    for (let digit = 0; digit < longest / 4; digit++) {
      const trie = new PrefixTrie(words)
      const twin = new Map<string, number>()
      const start = "0110".repeat(digit)
      for (let more = 0; more <= 4; more++) {
        for (let i = 0; i < 1 << more; i++) {
          const bits = start + (more === 0 ? "" : i.toString(2).padStart(more, "0"))
          trie.set(key(bits), bits.length, twin.size + 1)
          twin.set(bits, twin.size + 1)
        }
      }
      for (let i = 0; i < 16; i++) {
        const asked = (start + i.toString(2).padStart(4, "0")).padEnd(longest, "1")
        expect([asked, ...values(trie, asked)]).toEqual([asked, ...valuesIn(twin, asked)])
        expect(values(trie, asked).length).toBe(5)
      }
    }
  })

  test("asks no further than the value that is accepted", () => {
    const trie = new PrefixTrie(words)
    for (const length of [0, 1, 2, 7, 8, 9, longest]) trie.set(key("1".repeat(length)), length, length + 1)
    const asked: number[] = []
    expect(trie.some(key("1".repeat(longest)), (value) => asked.push(value) > 0 && value === 8)).toBe(true)
    expect(asked).toEqual([1, 2, 3, 8])
  })

  test("an address that differs in a single bit is in none of the prefixes that have this bit", () => {
    const address = "1001".repeat(longest / 4)
    for (const lengths of [
      [12, 13],
      [12, 13, 14, 15],
      [13, 20, 22],
      [longest - 4, longest - 1],
      [longest - 1, longest],
    ]) {
      const trie = new PrefixTrie(words)
      for (const length of lengths) trie.set(key(address.slice(0, length)), length, length)
      for (let bit = 0; bit < longest; bit++) {
        const other = address.slice(0, bit) + (address[bit] === "0" ? "1" : "0") + address.slice(bit + 1)
        expect([bit, ...values(trie, other)]).toEqual([bit, ...lengths.filter((length) => length <= bit)])
      }
    }
  })

  test(
    "what comes and goes leaves nothing behind",
    seeded((random) => {
      const trie = new PrefixTrie(words)
      const made = new Set<string>()
      while (made.size < 3_000) made.add(alike(random).slice(0, random.below(longest + 1)))
      const all = [...made]
      for (const bits of all) trie.set(key(bits), bits.length, 1)
      const { bytes } = trie
      for (let round = 0; round < 40; round++) {
        for (const bits of random.shuffled(all)) trie.delete(key(bits), bits.length)
        for (const bits of all) expect(trie.get(key(bits), bits.length)).toBe(ABSENT)
        for (const bits of random.shuffled(all)) trie.set(key(bits), bits.length, 1)
        expect(trie.bytes).toBe(bytes)
      }
    }),
    30_000,
  )
})
