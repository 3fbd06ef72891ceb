// RefusedClients: who was refused lately, how often and when, in memory that no flood of strangers makes larger.

import { describe, expect, test } from "bun:test"
import { Address } from "../../src/core/address.ts"
import { RefusedClients } from "../../src/core/refused-clients.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { address } from "../support/parsed.ts"
import { seeded } from "../support/prng.ts"

/** Places that the table has, and how many of them an address can stand in. */
const PLACES = 4096
const WAYS = 4

function setup() {
  const clock = new FakeClock()
  const clients = new RefusedClients(clock)
  const start = clock.wall()
  return {
    clock,
    clients,
    see: (...texts: readonly string[]) => {
      for (const text of texts) clients.see(address(text))
    },
    /** The table as `address count first last`, the times in milliseconds since the start. */
    rows: () =>
      clients
        .list()
        .map(
          ({ address, count, firstAt, lastAt }) => `${address} ${count} ${firstAt - start} ${lastAt - start}`,
        ),
  }
}

describe("what is remembered", () => {
  test("of nobody is nothing", () => {
    expect(setup().rows()).toEqual([])
  })

  test("is how often, since when, and when last; the last refused comes first", () => {
    const { clock, see, rows } = setup()
    see("192.0.2.1")
    clock.advance(10)
    see("192.0.2.2")
    clock.advance(10)
    see("192.0.2.1", "192.0.2.1")
    clock.advance(10)
    see("192.0.2.3")
    expect(rows()).toEqual(["192.0.2.3 1 30 30", "192.0.2.1 3 0 20", "192.0.2.2 1 10 10"])
  })

  test("of two in the same millisecond the more frequent comes first", () => {
    const { see, rows } = setup()
    see("192.0.2.1", "192.0.2.2", "192.0.2.2")
    expect(rows()).toEqual(["192.0.2.2 2 0 0", "192.0.2.1 1 0 0"])
  })

  test("goes on counting beyond 32 bits of time and stays a number", () => {
    const { clock, see, rows } = setup()
    see("192.0.2.1")
    clock.advance(2 ** 40)
    see("192.0.2.1")
    expect(rows()).toEqual([`192.0.2.1 2 0 ${2 ** 40}`])
  })
})

describe("addresses are told apart", () => {
  // Each pair shares what a careless key would be made of.
  test.each([
    ["0.0.0.1", "::1"],
    ["0.0.0.0", "::"],
    ["192.0.2.1", "c000:201::"],
    ["::1", "::1:0"],
    ["2001:db8::1", "2001:db8:0:0:1::"],
    ["::", "8000::"],
    ["0.0.0.1", "1.0.0.0"],
  ])("%s and %s", (one, other) => {
    const { see, rows } = setup()
    see(one, other, other)
    expect(rows().sort()).toEqual([`${one} 1 0 0`, `${other} 2 0 0`].sort())
  })

  test("and every one comes back as it was", () => {
    const { see, rows } = setup()
    const texts = ["0.0.0.0", "255.255.255.255", "127.0.0.1", "::", "::1", "2001:db8::ffff:0:1"]
    const longest = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
    see(...texts, longest)
    expect(rows().sort()).toEqual([...texts, longest].map((text) => `${text} 1 0 0`).sort())
  })
})

describe("a flood", () => {
  test("of a million addresses fills the table and does not make it larger", () => {
    const { clients, rows } = setup()
    const before = bytesOf(clients)
    for (let i = 0; i < 1_000_000; i++) clients.see(Address.ipv4(i * 2_654_435_761))
    expect(rows()).toHaveLength(PLACES)
    expect(bytesOf(clients)).toBe(before)
    expect(before).toBeLessThanOrEqual(200_000)
  })

  test.each(["IPv4 addresses one after the other", "IPv6 addresses of one network", "IPv6 networks"])(
    "of %s spreads over all of the table",
    (kind) => {
      const { clients, rows } = setup()
      for (let i = 0; i < 4 * PLACES; i++) {
        if (kind.startsWith("IPv4")) clients.see(Address.ipv4(0x0a000000 + i))
        else if (kind.endsWith("network")) clients.see(Address.ipv6(0x20010db8, 0, 0, i))
        else clients.see(Address.ipv6(0x20010db8, i, 0, 0))
      }
      // Four times as many as there are places: a fair hash leaves hardly a place empty.
      expect(rows().length).toBeGreaterThan(0.99 * PLACES)
    },
  )

  test("leaves the last ones in the table", () => {
    const { clock, clients } = setup()
    for (let i = 0; i < 100_000; i++) {
      clock.advance(1)
      clients.see(Address.ipv4(i * 2_654_435_761))
    }
    const last = Address.ipv4(99_999 * 2_654_435_761)
    const [first] = clients.list()
    expect(first?.address.equals(last)).toBe(true)
    // A place is given up for the newest of those that share it, so what is left is young.
    const oldest = clock.wall() - Math.min(...clients.list().map(({ lastAt }) => lastAt))
    expect(oldest).toBeLessThan(PLACES * 8)
  })

  test("a client that keeps knocking stays, with its count", () => {
    const { clock, clients } = setup()
    const persistent = address("203.0.113.7")
    for (let i = 0; i < 20_000; i++) {
      clock.advance(1)
      clients.see(Address.ipv4(i * 2_654_435_761))
      if (i % 10 === 0) clients.see(persistent)
    }
    const found = clients.list().find((client) => client.address.equals(persistent))
    expect(found?.count).toBe(2_000)
  })

  test("one that has lost its place begins anew", () => {
    const { clock, clients } = setup()
    clients.see(address("203.0.113.7"))
    for (let i = 0; i < 100_000; i++) {
      clock.advance(1)
      clients.see(Address.ipv4(i * 2_654_435_761))
    }
    expect(clients.list().some((client) => client.address.equals(address("203.0.113.7")))).toBe(false)
    clients.see(address("203.0.113.7"))
    expect(clients.list()[0]).toMatchObject({ count: 1, firstAt: clock.wall(), lastAt: clock.wall() })
  })
})

test(
  "agrees with a plain map for as many addresses as surely have places",
  seeded((random) => {
    const { clock, clients } = setup()
    const counts = new Map<string, number>()
    const chosen = Array.from({ length: WAYS }, () =>
      random.below(2) === 0
        ? Address.ipv4(random.word())
        : Address.ipv6(random.word(), random.word(), random.word(), random.word()),
    )
    for (let i = 0; i < 500; i++) {
      clock.advance(random.below(3))
      const one = random.pick(chosen)
      clients.see(one)
      counts.set(one.toString(), (counts.get(one.toString()) ?? 0) + 1)
    }
    expect(new Map(clients.list().map(({ address, count }) => [address.toString(), count]))).toEqual(counts)
    const times = clients.list().map(({ lastAt }) => lastAt)
    expect(times).toEqual([...times].sort((a, b) => b - a))
  }),
)

/** What the columns of the table take: all that it holds. */
function bytesOf(clients: RefusedClients): number {
  return Object.values(clients)
    .filter((member) => ArrayBuffer.isView(member))
    .reduce((sum, column) => sum + column.byteLength, 0)
}
