// Allowlist: who is let in, by which entries, and until exactly when, on both lists and both clocks.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Address } from "../../src/core/address.ts"
import { Allowlist } from "../../src/core/allowlist.ts"
import type { Change } from "../../src/core/change.ts"
import type { Match } from "../../src/core/gate.ts"
import { Network } from "../../src/core/network.ts"
import { fault } from "../faults/fault.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { address, network } from "../support/parsed.ts"
import { seeded } from "../support/prng.ts"
import { ReferenceList } from "../support/reference-list.ts"

const HOUR = 3_600_000

function setup() {
  const clock = new FakeClock()
  const allowlist = new Allowlist(clock)
  const permanent = (op: "add_perm" | "delete_perm") => (text: string) =>
    allowlist.apply({ op, network: network(text), at: clock.wall(), by: null })
  return {
    clock,
    allowlist,
    addPermanent: permanent("add_perm"),
    removePermanent: permanent("delete_perm"),
    addTemporary: (text: string, lifetime: number) =>
      allowlist.apply(grantOf(clock, network(text), lifetime)),
    removeTemporary: (text: string) =>
      allowlist.apply({ op: "delete_temp", network: network(text), at: clock.wall(), by: null }),
    /** Records the end of up to `most` grants, as the sweeper does. */
    sweep: (most: number) => {
      const ended = allowlist.endedGrants(most)
      for (const grant of ended) allowlist.apply({ op: "expire_temp", at: clock.wall(), ...grant })
      return ended.map((grant) => String(grant.network))
    },
    allows: (text: string) => allowlist.allows(address(text)),
    check: (text: string) => allowlist.check(network(text)).matches.map(({ list, ip }) => `${list} ${ip}`),
  }
}

function grantOf(clock: FakeClock, of: Network, lifetime: number): Change {
  const at = clock.wall()
  return {
    op: "add_temp",
    network: of,
    at,
    by: null,
    ttlSeconds: lifetime / 1000,
    expiresAt: at + lifetime,
    reason: null,
  }
}

describe("closed by default", () => {
  test("an empty list lets nobody in", () => {
    const { allowlist, allows } = setup()
    for (const text of ["0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1"]) {
      expect(allows(text)).toBe(false)
      expect(allowlist.check(network(text))).toEqual({ allowed: false, matches: [] })
    }
    expect([allowlist.permanentCount, allowlist.temporaryCount]).toEqual([0, 0])
    expect(allowlist.endedGrants(10)).toEqual([])
    expect(allowlist.endedGrant(network("1.2.3.4"))).toBeNull()
  })

  test("the removal of what is not there changes nothing", () => {
    const { allowlist, allows, addPermanent, addTemporary, removePermanent, removeTemporary } = setup()
    addPermanent("192.0.2.1")
    addTemporary("192.0.2.2", HOUR)
    removePermanent("192.0.2.2")
    removeTemporary("192.0.2.1")
    for (const text of ["192.0.2.3", "192.0.2.0/24", "::1"]) {
      removePermanent(text)
      removeTemporary(text)
    }
    expect([allows("192.0.2.1"), allows("192.0.2.2"), allows("192.0.2.3")]).toEqual([true, true, false])
    expect([allowlist.permanentCount, allowlist.temporaryCount]).toEqual([1, 1])
  })

  test.each([Number.NaN, Number.NEGATIVE_INFINITY, 0, -1])(
    "a grant that expires at %p lets nobody in",
    (expiresAt) => {
      const { allowlist, allows } = setup()
      allowlist.addTemporary(network("192.0.2.1"), expiresAt)
      expect(allows("192.0.2.1")).toBe(false)
      expect(allowlist.check(network("192.0.2.1")).allowed).toBe(false)
    },
  )
})

describe("families never meet", () => {
  test.each([
    ["::/0", "1.2.3.4", "::1"],
    ["::fffe:0:0/95", "1.2.3.4", "::fffe:1:1"],
    ["::/96", "1.2.3.4", "::1.2.3.4"],
    ["::/64", "0.0.0.0", "::"],
    ["0.0.0.0/0", "::1.2.3.4", "1.2.3.4"],
    ["0.0.0.0/0", "::", "::ffff:1.2.3.4"],
    ["::ffff:0:0/96", "::fffe:1:1", "1.2.3.4"],
    ["::ffff:0:0/96", "::1:0:0:0", "::ffff:1.2.3.4"],
    ["0.0.0.0", "::", "0.0.0.0"],
    ["::", "0.0.0.0", "::"],
    ["2001:db8::2", "2001:db8::3", "2001:db8::2"],
  ])(
    `${fault("A-16 A-17 A-18", "the widest networks of a family, short mapped networks, and bare addresses", "their members alone are let in")} (%s keeps %s out and lets %s in)`,
    (entry, stranger, member) => {
      const { allows, addPermanent, addTemporary, removePermanent, check } = setup()
      addPermanent(entry)
      expect([allows(stranger), allows(member)]).toEqual([false, true])
      expect(check(stranger)).toEqual([])
      removePermanent(entry)
      expect(allows(member)).toBe(false)
      addTemporary(entry, HOUR)
      expect([allows(stranger), allows(member)]).toEqual([false, true])
      expect(check(member)).toEqual([`temp ${network(entry)}`])
    },
  )

  test.each([
    "::1.2.3.4",
    "::ffff:0:1.2.3.4",
    "64:ff9b::1.2.3.4",
    "2002:102:304::",
    "2001:0:102:304::",
    "fe80::5efe:1.2.3.4",
  ])(
    `${fault("A-04", "clients whose IPv6 address carries a listed IPv4 address", "kept out")} (%s does not borrow the rights of 1.2.3.4)`,
    (text) => {
      const { allows, addPermanent, addTemporary } = setup()
      addPermanent("1.2.3.4")
      addTemporary("0.0.0.0/0", HOUR)
      expect([allows("1.2.3.4"), allows(text)]).toEqual([true, false])
    },
  )

  test(
    fault(
      "A-03 A-14",
      "1,000 random IPv4 addresses, added, asked and removed in six spellings and their mapped forms",
      "let in by each spelling until any of them removes it",
    ),
    seeded((random) => {
      const { allowlist, allows, addPermanent, removePermanent, addTemporary, removeTemporary } = setup()
      for (let run = 0; run < 1000; run++) {
        const plain = Address.ipv4(random.word())
        const [high, low] = [plain.word0 >>> 16, plain.word0 & 0xffff].map((half) => half.toString(16))
        const spellings = [
          `${plain}`,
          `::ffff:${plain}`,
          `::FFFF:${plain}`,
          `0:0:0:0:0:ffff:${plain}`,
          `::ffff:${high}:${low}`,
          `0000:0000:0000:0000:0000:FFFF:${high}:${low}`,
        ]
        const [add, remove] =
          random.below(2) === 0
            ? [addPermanent, removePermanent]
            : [(text: string) => addTemporary(text, HOUR), removeTemporary]
        add(random.pick(spellings))
        expect(spellings.map(allows)).toEqual(spellings.map(() => true))
        remove(random.pick([`${plain}/32`, `::ffff:${plain}/128`, ...spellings]))
        expect(spellings.map(allows)).toEqual(spellings.map(() => false))
      }
      expect([allowlist.permanentCount, allowlist.temporaryCount]).toEqual([0, 0])
    }),
  )
})

describe("the end of an entry", () => {
  test.each([1000, HOUR, 2 ** 31, 315_360_000_000])("after %d ms is exact for every question", (lifetime) => {
    const { clock, allowlist, allows, addTemporary } = setup()
    addTemporary("192.0.2.0/24", lifetime)
    const expiresAt = clock.wall() + lifetime
    const grant = { network: network("192.0.2.0/24"), expiresAt }
    const match: Match = { list: "temp", ip: "192.0.2.0/24", expiresAt }
    clock.advance(lifetime - 1)
    expect(allows("192.0.2.9")).toBe(true)
    expect(allowlist.check(network("192.0.2.9"))).toEqual({ allowed: true, matches: [match] })
    expect(allowlist.temporaryCount).toBe(1)
    expect([allowlist.endedGrant(grant.network), allowlist.endedGrants(9)]).toEqual([null, []])
    for (let i = 0; i < 2; i++) {
      clock.advance(1)
      expect(allows("192.0.2.9")).toBe(false)
      expect(allowlist.check(network("192.0.2.9"))).toEqual({ allowed: false, matches: [] })
      expect(allowlist.temporaryCount).toBe(0)
      expect([allowlist.endedGrant(grant.network), allowlist.endedGrants(9)]).toEqual([grant, [grant]])
    }
  })

  test(fault("C-01", "the wall clock is set back under an entry", "it ends after its lifetime"), () => {
    const { clock, allowlist, allows, addTemporary, check } = setup()
    addTemporary("2001:db8::/64", HOUR)
    clock.stepWall(-HOUR)
    clock.advance(HOUR - 1)
    expect([allows("2001:db8::1"), allowlist.temporaryCount]).toEqual([true, 1])
    clock.advance(1)
    expect([allows("2001:db8::1"), allowlist.temporaryCount]).toEqual([false, 0])
    expect(check("2001:db8::1")).toEqual([])
    expect(allowlist.endedGrants(9).length).toBe(1)
  })

  test(
    fault("C-02", "the wall clock is set forward, and back", "the entry ends once, and does not return"),
    () => {
      const { clock, allowlist, allows, addTemporary, sweep } = setup()
      addTemporary("192.0.2.1", HOUR)
      addTemporary("192.0.2.2", 3 * HOUR)
      clock.stepWall(2 * HOUR)
      expect([allows("192.0.2.1"), allows("192.0.2.2"), allowlist.temporaryCount]).toEqual([false, true, 1])
      expect(sweep(10)).toEqual(["192.0.2.1"])
      expect(sweep(10)).toEqual([])
      clock.stepWall(-2 * HOUR)
      expect([allows("192.0.2.1"), allows("192.0.2.2"), allowlist.temporaryCount]).toEqual([false, true, 1])
      expect(allowlist.endedGrant(network("192.0.2.1"))).toBeNull()
    },
  )

  test("an entry loaded after its end is never active, and its end is recorded", () => {
    const { clock, allowlist, allows, sweep } = setup()
    allowlist.addTemporary(network("192.0.2.1"), clock.wall())
    allowlist.addTemporary(network("192.0.2.2"), clock.wall() - HOUR)
    allowlist.addTemporary(network("192.0.2.3"), clock.wall() + 1)
    expect(["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(allows)).toEqual([false, false, true])
    expect(allowlist.temporaryCount).toBe(1)
    expect(sweep(10).sort()).toEqual(["192.0.2.1", "192.0.2.2"])
  })
})

describe("a grant that is given again", () => {
  test.each([
    ["longer", HOUR, 2 * HOUR],
    ["shorter", 2 * HOUR, HOUR],
    ["equal", HOUR, HOUR],
  ])("has the new deadline alone: %s", (_how, first, second) => {
    const { clock, allowlist, allows, addTemporary, check } = setup()
    addTemporary("192.0.2.1", first)
    addTemporary("192.0.2.1", second)
    expect(allowlist.temporaryCount).toBe(1)
    expect(allowlist.check(network("192.0.2.1")).matches).toEqual([
      { list: "temp", ip: "192.0.2.1", expiresAt: clock.wall() + second },
    ])
    clock.advance(second - 1)
    expect([allows("192.0.2.1"), allowlist.temporaryCount, allowlist.endedGrants(9).length]).toEqual([
      true,
      1,
      0,
    ])
    clock.advance(1)
    expect([allows("192.0.2.1"), allowlist.temporaryCount, allowlist.endedGrants(9).length]).toEqual([
      false,
      0,
      1,
    ])
    expect(check("192.0.2.1")).toEqual([])
  })

  test("after its end, before that was recorded, is active again", () => {
    const { clock, allowlist, allows, addTemporary, removeTemporary, sweep } = setup()
    addTemporary("192.0.2.1", HOUR)
    clock.advance(HOUR)
    expect(allows("192.0.2.1")).toBe(false)
    addTemporary("192.0.2.1", HOUR)
    expect([allows("192.0.2.1"), allowlist.temporaryCount]).toEqual([true, 1])
    expect(sweep(10)).toEqual([])
    removeTemporary("192.0.2.1")
    expect([allows("192.0.2.1"), allowlist.temporaryCount]).toEqual([false, 0])
    expect(allowlist.endedGrants(10)).toEqual([])
  })
})

describe("both lists with the same network", () => {
  const TEXT = "192.0.2.0/24"
  const CLIENT = "192.0.2.200"

  for (const firstIn of ["perm", "temp"]) {
    for (const firstOut of ["perm", "temp"]) {
      for (const ending of ["removed", "expired"]) {
        test(`${firstIn} comes first, ${firstOut} goes first, the temporary one is ${ending}`, () => {
          const { clock, allowlist, allows, check, ...act } = setup()
          const add = { perm: () => act.addPermanent(TEXT), temp: () => act.addTemporary(TEXT, HOUR) }
          for (const list of firstIn === "perm" ? (["perm", "temp"] as const) : (["temp", "perm"] as const))
            add[list]()
          expect([allowlist.permanentCount, allowlist.temporaryCount]).toEqual([1, 1])
          expect(check(CLIENT)).toEqual([`perm ${TEXT}`, `temp ${TEXT}`])

          const remove = {
            perm: () => act.removePermanent(TEXT),
            temp: () => {
              if (ending === "removed") return act.removeTemporary(TEXT)
              clock.advance(HOUR)
              expect(check(CLIENT).includes(`temp ${TEXT}`)).toBe(false)
              expect(act.sweep(10)).toEqual([TEXT])
            },
          }
          const stays = firstOut === "perm" ? "temp" : "perm"
          remove[firstOut as "perm" | "temp"]()
          expect([allows(CLIENT), check(CLIENT)]).toEqual([true, [`${stays} ${TEXT}`]])
          expect(allowlist.permanentCount).toBe(stays === "perm" ? 1 : 0)
          expect(allowlist.temporaryCount).toBe(stays === "temp" ? 1 : 0)
          remove[stays]()
          expect([allows(CLIENT), check(CLIENT)]).toEqual([false, []])
          expect([
            allowlist.permanentCount,
            allowlist.temporaryCount,
            allowlist.endedGrants(9).length,
          ]).toEqual([0, 0, 0])
        })
      }
    }
  }

  test("an ended grant takes nothing from the permanent entry, and a new permanent entry wakes no ended grant", () => {
    const { clock, allowlist, allows, check, addPermanent, addTemporary, removePermanent } = setup()
    addTemporary(TEXT, HOUR)
    addPermanent(TEXT)
    clock.advance(HOUR)
    expect([allows(CLIENT), check(CLIENT)]).toEqual([true, [`perm ${TEXT}`]])
    removePermanent(TEXT)
    expect([allows(CLIENT), check(CLIENT)]).toEqual([false, []])
    expect(allowlist.endedGrant(network(TEXT))?.expiresAt).toBe(clock.wall())
    addPermanent(TEXT)
    addPermanent(TEXT)
    expect([allows(CLIENT), allowlist.permanentCount, allowlist.temporaryCount]).toEqual([true, 1, 0])
  })
})

describe(
  fault(
    "A-13",
    "overlapping entries of both lists that are removed in every order",
    "let in exactly as long as one covers the client",
  ),
  () => {
    test("the last one that covers a client decides, in every order of removal", () => {
      const nested = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3"]
      const orders = permutations(nested)
      expect(orders.length).toBe(24)
      for (const order of orders) {
        for (const list of ["perm", "temp"]) {
          const { allows, check, ...act } = setup()
          for (const text of nested) {
            if (list === "perm") act.addPermanent(text)
            else act.addTemporary(text, HOUR)
          }
          for (const [i, text] of order.entries()) {
            expect(check("10.1.2.3")).toEqual(
              nested
                .filter((left) => !order.slice(0, i).includes(left))
                .reverse()
                .map((left) => `${list} ${left}`),
            )
            expect(allows("10.1.2.3")).toBe(true)
            if (list === "perm") act.removePermanent(text)
            else act.removeTemporary(text)
          }
          expect([allows("10.1.2.3"), check("10.1.2.3")]).toEqual([false, []])
        }
      }
    })

    test("check names permanent entries first, then the narrowest first, and only what contains all of the network", () => {
      const { allowlist, clock, check, addPermanent, addTemporary } = setup()
      addTemporary("10.1.2.3", HOUR)
      addPermanent("10.0.0.0/8")
      addPermanent("10.1.0.0/16")
      addTemporary("0.0.0.0/0", 2 * HOUR)
      addTemporary("10.1.2.0/24", 3 * HOUR)
      addPermanent("::/0")
      expect(check("10.1.2.3")).toEqual([
        "perm 10.1.0.0/16",
        "perm 10.0.0.0/8",
        "temp 10.1.2.3",
        "temp 10.1.2.0/24",
        "temp 0.0.0.0/0",
      ])
      expect(check("10.1.2.0/24")).toEqual([
        "perm 10.1.0.0/16",
        "perm 10.0.0.0/8",
        "temp 10.1.2.0/24",
        "temp 0.0.0.0/0",
      ])
      expect(check("10.0.0.0/7")).toEqual(["temp 0.0.0.0/0"])
      expect(check("0.0.0.0/0")).toEqual(["temp 0.0.0.0/0"])
      expect(check("::ffff:0:0/96")).toEqual(["temp 0.0.0.0/0"])
      expect(check("::/0")).toEqual(["perm ::/0"])
      expect(allowlist.check(network("10.0.0.0/7"))).toEqual({
        allowed: true,
        matches: [{ list: "temp", ip: "0.0.0.0/0", expiresAt: clock.wall() + 2 * HOUR }],
      })
      expect(allowlist.check(network("10.0.0.0/8")).matches[0]).toEqual({
        list: "perm",
        ip: "10.0.0.0/8",
        expiresAt: null,
      })
    })
  },
)

describe("places of grants", () => {
  test("a new grant in the place of an old one has nothing of the old one", () => {
    const { clock, allows, addTemporary, removeTemporary, sweep } = setup()
    addTemporary("192.0.2.1", HOUR)
    removeTemporary("192.0.2.1")
    addTemporary("192.0.2.2", 3 * HOUR)
    expect([allows("192.0.2.1"), allows("192.0.2.2")]).toEqual([false, true])
    clock.advance(HOUR)
    expect([allows("192.0.2.1"), allows("192.0.2.2")]).toEqual([false, true])
    addTemporary("192.0.2.3", HOUR)
    clock.advance(HOUR)
    expect(sweep(10)).toEqual(["192.0.2.3"])
    addTemporary("192.0.2.4", HOUR / 2)
    expect(["192.0.2.3", "192.0.2.4", "192.0.2.2"].map(allows)).toEqual([false, true, true])
    clock.advance(HOUR / 2)
    expect(["192.0.2.3", "192.0.2.4", "192.0.2.2"].map(allows)).toEqual([false, false, true])
  })

  test("the ended ones come out up to the limit until all are recorded", () => {
    const { clock, allowlist, sweep } = setup()
    for (let i = 0; i < 100; i++) allowlist.addTemporary(Network.of(Address.ipv4(i)), clock.wall() + 1000 + i)
    clock.advance(1059)
    expect(allowlist.temporaryCount).toBe(40)
    const seen = [sweep(25), sweep(25), sweep(25), sweep(25)]
    expect(seen.map((part) => part.length)).toEqual([25, 25, 10, 0])
    expect(new Set(seen.flat()).size).toBe(60)
    expect(allowlist.temporaryCount).toBe(40)
  })
})

describe(
  fault(
    "A-12 A-13",
    "random changes and random time on a small universe, every address asked after each",
    "the answers of a slow twin",
  ),
  () => {
    test("agrees with the slow twin after any sequence of changes and of time", () => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
          const pair = new Pair()
          for (const one of steps) pair.take(one)
          pair.compare()
        }),
        { numRuns: 150 },
      )
    })

    test("agrees with the slow twin all along a long life", () => {
      // Few deadlines ever pass in short sequences; a long one ends, reuses and replaces everything many times.
      fc.assert(
        fc.property(fc.array(step, { minLength: 3000, maxLength: 3000, size: "max" }), (steps) => {
          const pair = new Pair()
          for (const [i, one] of steps.entries()) {
            pair.take(one)
            if (i % 60 === 59) pair.compare()
          }
        }),
        { numRuns: 1, endOnFailure: true },
      )
    })
  },
)

type Step =
  | { readonly does: "add_perm" | "delete_perm" | "delete_temp"; readonly network: Network }
  | { readonly does: "add_temp"; readonly network: Network; readonly lifetime: number }
  | { readonly does: "sweep"; readonly most: number }
  | { readonly does: "advance" | "stepWall"; readonly milliseconds: number }

const UNIVERSE = [
  { bits: 32, base: address("198.51.100.0") },
  { bits: 128, base: address("2001:db8::") },
] as const

const universeNetwork = fc
  .record({
    family: fc.constantFrom(...UNIVERSE),
    host: fc.nat({ max: 255 }),
    // Narrow ones mostly, else everything is always allowed.
    hostBits: fc.oneof(
      { weight: 9, arbitrary: fc.nat({ max: 4 }) },
      { weight: 1, arbitrary: fc.constantFrom(6, 8, 9, 32) },
    ),
  })
  .map(({ family, host, hostBits }) => {
    const length = family.bits - hostBits
    const made = Network.from(member(family, host).masked(length), length)
    if (made === null) throw new Error("a masked address has no host bits")
    return made
  })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant("add_perm" as const), network: universeNetwork }) },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant("delete_perm" as const), network: universeNetwork }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant("add_temp" as const),
      network: universeNetwork,
      lifetime: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constantFrom(-5, 0, 100, 1000)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant("delete_temp" as const), network: universeNetwork }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("sweep" as const), most: fc.constantFrom(1, 3, 1000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant("advance" as const), milliseconds: fc.nat({ max: 12 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant("stepWall" as const),
      milliseconds: fc.integer({ min: -15, max: 15 }),
    }),
  },
)

/** An allowlist and its slow twin, which get the same steps. */
class Pair {
  private readonly clock = new FakeClock()
  private readonly allowlist = new Allowlist(this.clock)
  private readonly permanent = new ReferenceList<null>()
  private readonly temporary = new ReferenceList<{ expiresAt: number; learned: number; left: number }>()

  take(one: Step): void {
    const { clock, allowlist, permanent, temporary } = this
    const at = clock.wall()
    switch (one.does) {
      case "add_perm":
        allowlist.apply({ op: one.does, network: one.network, at, by: null })
        permanent.set(one.network, null)
        break
      case "delete_perm":
        allowlist.apply({ op: one.does, network: one.network, at, by: null })
        permanent.delete(one.network)
        break
      case "add_temp":
        allowlist.apply(grantOf(clock, one.network, one.lifetime))
        temporary.set(one.network, {
          expiresAt: at + one.lifetime,
          learned: clock.mono(),
          left: one.lifetime,
        })
        break
      case "delete_temp":
        allowlist.apply({ op: one.does, network: one.network, at, by: null })
        temporary.delete(one.network)
        break
      case "sweep":
        this.sweep(one.most)
        break
      case "advance":
        clock.advance(one.milliseconds)
        break
      case "stepWall":
        // What ended is over: the sweeper records it before anybody sets the clock back.
        if (one.milliseconds < 0) this.sweep(1000)
        clock.stepWall(one.milliseconds)
        break
    }
  }

  /** Every address and every network of the universe, and every count. */
  compare(): void {
    const { allowlist } = this
    for (const { base, bits } of UNIVERSE) {
      for (let host = 0; host < 256; host++) {
        const client = member({ base }, host)
        const expected = this.matches(Network.of(client))
        const context = `${client} ${JSON.stringify(expected)}`
        expect([context, allowlist.allows(client)]).toEqual([context, expected.length > 0])
      }
      for (let hostBits = 0; hostBits <= 8; hostBits++) {
        for (let host = 0; host < 256; host += Math.max(4, 2 ** hostBits)) {
          const asked = network(`${member({ base }, host)}/${bits - hostBits}`)
          const matches = this.matches(asked)
          expect(allowlist.check(asked)).toEqual({ allowed: matches.length > 0, matches })
          const ended = this.ended().find((grant) => grant.network.equals(asked))
          expect(allowlist.endedGrant(asked)).toEqual(ended ?? null)
        }
      }
    }
    expect(allowlist.permanentCount).toBe(this.permanent.all().length)
    expect(allowlist.temporaryCount).toBe(this.temporary.all().length - this.ended().length)
    expect(allowlist.endedGrants(1000).length).toBe(this.ended().length)
  }

  private sweep(most: number): void {
    const ended = this.allowlist.endedGrants(most)
    const expected = this.ended()
    expect(ended.length).toBe(Math.min(most, expected.length))
    for (const grant of ended) {
      expect(expected).toContainEqual(grant)
      this.allowlist.apply({ op: "expire_temp", at: this.clock.wall(), ...grant })
      this.temporary.delete(grant.network)
    }
    expect(this.ended().length).toBe(expected.length - ended.length)
  }

  private matches(asked: Network): Match[] {
    return [
      ...this.permanent
        .covering(asked)
        .map(({ network }) => ({ list: "perm" as const, ip: String(network), expiresAt: null })),
      ...this.temporary
        .covering(asked)
        .filter(({ value }) => this.isAlive(value))
        .map(({ network, value }) => ({
          list: "temp" as const,
          ip: String(network),
          expiresAt: value.expiresAt,
        })),
    ]
  }

  private ended(): Array<{ network: Network; expiresAt: number }> {
    return this.temporary
      .all()
      .filter(({ value }) => !this.isAlive(value))
      .map(({ network, value }) => ({ network, expiresAt: value.expiresAt }))
  }

  private isAlive({
    expiresAt,
    learned,
    left,
  }: {
    expiresAt: number
    learned: number
    left: number
  }): boolean {
    return this.clock.wall() < expiresAt && this.clock.mono() - learned < left
  }
}

function member({ base }: { readonly base: Address }, host: number): Address {
  return base.family === 4
    ? Address.ipv4(base.word0 + host)
    : Address.ipv6(base.word0, base.word1, base.word2, host)
}

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((first) =>
    permutations(items.filter((item) => item !== first)).map((rest) => [first, ...rest]),
  )
}
