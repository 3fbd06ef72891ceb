// Address: the corpus, a second parser, and what must never be taken for an address.

import { describe, expect, test } from "bun:test"
import { isIP } from "node:net"
import fc from "fast-check"
import ipaddr from "ipaddr.js"
import { Address } from "../../src/core/address.ts"
import { fault } from "../faults/fault.ts"
import { ipv4Spelling, ipv6Spelling, mutatedText, randomText } from "../support/address-text.ts"
import { ADDRESS_ROWS, CORPUS } from "../support/corpus.ts"
import { address } from "../support/parsed.ts"
import { numberOf, slowParse, slowText } from "../support/slow-address.ts"

const anySpelling = fc.oneof(ipv4Spelling, ipv6Spelling)

describe(
  fault(
    "A-01 A-06 A-07",
    "every address text of the corpus, to the parser and to a second, slow one",
    "the verdict and the canonical text of the corpus",
  ),
  () => {
    test("has all its rows", () => {
      const count = (kind: string, valid: boolean) =>
        CORPUS.filter((row) => row.kind === kind && row.valid === valid).length
      expect([count("address", true), count("address", false)]).toEqual([50, 94])
      expect([count("network", true), count("network", false)]).toEqual([19, 44])
      expect(new Set(CORPUS.map((row) => `${row.kind} ${row.input}`)).size).toBe(CORPUS.length)
    })

    test.each(ADDRESS_ROWS.map((row) => [row.input.slice(0, 60), row] as const))("%j", (_name, row) => {
      const parsed = Address.parse(row.input)
      expect(parsed?.toString() ?? null).toBe(row.canonical)
      expect(parsed !== null).toBe(row.valid)
      if (row.canonical === null) return
      expect(Address.parse(row.canonical)?.toString()).toBe(row.canonical)
      expect(parsed?.equals(address(row.canonical))).toBe(true)
    })

    test("has the same verdicts from the second parser", () => {
      for (const { input, canonical } of ADDRESS_ROWS) {
        const slow = slowParse(input)
        expect([input, slow === null ? null : slowText(slow)]).toEqual([input, canonical])
      }
    })
  },
)

describe("parse", () => {
  test("reads every legal spelling", () => {
    fc.assert(
      fc.property(anySpelling, ({ text, family, value }) => {
        const parsed = Address.parse(text)
        return parsed !== null && parsed.family === family && numberOf(parsed).value === value
      }),
      { numRuns: 5000 },
    )
  })

  test.each([
    ["nearly legal text", mutatedText, 10_000],
    ["random text", randomText, 5000],
  ])("agrees with the second parser on %s", (_what, texts, numRuns) => {
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = Address.parse(text)
        expect(parsed === null ? null : numberOf(parsed)).toEqual(slowParse(text))
      }),
      { numRuns },
    )
  })

  test("agrees with the runtime on what is an address, but for zone ids", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anySpelling.map(({ text }) => text),
          mutatedText,
          randomText,
        ),
        (text) => {
          expect(Address.parse(text) !== null).toBe(isIP(text) !== 0 && !text.includes("%"))
        },
      ),
      { numRuns: 5000 },
    )
  })

  test(
    fault("A-02", "a zero before any octet of random addresses, alone and in a dotted tail", "no address"),
    () => {
      const prefixes = ["", "::", "::ffff:", "64:ff9b::", "1:2:3:4:5:6:"]
      fc.assert(
        fc.property(
          ipv4Spelling,
          fc.nat({ max: 3 }),
          fc.constantFrom("0", "00", "0x", "0X", "+", "-", " "),
          fc.constantFrom(...prefixes),
          ({ text }, octet, padding, prefix) => {
            const octets = text.split(".")
            octets[octet] = padding + octets[octet]
            return Address.parse(prefix + text) !== null && Address.parse(prefix + octets.join(".")) === null
          },
        ),
        { numRuns: 2000 },
      )
    },
  )

  test(
    fault(
      "A-07 A-08",
      "every character before, after and inside an address",
      "none but those of the grammar is taken",
    ),
    () => {
      const taken: string[] = []
      for (let code = 0; code <= 0xffff; code++) {
        const c = String.fromCharCode(code)
        for (const text of [`1.2.3.4${c}`, `${c}1.2.3.4`, `1.2${c}3.4`, `::1${c}`, `${c}::1`, `1${c}${c}1`]) {
          if (Address.parse(text) !== null) taken.push(text)
        }
      }
      const digits = [..."0123456789"]
      const hexDigits = [..."0123456789ABCDEFabcdef"]
      expect(taken.sort()).toEqual(
        [
          ...digits.map((c) => `1.2.3.4${c}`),
          ...digits.filter((c) => c !== "0").map((c) => `${c}1.2.3.4`),
          ...hexDigits.map((c) => `::1${c}`),
          ...hexDigits.map((c) => `${c}::1`),
          "1.2.3.4",
          "1::1",
        ].sort(),
      )
    },
  )

  test("accepts the longest texts that there are, and nothing longer", () => {
    const longest = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"
    expect(longest.length).toBe(45)
    expect(String(Address.parse(longest))).toBe("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
    expect(String(Address.parse("255.255.255.255"))).toBe("255.255.255.255")
    expect(Address.parse(`0${longest}`)).toBeNull()
    expect(Address.parse("255.255.255.2550")).toBeNull()
  })

  test.each(["1", "1.", ":", "a:", "::", "0", "ffff:", "%", "1.2.3.4,", "\u0660"])(
    `${fault("A-05 A-19", "a megabyte of digits, dots, colons and zone marks", "no address, in time")} (refuses a megabyte of %j)`,
    (unit) => {
      expect(Address.parse(unit.repeat(2 ** 20 / unit.length))).toBeNull()
    },
  )
})

describe("canonical text", () => {
  test("is the text of ipaddr.js for the same text", () => {
    fc.assert(
      fc.property(anySpelling, ({ text, family }) => {
        // ipaddr.js takes the dotted form of IPv4-compatible addresses for mapped; the corpus has that row.
        fc.pre(!/^[0:]*:\d+\.\d+\.\d+\.\d+$/.test(text))
        const theirs = ipaddr.process(text)
        expect(theirs.kind()).toBe(family === 4 ? "ipv4" : "ipv6")
        const canonical = theirs instanceof ipaddr.IPv6 ? theirs.toRFC5952String() : theirs.toString()
        expect(String(address(text))).toBe(canonical)
      }),
      { numRuns: 5000 },
    )
  })

  test(
    fault(
      "A-15",
      "random addresses in every legal spelling, written and read again",
      "one text, as a second formatter writes it",
    ),
    () => {
      fc.assert(
        fc.property(anySpelling, ({ text, family, value }) => {
          const parsed = address(text)
          const canonical = parsed.toString()
          expect(canonical).toBe(slowText({ family, value }))
          expect(address(canonical).equals(parsed)).toBe(true)
          expect(address(canonical).toString()).toBe(canonical)
        }),
        { numRuns: 5000 },
      )
    },
  )
})

describe("embedded IPv4", () => {
  test("every spelling of a mapped address is the IPv4 address", () => {
    fc.assert(
      fc.property(ipv4Spelling, ({ text }) => {
        const plain = address(text)
        for (const spelling of mappedSpellings(plain)) {
          const parsed = address(spelling)
          expect(parsed.family).toBe(4)
          expect(parsed.equals(plain)).toBe(true)
        }
      }),
      { numRuns: 1000 },
    )
  })

  test.each([
    ["IPv4-compatible", "::192.0.2.1"],
    ["SIIT", "::ffff:0:192.0.2.1"],
    ["NAT64", "64:ff9b::192.0.2.1"],
    ["local NAT64", "64:ff9b:1::192.0.2.1"],
    ["6to4", "2002:c000:201::"],
    ["Teredo", "2001:0:c000:201::"],
    ["ISATAP", "fe80::5efe:192.0.2.1"],
    ["one below the mapped block", "::fffe:192.0.2.1"],
    ["a bit in front of the mapped block", "::1:ffff:192.0.2.1"],
    ["a bit far in front of the mapped block", "8000::ffff:192.0.2.1"],
  ])(
    `${fault("A-04", "IPv4 in the ten forms of IPv6 that carry it and are not mapped", "stays another address")} (%s stays IPv6)`,
    (_form, text) => {
      const parsed = address(text)
      expect(parsed.family).toBe(6)
      expect(parsed.bits).toBe(128)
      expect(parsed.equals(address("192.0.2.1"))).toBe(false)
    },
  )

  test("an IPv4 address equals no IPv6 address with the same first word", () => {
    expect(Address.ipv4(1).equals(Address.ipv6(1, 0, 0, 0))).toBe(false)
    expect(Address.ipv6(1, 0, 0, 0).equals(Address.ipv4(1))).toBe(false)
  })
})

describe("words", () => {
  test("are unsigned, whatever the arithmetic that made them", () => {
    expect(numberOf(Address.ipv4(-1))).toEqual({ family: 4, value: 2n ** 32n - 1n })
    expect(numberOf(Address.ipv6(-1, -1, -1, -1))).toEqual({ family: 6, value: 2n ** 128n - 1n })
    expect(numberOf(Address.ipv6(0, 0, 0xffff, -1))).toEqual({ family: 4, value: 2n ** 32n - 1n })
    expect(Address.ipv6Base(0, 0, 0xffff, 1).family).toBe(6)
  })

  test("differ between any two different addresses", () => {
    const base = [0x20010db8, 1, 2, 3] as const
    for (let i = 0; i < 4; i++) {
      const other = base.map((word, at) => (at === i ? word + 1 : word)) as [number, number, number, number]
      expect(Address.ipv6(...base).equals(Address.ipv6(...other))).toBe(false)
    }
    expect(Address.ipv6(...base).equals(Address.ipv6(...base))).toBe(true)
  })

  test("masked keeps the first bits and clears the others, for each length", () => {
    for (const text of [
      "255.255.255.255",
      "128.0.0.1",
      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
      "8000:1:8000:1:8000:1:8000:1",
    ]) {
      const whole = address(text)
      const { family, value } = numberOf(whole)
      for (let length = 0; length <= whole.bits; length++) {
        const host = 2n ** BigInt(whole.bits - length)
        expect(numberOf(whole.masked(length))).toEqual({ family, value: value - (value % host) })
      }
    }
  })
})

function mappedSpellings(plain: Address): string[] {
  const dotted = plain.toString()
  const high = (plain.word0 >>> 16).toString(16)
  const low = (plain.word0 & 0xffff).toString(16)
  return [
    `::ffff:${dotted}`,
    `::FFFF:${dotted}`,
    `0:0:0:0:0:ffff:${dotted}`,
    `0000:0000:0000:0000:0000:ffff:${dotted}`,
    `0::ffff:${dotted}`,
    `::0:fFfF:${dotted}`,
    `::ffff:${high}:${low}`,
    `::ffff:${high.padStart(4, "0")}:${low.padStart(4, "0")}`.toUpperCase(),
    `0:0:0:0:0:ffff:${high}:${low}`,
  ]
}
