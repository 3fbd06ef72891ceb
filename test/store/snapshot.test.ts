// Chunks of records: both readers see the same networks, and neither takes other bytes for one.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { Address, type Family } from "../../src/core/address.ts"
import { Network } from "../../src/core/network.ts"
import { entryKey } from "../../src/store/entry-key.ts"
import { readChunk, readPermanentChunk } from "../../src/store/snapshot.ts"

function keyOf(family: Family, words: readonly [number, number, number, number], length: number): Uint8Array {
  const bits = length % (family === 4 ? 33 : 129)
  const address = family === 4 ? Address.ipv4(words[0]) : Address.ipv6Base(...words)
  const network = Network.from(address.masked(bits), bits)
  return network === null ? new Uint8Array(family === 4 ? 6 : 18) : entryKey(network)
}

test("the reader without objects visits what the other one visits, and counts the same bad records", () => {
  const word = fc.oneof(fc.constantFrom(0, 0xffff, 0xffffffff, 0x80000000), fc.nat({ max: 0xffffffff }))
  const record = fc.record({
    words: fc.tuple(word, word, word, word),
    length: fc.nat({ max: 200 }),
    damage: fc.option(fc.record({ at: fc.nat({ max: 17 }), byte: fc.nat({ max: 255 }) }), { freq: 3 }),
  })
  fc.assert(
    fc.property(fc.constantFrom<Family>(4, 6), fc.array(record, { maxLength: 20 }), (family, made) => {
      const size = family === 4 ? 6 : 18
      const records = new Uint8Array(made.length * size + 3)
      made.forEach(({ words, length, damage }, i) => {
        const key = keyOf(family, words, length)
        if (damage !== null) key[damage.at % size] = damage.byte
        records.set(key, i * size)
      })
      const chunk = { list: "perm", family, records } as const
      const expected: string[] = []
      const bad = readChunk(chunk, (network) => expected.push(String(network)))
      const seen: string[] = []
      const counted = readPermanentChunk(chunk, ({ family, word0, word1, word2, word3, length }) => {
        const address = family === 4 ? Address.ipv4(word0) : Address.ipv6Base(word0, word1, word2, word3)
        seen.push(String(Network.from(address, length)))
      })
      expect([seen, counted]).toEqual([expected, bad])
      expect(seen.length + counted).toBe(made.length)
    }),
    { numRuns: 1_000 },
  )
})
