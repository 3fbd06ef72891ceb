// NetworkIndex: the same answers as a walk over all rows, whatever was inserted and deleted in whatever order.

import { describe, expect, test } from "bun:test"
import { Address } from "../../src/core/address.ts"
import { Network } from "../../src/core/network.ts"
import { NetworkIndex } from "../../src/core/network-index.ts"
import { fault } from "../faults/fault.ts"
import { address, network } from "../support/parsed.ts"
import { type Prng, seeded } from "../support/prng.ts"
import { bitsOf, ReferenceList } from "../support/reference-list.ts"

const PREFIXES = 10_000
const PROBES = 10_000

describe(
  fault(
    "A-12",
    "thousands of prefixes that come and go in random order, and as many questions",
    "the answers of a plain list",
  ),
  () => {
    test(
      "10,000 prefixes of all lengths in both families, 10,000 probes, inserts and deletes in random order",
      seeded((random) => {
        const made = makeNetworks(random)
        const index = new NetworkIndex()
        const twin = new ReferenceList<number>()
        const set = (what: Network) => {
          const value = random.word() | 1 | 0
          index.set(what, value)
          twin.set(what, value)
        }
        const remove = (what: Network) => {
          index.delete(what)
          twin.delete(what)
        }

        for (const one of random.shuffled(made)) set(one)
        expect(twin.size).toBe(PREFIXES)
        probe(random, index, twin, made, PROBES)

        const [gone, kept] = halves(random.shuffled(made))
        for (const one of gone) remove(one)
        for (const one of random.shuffled(kept).slice(0, 500)) set(one)
        probe(random, index, twin, made, PROBES / 4)
        for (const one of made) expect(index.get(one)).toBe(twin.get(one) ?? 0)

        // Back and forth at the same time.
        for (const one of random.shuffled([...made, ...made])) (random.below(2) === 0 ? set : remove)(one)
        probe(random, index, twin, made, PROBES / 4)

        for (const one of random.shuffled(made)) remove(one)
        expect(twin.size).toBe(0)
        probe(random, index, twin, made, 200)
        for (const one of made) expect(index.get(one)).toBe(0)
      }),
      20_000,
    )

    test("the deletion of each length in use leaves the others", () => {
      for (const [last, bits] of [
        ["255.255.255.255", 32],
        ["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 128],
      ] as const) {
        const lengths = Array.from({ length: bits + 1 }, (_, length) => length)
        const nested = lengths.map((length) => masked(address(last), length))
        for (let gone = 0; gone <= bits; gone++) {
          const index = new NetworkIndex()
          for (const one of nested) index.set(one, one.length + 1)
          index.delete(nested[gone] as Network)
          const left = lengths.filter((length) => length !== gone).reverse()
          expect(index.covering(network(last)).map(({ length }) => length)).toEqual(left)
          expect(valuesFor(index, address(last))).toEqual(left.map((length) => length + 1))
        }
      }
    })
  },
)

test("tens of thousands of neighbours come and go, and each answer stays exact", () => {
  const index = new NetworkIndex()
  const client = (block: number) => Address.ipv6(0x20010db8, 0, 0, block * 2 ** 16 + 7)
  const seen = (block: number) => valuesFor(index, client(block))
  // Below one /96: all 65,536 networks of one block, all 32,768 of two, and one of 256: more than 16 bits can count.
  const ones = Array.from({ length: 2 ** 16 }, (_, i) => masked(client(i), 112))
  const twos = Array.from({ length: 2 ** 15 }, (_, i) => masked(client(i * 2), 111))
  const wide = masked(client(512), 104)
  for (const one of ones) index.set(one, 112)
  for (const two of twos) index.set(two, 111)
  index.set(wide, 104)
  for (let block = 0; block < 2 ** 16; block += 251) {
    expect([block, ...seen(block)]).toEqual([block, 112, 111, ...(block >> 8 === 2 ? [104] : [])])
  }
  for (const one of ones.slice(100)) index.delete(one)
  expect([seen(98), seen(99), seen(100), seen(513)]).toEqual([[112, 111], [112, 111], [111], [111, 104]])
  for (const two of twos) index.delete(two)
  expect([seen(99), seen(100), seen(513), seen(65_535)]).toEqual([[112], [], [104], []])
  for (const one of ones.slice(0, 100)) index.delete(one)
  expect([seen(0), seen(99), seen(513)]).toEqual([[], [], [104]])
  index.delete(wide)
  index.set(masked(client(200), 109), 109)
  expect([seen(513), seen(200), seen(207), seen(208)]).toEqual([[], [109], [109], []])
})

describe(
  fault(
    "A-11",
    "first, last and neighbouring addresses of networks of every length, in the index",
    "the ends are in, the neighbours are out",
  ),
  () => {
    test(
      "first and last address are in, their neighbours are out, for each length of both families",
      seeded((random) => {
        for (const bits of [32, 128]) {
          for (let length = 0; length <= bits; length++) {
            for (const pattern of [
              "0".repeat(bits),
              "1".repeat(bits),
              "10".repeat(bits / 2),
              random.bits(bits),
            ]) {
              const kept = pattern.slice(0, length)
              const first = BigInt(`0b0${kept.padEnd(bits, "0")}`)
              const last = BigInt(`0b0${kept.padEnd(bits, "1")}`)
              const base = addressOf(bits, first)
              if (base === null) continue
              const index = new NetworkIndex()
              index.set(masked(base, length), 1)
              const inside = [first, last].map((value) => addressOf(bits, value))
              const outside = [first - 1n, last + 1n].map((value) => addressOf(bits, value))
              for (const one of inside)
                if (one !== null) expect([`${one} in`, has(index, one)]).toEqual([`${one} in`, true])
              for (const one of outside)
                if (one !== null) expect([`${one} out`, has(index, one)]).toEqual([`${one} out`, false])
            }
          }
        }
      }),
    )

    test.each([
      ["::/0", "1.2.3.4", false],
      ["::/96", "1.2.3.4", false],
      ["::fffe:0:0/95", "1.2.3.4", false],
      ["::fffe:0:0/95", "::ffff:1.2.3.4", false],
      ["::fffe:0:0/95", "::fffe:1:1", true],
      ["::ffff:0:0/96", "1.2.3.4", true],
      ["::ffff:0:0/96", "::1.2.3.4", false],
      ["0.0.0.0/0", "::", false],
      ["0.0.0.0/0", "::1", false],
      ["0.0.0.0/0", "::ffff:1.2.3.4", true],
      ["0.0.0.0", "::", false],
      ["::", "0.0.0.0", false],
      ["2001:db8::2", "2001:db8::3", false],
      ["128.0.0.0/1", "127.255.255.255", false],
      ["128.0.0.0/1", "255.255.255.255", true],
      ["0.0.0.0/1", "128.0.0.0", false],
    ])("%s contains %s: %p", (text, client, expected) => {
      const index = new NetworkIndex()
      index.set(network(text), 1)
      expect(has(index, address(client))).toBe(expected)
    })
  },
)

describe("values", () => {
  test("some() asks about the networks that contain the address, once each, until one is accepted", () => {
    const index = new NetworkIndex()
    for (const [text, value] of [
      ["10.0.0.0/8", 8],
      ["0.0.0.0/0", -1],
      ["10.1.2.3", 32],
      ["10.1.0.0/16", 16],
      ["10.1.2.0/29", 29],
      ["10.2.0.0/16", 99],
      ["::/0", 98],
    ] as const) {
      index.set(network(text), value)
    }
    const asked: number[] = []
    const accepts = (wanted: number) => (value: number) => {
      asked.push(value)
      return value === wanted
    }
    expect(index.some(address("10.1.2.3"), accepts(0))).toBe(false)
    expect(asked.splice(0).sort((a, b) => a - b)).toEqual([-1, 8, 16, 29, 32])
    for (const value of [-1, 8, 16, 29, 32]) {
      expect(index.some(address("10.1.2.3"), accepts(value))).toBe(true)
      expect(asked.splice(0).at(-1)).toBe(value)
    }
    expect(index.some(address("192.0.2.1"), accepts(-1))).toBe(true)
    expect(asked.splice(0)).toEqual([-1])
  })

  test("an empty index contains nothing, and forgets nothing that it never had", () => {
    const index = new NetworkIndex()
    index.delete(network("10.0.0.0/8"))
    index.delete(network("::/0"))
    expect(has(index, address("10.0.0.1"))).toBe(false)
    expect(index.covering(network("::1"))).toEqual([])
    expect(index.get(network("10.0.0.0/8"))).toBe(0)
    index.set(network("10.0.0.0/8"), 1)
    index.set(network("10.0.0.0/8"), 2)
    expect(has(index, address("10.0.0.1"))).toBe(true)
    index.delete(network("10.0.0.0/8"))
    index.delete(network("10.0.0.0/8"))
    expect(has(index, address("10.0.0.1"))).toBe(false)
    index.set(network("10.0.0.0/8"), 3)
    expect(index.covering(network("10.0.0.1"))).toEqual([{ length: 8, value: 3 }])
  })

  test("its memory is counted for both families", () => {
    const index = new NetworkIndex()
    const empty = index.bytes
    for (let i = 0; i < 4000; i++) index.set(Network.of(Address.ipv4(i)), 1)
    const withIpv4 = index.bytes
    for (let i = 0; i < 4000; i++) index.set(Network.of(Address.ipv6(1, 0, 0, i)), 1)
    expect(withIpv4).toBeGreaterThan(empty)
    // An IPv6 slot is twice as large, and both tables grew from the same number of slots.
    expect(index.bytes - withIpv4).toBeGreaterThan(withIpv4 - empty)
  })
})

// Half of each family, every length, with many prefixes below a few stems so that they overlap.
function makeNetworks(random: Prng): Network[] {
  const made = new ReferenceList<null>()
  for (const bits of [32, 128]) {
    const stems = Array.from({ length: 20 }, () => random.bits(bits))
    const goal = made.size + PREFIXES / 2
    for (let i = 0; made.size < goal; i++) {
      const length = i <= bits ? i : random.below(bits + 1)
      const start = random.pick(stems).slice(0, random.below(length + 1))
      const base = addressOf(
        bits,
        BigInt(`0b0${(start + random.bits(length - start.length)).padEnd(bits, "0")}`),
      )
      if (base !== null) made.set(masked(base, length), null)
    }
  }
  return made.all().map((row) => row.network)
}

function probe(
  random: Prng,
  index: NetworkIndex,
  twin: ReferenceList<number>,
  near: readonly Network[],
  count: number,
): void {
  let found = 0
  for (let i = 0; i < count; i++) {
    const asked = i % 10 === 9 ? random.pick(near) : Network.of(client(random, random.pick(near)))
    const expected = twin.covering(asked).map(({ network, value }) => ({ length: network.length, value }))
    if (expected.length > 0) found++
    expect([String(asked), index.covering(asked)]).toEqual([String(asked), expected])
    if (!asked.isAddress) continue
    const values = expected.map(({ value }) => value).sort((a, b) => b - a)
    expect([String(asked), valuesFor(index, asked.address)]).toEqual([String(asked), values])
    const negative = expected.some(({ value }) => value < 0)
    expect(index.some(asked.address, (value) => value < 0)).toBe(negative)
  }
  if (twin.size > 0) expect(found).toBeGreaterThan(count / 10)
}

// Anywhere, or in or at the edge of a network that is there or was.
function client(random: Prng, { address, length }: Network): Address {
  const { bits } = address
  const kept = bitsOf(address).slice(0, length)
  const first = BigInt(`0b0${kept.padEnd(bits, "0")}`)
  const last = BigInt(`0b0${kept.padEnd(bits, "1")}`)
  const inside = BigInt(`0b0${kept}${random.bits(bits - length)}`)
  const anywhere = BigInt(`0b${random.bits(bits)}`)
  const value = random.pick([first, last, first - 1n, last + 1n, inside, inside, inside, anywhere])
  return addressOf(bits, value) ?? address
}

// `null` beyond the ends of the family, and for the mapped block, which no IPv6 address lies in.
function addressOf(bits: number, value: bigint): Address | null {
  if (value < 0n || value >= 2n ** BigInt(bits)) return null
  const word = (shift: bigint) => Number((value >> shift) & 0xffffffffn)
  if (bits === 32) return Address.ipv4(word(0n))
  const made = Address.ipv6(word(96n), word(64n), word(32n), word(0n))
  return made.family === 6 ? made : null
}

function masked(base: Address, length: number): Network {
  const made = Network.from(base.masked(length), length)
  if (made === null) throw new Error(`${base} has no network of length ${length}`)
  return made
}

/** What `some` asks about if it is never satisfied, the largest first. */
function valuesFor(index: NetworkIndex, client: Address): number[] {
  const values: number[] = []
  const found = index.some(client, (value) => {
    values.push(value)
    return false
  })
  expect(found).toBe(false)
  return values.sort((a, b) => b - a)
}

function has(index: NetworkIndex, client: Address): boolean {
  return index.some(client, () => true)
}

function halves<Item>(items: readonly Item[]): [Item[], Item[]] {
  const middle = Math.floor(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)]
}
