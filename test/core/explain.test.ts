// The sentences about text that is no network: what they name, and that they are safe to show.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { explainNetwork } from "../../src/core/explain.ts"
import { Network } from "../../src/core/network.ts"
import { isPrintable, quoted } from "../../src/core/printable.ts"
import { fault } from "../faults/fault.ts"
import { ipv4Spelling, ipv6Spelling, mutatedText, randomText } from "../support/address-text.ts"
import { CORPUS, NETWORK_ROWS } from "../support/corpus.ts"
import { address } from "../support/parsed.ts"

describe(fault("A-09", "networks with host bits", "both meanings are named, and both are right"), () => {
  const rows = NETWORK_ROWS.filter((row) => row.host_bits)

  test("the corpus has nine rows of them", () => {
    expect(rows.length).toBe(9)
    expect(rows.every((row) => !row.valid && row.masked !== undefined)).toBe(true)
  })

  test.each(rows.map((row) => [row.input, row.masked ?? ""]))(
    "%s: both meanings are named",
    (input, masked) => {
      const single = address(input.slice(0, input.indexOf("/")))
      expect(explainNetwork(input)).toBe(`"${input}" has host bits set; did you mean ${masked} or ${single}?`)
    },
  )

  test.each([
    ["::ffff:10.0.0.5/104", "10.0.0.0/8", "10.0.0.5"],
    ["::ffff:10.0.0.5/64", "::/64", "10.0.0.5"],
    ["::ffff:10.0.0.5/95", "::fffe:0:0/95", "10.0.0.5"],
    ["2001:DB8:0:0:0:0:0:1/64", "2001:db8::/64", "2001:db8::1"],
    ["255.255.255.255/0", "0.0.0.0/0", "255.255.255.255"],
    ["128.0.0.1/1", "128.0.0.0/1", "128.0.0.1"],
  ])("%s: the meanings are canonical", (input, masked, single) => {
    expect(explainNetwork(input)).toBe(`"${input}" has host bits set; did you mean ${masked} or ${single}?`)
  })

  test("both meanings parse, and the first contains the second unless it is a mapped text shorter than /96", () => {
    const input = fc
      .tuple(fc.oneof(ipv4Spelling, ipv6Spelling), fc.nat({ max: 128 }))
      .map(([{ text }, length]) => `${text}/${length}`)
      .filter((text) => Network.parse(text) === null)
    let named = 0
    fc.assert(
      fc.property(input, (text) => {
        const meanings = /did you mean (\S+) or (\S+)\?$/.exec(explainNetwork(text))
        if (meanings === null) return
        named++
        const masked = Network.parse(meanings[1] ?? "")
        const single = Network.parse(meanings[2] ?? "")
        expect(String(masked)).toBe(meanings[1] ?? "")
        expect(String(single)).toBe(meanings[2] ?? "")
        expect(single?.isAddress).toBe(true)
        if (masked?.family === single?.family) expect(single !== null && masked?.contains(single)).toBe(true)
        else expect(text.startsWith("::") || text.startsWith("0")).toBe(true)
      }),
      { numRuns: 2000 },
    )
    expect(named).toBeGreaterThan(500)
  })
})

describe("explainNetwork", () => {
  test.each([
    ["", '"" is not an IP address or CIDR: it is empty'],
    ["bad", '"bad" is not an IP address or CIDR'],
    [" 10.0.0.1", '" 10.0.0.1" is not an IP address or CIDR: remove the white space around it'],
    ["1.2.3.4\n", '"1.2.3.4\\x0a" is not an IP address or CIDR: remove the white space around it'],
    ["fe80::1%eth0", '"fe80::1%eth0" is not an IP address or CIDR: remove the zone id after the address'],
    ["[::1]:80", '"[::1]:80" is not an IP address or CIDR: remove the brackets and the port'],
    ["1.2.3.4:80", '"1.2.3.4:80" is not an IP address or CIDR: remove the port'],
    [
      "010.8.8.8",
      '"010.8.8.8" is not an IP address or CIDR: IPv4 has four decimal numbers from 0 to 255, without leading zeros',
    ],
    [
      "10/8",
      '"10/8" is not an IP address or CIDR: IPv4 has four decimal numbers from 0 to 255, without leading zeros',
    ],
    ["1.2.3.4, 5.6.7.8", '"1.2.3.4, 5.6.7.8" is not an IP address or CIDR: give one address at a time'],
    ["10.0.0.0/33", '"10.0.0.0/33" is not a valid CIDR: the prefix length must be 0 to 32, in plain digits'],
    ["10.0.0.0/08", '"10.0.0.0/08" is not a valid CIDR: the prefix length must be 0 to 32, in plain digits'],
    ["1.2.3.4/", '"1.2.3.4/" is not a valid CIDR: the prefix length must be 0 to 32, in plain digits'],
    [
      "10.0.0.0/8/8",
      '"10.0.0.0/8/8" is not a valid CIDR: the prefix length must be 0 to 32, in plain digits',
    ],
    ["::/129", '"::/129" is not a valid CIDR: the prefix length must be 0 to 128, in plain digits'],
  ])("%j", (input, message) => {
    expect(Network.parse(input)).toBeNull()
    expect(explainNetwork(input)).toBe(message)
  })
})

describe("every message", () => {
  test.each(CORPUS.filter((row) => !row.valid).map((row) => [row.input.slice(0, 60), row.input]))(
    "of the corpus is one safe line: %j",
    (_name, input) => {
      expectSafe(input)
    },
  )

  test("is one safe line that begins with what was sent, however long or odd that was", () => {
    fc.assert(fc.property(fc.oneof(mutatedText, randomText), expectSafe), { numRuns: 2000 })
    for (const unit of ["1.", ":", "/", "\x1b[2J", "\u{1f600}", "\ud800"]) expectSafe(unit.repeat(100_000))
  })

  function expectSafe(input: string): void {
    const message = explainNetwork(input)
    expect(message.startsWith(`${quoted(input)} `)).toBe(true)
    expect(isPrintable(message)).toBe(true)
    expect(message.length).toBeLessThan(800)
  }
})
