// TopBits: what it says of an address is what the networks that are held say, after any additions and removals.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { TopBits } from "../../src/core/top-bits.ts"

const maskOf = (length: number) => (0xffffffff << (32 - length)) >>> 0

test("tells the short lengths exactly, and longer networks by their first 16 bits, after random steps", () => {
  const word = fc.oneof(fc.nat({ max: 0xffffffff }), fc.constantFrom(0, 0xffff0000, 0xffffffff, 0x80000000))
  const made = fc
    .tuple(word, fc.integer({ min: 1, max: 32 }))
    .map(([word, length]) => ({ word: (word & maskOf(length)) >>> 0, length }))
  fc.assert(
    fc.property(fc.array(made, { minLength: 1, maxLength: 30 }), fc.array(fc.nat()), (networks, order) => {
      const top = new TopBits()
      const held = new Map<string, { word: number; length: number }>()
      const steps = [...networks, ...order.map((i) => networks[i % networks.length] as (typeof networks)[0])]
      for (const network of steps) {
        const name = `${network.word}/${network.length}`
        if (held.delete(name)) top.remove(network.word, network.length)
        else {
          held.set(name, network)
          top.add(network.word, network.length)
        }
        for (const { word } of networks) {
          for (const asked of [word, (word ^ 0x00010000) >>> 0, word | 0xffff]) {
            const around = [...held.values()].filter(
              ({ word, length }) => length <= 16 && ((asked ^ word) & maskOf(length)) === 0,
            )
            expect(top.shortsAt(asked)).toBe(
              around.reduce((bits, { length }) => bits | (1 << (length - 1)), 0),
            )
            const below = [...held.values()].some(
              ({ word, length }) => length > 16 && word >>> 16 === asked >>> 16,
            )
            expect(top.hasLongsAt(asked)).toBe(below)
          }
        }
      }
    }),
    { numRuns: 60 },
  )
})
