// Chunks of records: both readers see the same networks, and neither takes other bytes for one.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { Address, type Family } from "../../src/core/address.ts"
import type { ListName } from "../../src/core/entry.ts"
import { Network } from "../../src/core/network.ts"
import { entryKey, networkAt } from "../../src/store/entry-key.ts"
import { readChunk, readPrefixes } from "../../src/store/snapshot.ts"

function keyOf(family: Family, words: readonly [number, number, number, number], length: number): Uint8Array {
  const bits = length % (family === 4 ? 33 : 129)
  const address = family === 4 ? Address.ipv4(words[0]) : Address.ipv6Base(...words)
  const network = Network.from(address.masked(bits), bits)
  return network === null ? new Uint8Array(family === 4 ? 6 : 18) : entryKey(network)
}

const LARGEST_END = 2 ** 53

test("with and without objects the same entries are visited, with their ends, and the same bad records counted", () => {
  const word = fc.oneof(fc.constantFrom(0, 0xffff, 0xffffffff, 0x80000000), fc.nat({ max: 0xffffffff }))
  const record = fc.record({
    words: fc.tuple(word, word, word, word),
    length: fc.nat({ max: 200 }),
    end: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(-LARGEST_END, LARGEST_END)),
    damage: fc.option(fc.record({ at: fc.nat({ max: 17 }), byte: fc.nat({ max: 255 }) }), { freq: 3 }),
  })
  fc.assert(
    fc.property(
      fc.constantFrom<ListName>("perm", "temp"),
      fc.constantFrom<Family>(4, 6),
      fc.array(record, { maxLength: 20 }),
      (list, family, made) => {
        const keySize = family === 4 ? 6 : 18
        const size = keySize + (list === "temp" ? 8 : 0)
        const records = new Uint8Array(made.length * size + 3)
        const view = new DataView(records.buffer)
        const expected: string[] = []
        made.forEach(({ words, length, end, damage }, i) => {
          const key = keyOf(family, words, length)
          if (damage !== null) key[damage.at % keySize] = damage.byte
          records.set(key, i * size)
          if (list === "temp") view.setFloat64(i * size + keySize, end)
          const network = networkAt(view, i * size, family)
          if (network !== null) expected.push(`${network} ${list === "temp" ? end : 0}`)
        })
        const chunk = { list, family, records }
        const visited: string[] = []
        const bad = readChunk(chunk, (network, end) => visited.push(`${network} ${end}`))
        expect([visited, bad]).toEqual([expected, made.length - expected.length])
        const seen: string[] = []
        const counted = readPrefixes(chunk, ({ family, word0, word1, word2, word3, length }, end) => {
          const address = family === 4 ? Address.ipv4(word0) : Address.ipv6Base(word0, word1, word2, word3)
          seen.push(`${Network.from(address, length)} ${end}`)
        })
        expect([seen, counted]).toEqual([expected, bad])
      },
    ),
    { numRuns: 1_000 },
  )
})
