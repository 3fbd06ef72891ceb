// The key of an entry: there and back, and in the order that the lists promise.

import { describe, expect, test } from "bun:test"
import { Address } from "../../src/core/address.ts"
import { Network } from "../../src/core/network.ts"
import { entryKey, keySize, networkAt } from "../../src/store/entry-key.ts"
import { network } from "../support/parsed.ts"
import { type Prng, seeded } from "../support/prng.ts"
import { numberOf } from "../support/slow-address.ts"

function hex(text: string): string {
  return Buffer.from(entryKey(network(text))).toString("hex")
}

function read(key: Uint8Array): Network | null {
  return networkAt(new DataView(key.buffer, key.byteOffset, key.length), 0, key.length === 6 ? 4 : 6)
}

test("is the family, the address bytes and the prefix length", () => {
  expect(hex("10.0.0.0/8")).toBe("040a00000008")
  expect(hex("255.254.253.252")).toBe("04fffefdfc20")
  expect(hex("0.0.0.0/0")).toBe("040000000000")
  expect(hex("2001:db8:f:e:d:c:b:a")).toBe("0620010db8000f000e000d000c000b000a80")
  expect(hex("::/0")).toBe(`06${"00".repeat(17)}`)
  expect(hex("8000::/1")).toBe(`0680${"00".repeat(15)}01`)
  expect([keySize(4), keySize(6)]).toEqual([6, 18])
})

test(
  "reads back to the same network, for every family and length",
  seeded((random) => {
    for (const text of networks(random, 2000)) {
      expect(String(read(entryKey(text)))).toBe(String(text))
    }
  }),
)

test(
  "sorts by family, then address, then length",
  seeded((random) => {
    const some = networks(random, 1000)
    const byKey = some.toSorted((a, b) => Buffer.compare(entryKey(a), entryKey(b))).map(String)
    const byValue = some
      .toSorted(
        (a, b) =>
          a.family - b.family ||
          Number(sign(numberOf(a.address).value - numberOf(b.address).value)) ||
          a.length - b.length,
      )
      .map(String)
    expect(byKey).toEqual(byValue)
  }),
)

describe("bytes that are no key of a network", () => {
  test.each([
    ["another family", "060a00000120"],
    ["no family", "000a00000120"],
    ["host bits", "040a00000108"],
    ["a length out of range", "040a00000121"],
    ["a length out of range", "0400000000ff"],
    ["an IPv4 family in an IPv6 key", "0420010db800000000000000000000000080"],
    ["IPv6 host bits", "0620010db800000000000000000000000120"],
    ["an IPv6 length out of range", "0600000000000000000000000000000000" + "81"],
  ])("%s", (_, key) => {
    expect(read(new Uint8Array(Buffer.from(key, "hex")))).toBeNull()
  })
})

test("a key is read at its offset", () => {
  const bytes = new Uint8Array([255, ...entryKey(network("192.0.2.0/24")), ...entryKey(network("192.0.2.7"))])
  const view = new DataView(bytes.buffer)
  expect([1, 7].map((offset) => String(networkAt(view, offset, 4)))).toEqual(["192.0.2.0/24", "192.0.2.7"])
})

/** Networks of both families, many of them close together. */
function networks(random: Prng, count: number): Network[] {
  return Array.from({ length: count }, () => {
    const words = () => random.pick([random.word(), 0, 0xffffffff, 1, 0x80000000])
    const address =
      random.below(2) === 0
        ? Address.ipv4(words())
        : Address.ipv6Base(0x20010000 + random.below(3), words(), words(), words())
    const length = random.below(address.bits + 1)
    const made = Network.from(address.masked(length), length)
    if (made === null) throw new Error("a masked address has no host bits")
    return made
  })
}

function sign(value: bigint): bigint {
  return value < 0n ? -1n : value > 0n ? 1n : 0n
}
