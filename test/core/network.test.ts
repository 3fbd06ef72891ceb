// Network: the corpus, host bits, identity of spellings, and containment against arithmetic on big integers.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Address } from "../../src/core/address.ts"
import { Network } from "../../src/core/network.ts"
import { fault } from "../faults/fault.ts"
import { ipv4Spelling, ipv6Spelling, mutatedText, randomText } from "../support/address-text.ts"
import { ADDRESS_ROWS, ADDRESS_ROWS_GOOD_AS_NETWORKS, NETWORK_ROWS } from "../support/corpus.ts"
import { address, network } from "../support/parsed.ts"
import { type Prng, seeded } from "../support/prng.ts"
import { bitsOf } from "../support/reference-list.ts"
import { numberOf, type SlowNetwork, slowParseNetwork, slowText } from "../support/slow-address.ts"

const anySpelling = fc.oneof(ipv4Spelling, ipv6Spelling)

describe(
  fault(
    "A-01 A-10",
    "every network and address text of the corpus as an entry of a list",
    "the verdict and the canonical text of the corpus",
  ),
  () => {
    test.each(NETWORK_ROWS.map((row) => [row.input, row] as const))("network %j", (_name, row) => {
      expectVerdict(row.input, row.canonical)
      expect(row.valid).toBe(row.canonical !== null)
    })

    test.each(ADDRESS_ROWS.map((row) => [row.input.slice(0, 60), row] as const))(
      "address %j",
      (_name, row) => {
        expectVerdict(row.input, ADDRESS_ROWS_GOOD_AS_NETWORKS.get(row.input) ?? row.canonical)
      },
    )

    test("names two address rows that are networks", () => {
      const inputs = ADDRESS_ROWS.map((row) => row.input)
      expect([...ADDRESS_ROWS_GOOD_AS_NETWORKS.keys()].every((input) => inputs.includes(input))).toBe(true)
    })

    function expectVerdict(input: string, canonical: string | null): void {
      const parsed = Network.parse(input)
      expect(parsed?.toString() ?? null).toBe(canonical)
      expect(slowOf(parsed)).toEqual(slowParseNetwork(input))
      if (canonical === null) return
      expect(Network.parse(canonical)?.toString()).toBe(canonical)
      expect(parsed?.equals(network(canonical))).toBe(true)
    }
  },
)

describe("parse", () => {
  const anyLength = fc.oneof(
    fc.nat({ max: 140 }).map(String),
    fc.constantFrom("00", "08", "+8", "", "8 ", "1e1"),
  )
  const spelledNetwork = fc.tuple(anySpelling, anyLength).map(([{ text }, length]) => `${text}/${length}`)
  const maskedNetwork = fc
    .tuple(anySpelling, fc.nat({ max: 128 }))
    .map(([{ text, family, value }, length]) => {
      const bits = family === 4 ? 32 : 128
      const used = Math.min(length, bits)
      const base = slowText({ family, value: value - (value % 2n ** BigInt(bits - used)) })
      return family === 4 && text.includes(":") ? `::ffff:${base}/${used + 96}` : `${base}/${used}`
    })

  test.each([
    ["networks without host bits", maskedNetwork, 5000],
    ["networks that may have host bits", spelledNetwork, 5000],
    ["addresses", anySpelling.map(({ text }) => text), 2000],
    [
      "nearly legal text",
      fc.tuple(mutatedText, anyLength).map(([text, length]) => `${text}/${length}`),
      5000,
    ],
    ["random text", randomText, 3000],
  ])("agrees with the second parser on %s", (_what, texts, numRuns) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(slowOf(Network.parse(text))).toEqual(slowParseNetwork(text))
      }),
      { numRuns },
    )
  })

  test(fault("A-15", "random networks, written and read again", "the same network and the same text"), () => {
    fc.assert(
      fc.property(maskedNetwork, (text) => {
        const parsed = network(text)
        const canonical = parsed.toString()
        expect(network(canonical).equals(parsed)).toBe(true)
        expect(network(canonical).toString()).toBe(canonical)
        expect(canonical.includes("/")).toBe(!parsed.isAddress)
      }),
      { numRuns: 3000 },
    )
  })

  test(fault("A-09", "one host bit at every place of every length", "refused"), () => {
    for (const [zero, bits] of [
      ["0.0.0.0", 32],
      ["::", 128],
    ] as const) {
      for (let length = 0; length <= bits; length++) {
        expect(Network.parse(`${zero}/${length}`)?.length).toBe(length)
        for (let bit = length; bit < bits; bit++) {
          const value = 2n ** BigInt(bits - 1 - bit)
          const text = slowText({ family: bits === 32 ? 4 : 6, value })
          expect(Network.parse(`${text}/${length}`)).toBeNull()
        }
      }
    }
  })

  test.each(["1.2.3.4/", ":", "/", "1/", "::/"])(
    `${fault("A-19", "a megabyte of digits, colons and slashes as a network", "refused, in time")} (refuses a megabyte of %j)`,
    (unit) => {
      expect(Network.parse(unit.repeat(2 ** 20 / unit.length))).toBeNull()
      expect(Network.parse(`10.0.0.0/${"0".repeat(2 ** 20)}8`)).toBeNull()
      expect(Network.parse(`10.0.0.0/8${" ".repeat(2 ** 20)}`)).toBeNull()
    },
  )

  test("reads the longest network text that there is", () => {
    const longest = "FFFF:ffff:ffff:ffff:ffff:ffff:255.255.255.255/128"
    expect(String(network(longest))).toBe("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
    expect(Network.parse(`${longest} `)).toBeNull()
  })
})

describe(fault("A-14", "one network in many spellings", "equal, and different from every other"), () => {
  const SAME: ReadonlyArray<readonly [canonical: string, spellings: readonly string[]]> = [
    [
      "1.2.3.4",
      ["1.2.3.4/32", "::ffff:1.2.3.4", "::FFFF:102:304", "::ffff:1.2.3.4/128", "0::ffff:102:304/128"],
    ],
    ["2001:db8::1", ["2001:DB8::1", "2001:db8::1/128", "2001:0db8:0:0:0:0:0:1", "2001:db8::0.0.0.1/128"]],
    ["10.0.0.0/8", ["::ffff:10.0.0.0/104", "::ffff:a00:0/104", "0:0:0:0:0:FFFF:A00:0/104"]],
    ["0.0.0.0/0", ["::ffff:0:0/96", "::ffff:0.0.0.0/96"]],
    ["2001:db8::/32", ["2001:DB8:0:0::/32", "2001:db8::0.0.0.0/32"]],
    ["::/0", ["0::/0", "::0.0.0.0/0", "0:0:0:0:0:0:0:0/0"]],
  ]

  test.each(SAME)("%s is one network in all its spellings", (canonical, spellings) => {
    for (const text of spellings) {
      expect(network(text).equals(network(canonical))).toBe(true)
      expect(String(network(text))).toBe(canonical)
    }
  })

  test("differs by family, address and length", () => {
    const different = [
      "0.0.0.0/0",
      "::/0",
      "0.0.0.0",
      "::",
      "::/32",
      "0.0.0.0/31",
      "128.0.0.0/1",
      "8000::/1",
      "::/96",
    ]
    for (const [i, text] of different.entries()) {
      for (const [j, other] of different.entries()) {
        expect(network(text).equals(network(other))).toBe(i === j)
      }
    }
  })
})

describe("from and of", () => {
  test("refuse what is no network", () => {
    for (const length of [-1, 33, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 32 + 8]) {
      expect(Network.from(address("0.0.0.0"), length)).toBeNull()
    }
    expect(Network.from(address("::"), 129)).toBeNull()
    expect(Network.from(address("10.0.0.5"), 8)).toBeNull()
    expect(String(Network.from(address("10.0.0.0"), 8))).toBe("10.0.0.0/8")
  })

  test("an address is the network of full length", () => {
    for (const text of ["203.0.113.7", "2001:db8::2", "::ffff:203.0.113.7"]) {
      const single = Network.of(address(text))
      expect(single.isAddress).toBe(true)
      expect(single.length).toBe(single.family === 4 ? 32 : 128)
      expect(single.equals(network(text))).toBe(true)
    }
    expect(network("2001:db8::/127").isAddress).toBe(false)
    expect(network("0.0.0.0/0").isAddress).toBe(false)
  })
})

describe(
  fault(
    "A-11 A-18",
    "both ends of networks of every length, and their neighbours",
    "the verdict of arithmetic on big integers",
  ),
  () => {
    test("is decided by arithmetic at both ends of each network", () => {
      for (const bits of [32, 128] as const) {
        const all = 2n ** BigInt(bits)
        const values = [0n, all - 1n, all / 2n, all / 2n - 1n, all / 3n, (all / 3n) * 2n, 1n, all - 2n]
        for (let length = 0; length <= bits; length++) {
          for (const value of values) expectEnds(bits, value, length)
        }
      }
    })

    test(
      "is decided by arithmetic at both ends of random networks",
      seeded((random) => {
        for (let run = 0; run < 10_000; run++) {
          const bits = run % 2 === 0 ? 32 : 128
          expectEnds(bits, BigInt(`0b${random.bits(bits)}`), random.below(bits + 1))
        }
      }),
    )

    test(
      "of two networks is that the bits of one begin with the bits of the other",
      seeded((random) => {
        for (let run = 0; run < 5000; run++) {
          const outer = randomNetwork(random)
          const inner = randomNetwork(random)
          const expected =
            outer.family === inner.family &&
            outer.length <= inner.length &&
            bitsOf(inner.address).startsWith(bitsOf(outer.address).slice(0, outer.length))
          expect([`${outer} contains ${inner}`, outer.contains(inner)]).toEqual([
            `${outer} contains ${inner}`,
            expected,
          ])
        }
      }),
    )

    test.each([
      ["::/0", "1.2.3.4"],
      ["::/0", "0.0.0.0/0"],
      ["::/96", "1.2.3.4"],
      ["::fffe:0:0/95", "1.2.3.4"],
      ["0.0.0.0/0", "::"],
      ["0.0.0.0/0", "::1.2.3.4"],
      ["2001:db8::2", "2001:db8::3"],
      ["10.0.0.0/9", "10.0.0.0/8"],
    ])("%s does not contain %s", (outer, inner) => {
      expect(network(outer).contains(network(inner))).toBe(false)
    })

    // First and last address are in, their neighbours are out.
    function expectEnds(bits: 32 | 128, value: bigint, length: number): void {
      const size = 2n ** BigInt(bits - length)
      const first = value - (value % size)
      const tested = Network.from(addressOf(bits, first), length)
      const verdict = (number: bigint) => {
        if (number < 0n || number >= 2n ** BigInt(bits)) return "none"
        return tested?.contains(Network.of(addressOf(bits, number)))
      }
      const last = first + size - 1n
      const seen = [first - 1n, first, last, last + 1n].map(verdict)
      expect([`${tested}`, ...seen]).toEqual([
        `${tested}`,
        first === 0n ? "none" : false,
        true,
        true,
        last === 2n ** BigInt(bits) - 1n ? "none" : false,
      ])
    }
  },
)

// The mapped block stays IPv6 here, because a wide network may end inside it.
function addressOf(bits: 32 | 128, value: bigint): Address {
  const word = (shift: bigint) => Number((value >> shift) & 0xffffffffn)
  return bits === 32 ? Address.ipv4(word(0n)) : Address.ipv6Base(word(96n), word(64n), word(32n), word(0n))
}

// Few different first bits, so that containment is not rare.
function randomNetwork(random: Prng): Network {
  const bits = random.pick([32, 128] as const)
  const length = random.below(bits + 1)
  const kept = random
    .bits(3)
    .padEnd(length, random.pick(["0", "1"]))
    .slice(0, length)
  const made = Network.from(addressOf(bits, BigInt(`0b${kept.padEnd(bits, "0")}`)), length)
  if (made === null) throw new Error("a prefix followed by zeros has no host bits")
  return made
}

function slowOf(parsed: Network | null): SlowNetwork | null {
  return parsed === null ? null : { ...numberOf(parsed.address), length: parsed.length }
}
