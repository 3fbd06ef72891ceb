// EndedEntries: which entry let a client in until lately; the newest few thousand, and never a wrong one.

import { describe, expect, test } from "bun:test"
import { Address } from "../../src/core/address.ts"
import { EndedEntries, type EndedEntry } from "../../src/core/ended-entries.ts"
import { Network } from "../../src/core/network.ts"
import { address, network } from "../support/parsed.ts"
import { Prng, seeded } from "../support/prng.ts"

const REMEMBERED = 4096

function setup() {
  const ended = new EndedEntries()
  const remember = (text: string, endedAt: number, how: EndedEntry["how"] = "expired") => {
    ended.remember(network(text), { list: "temp", endedAt, how })
  }
  /** The entry as `network endedAt`, or `-`. */
  const last = (text: string, before = Number.POSITIVE_INFINITY) => {
    const entry = ended.lastCovering(address(text), before)
    return entry === null ? "-" : `${entry.ip} ${entry.endedAt}`
  }
  return { ended, remember, last }
}

describe("the entry that ended last", () => {
  test("is none for who was never let in", () => {
    const { remember, last } = setup()
    expect(last("192.0.2.1")).toBe("-")
    remember("192.0.2.2", 1)
    remember("198.51.100.0/24", 2)
    expect(last("192.0.2.1")).toBe("-")
  })

  test("is told with its list, its end, and why", () => {
    const { ended } = setup()
    const ends = [
      { ip: "192.0.2.0/24", list: "perm", endedAt: 17, how: "removed" },
      { ip: "198.51.100.7", list: "temp", endedAt: 1_800_000_000_001, how: "expired" },
      { ip: "2001:db8:1:2::/64", list: "temp", endedAt: 18, how: "removed" },
      { ip: "2001:db8::1:2:3:4", list: "perm", endedAt: 19, how: "expired" },
    ] as const
    for (const { ip, ...end } of ends) ended.remember(network(ip), end)
    const clients = ["192.0.2.200", "198.51.100.7", "2001:db8:1:2::9", "2001:db8::1:2:3:4"]
    const told = clients.map((client) => ended.lastCovering(address(client), Number.POSITIVE_INFINITY))
    expect(told).toEqual([...ends])
  })

  test("is the one of the latest end, be it wide or narrow", () => {
    const { remember, last } = setup()
    remember("192.0.2.1", 10)
    remember("192.0.2.0/24", 20)
    remember("192.0.0.0/16", 5)
    expect(last("192.0.2.1")).toBe("192.0.2.0/24 20")
    expect(last("192.0.9.9")).toBe("192.0.0.0/16 5")
    remember("192.0.0.0/16", 30)
    expect(last("192.0.2.1")).toBe("192.0.0.0/16 30")
    remember("192.0.2.1", 40)
    expect(last("192.0.2.1")).toBe("192.0.2.1 40")
    expect(last("192.0.2.2")).toBe("192.0.0.0/16 30")
  })

  test("is none that ended after the moment that is asked about", () => {
    const { remember, last } = setup()
    remember("192.0.2.0/24", 10)
    remember("192.0.2.1", 20)
    expect([last("192.0.2.1", 9), last("192.0.2.1", 10)]).toEqual(["-", "192.0.2.0/24 10"])
    expect([last("192.0.2.1", 19), last("192.0.2.1", 20)]).toEqual(["192.0.2.0/24 10", "192.0.2.1 20"])
  })

  test("is of the client's own family", () => {
    const { remember, last } = setup()
    remember("0.0.0.0/0", 1)
    expect(last("::1")).toBe("-")
    remember("::/0", 2)
    expect(last("2001:db8::1")).toBe("::/0 2")
    expect(last("192.0.2.1")).toBe("0.0.0.0/0 1")
  })
})

describe("what is forgotten", () => {
  const fill = (remember: (text: string, endedAt: number) => void, count: number, from = 0) => {
    for (let i = from; i < from + count; i++) remember(Address.ipv4(0x0a000000 + i).toString(), 1_000 + i)
  }

  test("is the one that ended first, when there are too many, and not one before", () => {
    const { remember, last } = setup()
    remember("192.0.2.1", 1)
    fill(remember, REMEMBERED - 1)
    expect(last("192.0.2.1")).toBe("192.0.2.1 1")
    expect(last("10.0.0.0")).toBe("10.0.0.0 1000")
    fill(remember, 1, REMEMBERED - 1)
    expect(last("192.0.2.1")).toBe("-")
    expect(last("10.0.0.0")).toBe("10.0.0.0 1000")
    fill(remember, 1, REMEMBERED)
    expect(last("10.0.0.0")).toBe("-")
    expect(last("10.0.0.1")).toBe("10.0.0.1 1001")
  })

  test("is not what has ended again meanwhile", () => {
    const { remember, last } = setup()
    remember("192.0.2.1", 1)
    fill(remember, REMEMBERED - 2)
    remember("192.0.2.1", 9_999)
    fill(remember, 2, REMEMBERED)
    // The first of the two has lost its place by now.
    expect(last("192.0.2.1")).toBe("192.0.2.1 9999")
    fill(remember, REMEMBERED - 3, 2 * REMEMBERED)
    expect(last("192.0.2.1")).toBe("192.0.2.1 9999")
    fill(remember, 1, 4 * REMEMBERED)
    expect(last("192.0.2.1")).toBe("-")
  })
})

test(
  "agrees with a plain list, over many rounds of the ring",
  seeded((random) => {
    const { ended } = setup()
    const all: Array<{ network: Network; entry: EndedEntry }> = []
    // Few networks, so that they contain and replace each other all the time.
    const narrow = new Prng(random.word())
    for (let i = 0; i < 3 * REMEMBERED; i++) {
      const length = narrow.pick([24, 28, 30, 32])
      const masked = Address.ipv4(0x0a000000 + narrow.below(512)).masked(length)
      const one = Network.from(masked, length)
      if (one === null) throw new Error("a masked address has host bits")
      const list = narrow.pick(["perm", "temp"] as const)
      const how = narrow.pick(["expired", "removed"] as const)
      const entry = { list, ip: one.toString(), endedAt: i, how }
      ended.remember(one, entry)
      all.push({ network: one, entry })
      if (i % 50 !== 0) continue
      const client = Address.ipv4(0x0a000000 + narrow.below(520))
      const remembered = all.slice(-REMEMBERED)
      const expected = remembered.findLast(({ network }) => network.contains(Network.of(client)))
      expect(ended.lastCovering(client, i)).toEqual(expected?.entry ?? null)
    }
  }),
)
