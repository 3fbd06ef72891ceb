// TemporaryGrants: the exact end of each grant on two clocks, and places that are used again.

import { describe, expect, test } from "bun:test"
import { Address } from "../../src/core/address.ts"
import { Network } from "../../src/core/network.ts"
import { TemporaryGrants } from "../../src/core/temporary-grants.ts"
import { fault } from "../faults/fault.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { seeded } from "../support/prng.ts"

const HOUR = 3_600_000
const TEN_YEARS = 315_360_000_000

function setup() {
  const clock = new FakeClock()
  const grants = new TemporaryGrants(clock)
  let made = 0
  /** A grant for a network of its own, that ends after so long. */
  const add = (lifetime: number) => grants.add(Network.of(Address.ipv4(made++)), clock.wall() + lifetime)
  return { clock, grants, add }
}

describe(
  fault(
    "C-01 C-02 C-06",
    "lifetimes from a millisecond to ten years, with a wall clock that is set back, set forward, and wrong",
    "each ends at its promised time or after its lifetime, whichever is first",
  ),
  () => {
    test.each([1, 1000, HOUR, 2 ** 31 - 1, 2 ** 31, TEN_YEARS])("after %d ms is exact", (lifetime) => {
      const { clock, grants, add } = setup()
      const place = add(lifetime)
      const expiresAt = clock.wall() + lifetime
      expect(grants.expiresAt(place)).toBe(expiresAt)
      clock.advance(lifetime - 1)
      expect([grants.isActive(place), grants.activeCount(), grants.ended(9).length]).toEqual([true, 1, 0])
      clock.advance(1)
      expect([grants.isActive(place), grants.activeCount(), grants.ended(9).length]).toEqual([false, 0, 1])
      clock.advance(1)
      expect([grants.isActive(place), grants.activeCount(), grants.ended(9).length]).toEqual([false, 0, 1])
      expect(grants.ended(9)[0]?.expiresAt).toBe(expiresAt)
    })

    test.each([0, -1, -HOUR, Number.NaN, Number.NEGATIVE_INFINITY])(
      "a grant that has %p ms left when it is learned never lets in",
      (lifetime) => {
        const { clock, grants, add } = setup()
        const place = add(lifetime)
        expect(grants.isActive(place)).toBe(false)
        clock.stepWall(-2 * HOUR)
        expect(grants.isActive(place)).toBe(false)
      },
    )

    test("where many have ended their number is believed for a second, and what is recorded or added counts at once", () => {
      const { clock, grants, add } = setup()
      const many = Array.from({ length: 10_000 }, () => add(1))
      add(500)
      add(HOUR)
      clock.advance(1)
      expect(grants.activeCount()).toBe(2)
      clock.advance(500)
      expect(grants.activeCount()).toBe(2)
      grants.remove(many.pop() as number)
      add(HOUR)
      expect(grants.activeCount()).toBe(3)
      clock.advance(500)
      expect(grants.activeCount()).toBe(2)
      for (const place of many) grants.remove(place)
      expect(grants.activeCount()).toBe(2)
      clock.advance(HOUR)
      expect(grants.activeCount()).toBe(0)
    })

    test("more that are recorded than were counted make the number of the others no larger", () => {
      const { clock, grants, add } = setup()
      const places = Array.from({ length: 10_000 }, () => add(1))
      places.push(add(2), add(2))
      add(HOUR)
      clock.advance(1)
      expect(grants.activeCount()).toBe(3)
      clock.advance(1)
      for (const place of places) grants.remove(place)
      expect(grants.activeCount()).toBe(1)
    })

    test("a wall clock that is set back lengthens nothing", () => {
      const { clock, grants, add } = setup()
      const place = add(HOUR)
      clock.stepWall(-10 * HOUR)
      clock.advance(HOUR - 1)
      expect([grants.isActive(place), grants.activeCount()]).toEqual([true, 1])
      clock.advance(1)
      expect([grants.isActive(place), grants.activeCount(), grants.ended(9).length]).toEqual([false, 0, 1])
    })

    test("one that was seen to have ended never becomes active again, though the wall clock is set back after that", () => {
      const { clock, grants, add } = setup()
      const [seen, unseen] = [add(HOUR), add(2 * HOUR)]
      clock.stepWall(HOUR)
      expect(grants.ended(9)).toHaveLength(1)
      clock.stepWall(-HOUR)
      expect([grants.isActive(seen), grants.isActive(unseen), grants.activeCount()]).toEqual([false, true, 1])
      expect(grants.ended(9).map(({ network }) => String(network))).toEqual(["0.0.0.0"])
    })

    test("the distance is counted from the moment at which the grant was learned, also if it is taken in later", () => {
      const { clock, grants } = setup()
      const learnedAt = grants.now()
      clock.advance(1000)
      clock.stepWall(-HOUR)
      const place = grants.add(Network.of(Address.ipv4(1)), learnedAt.wall + HOUR, learnedAt)
      clock.advance(HOUR - 1001)
      expect(grants.isActive(place)).toBe(true)
      clock.advance(1)
      expect(grants.isActive(place)).toBe(false)
    })

    test("a wall clock that is set back in small steps lengthens nothing", () => {
      const { clock, grants, add } = setup()
      const place = add(HOUR)
      for (let i = 0; i < 60; i++) {
        expect(grants.isActive(place)).toBe(true)
        clock.advance(60_000)
        clock.stepWall(-59_000)
      }
      expect(grants.isActive(place)).toBe(false)
    })

    test("a wall clock that is set forward, or a suspended machine, ends a grant at its promised time", () => {
      const { clock, grants, add } = setup()
      const place = add(HOUR)
      clock.stepWall(HOUR - 1)
      expect([grants.isActive(place), grants.activeCount()]).toEqual([true, 1])
      clock.stepWall(1)
      expect([grants.isActive(place), grants.activeCount(), grants.ended(9).length]).toEqual([false, 0, 1])
    })

    test.each<readonly [string, (grants: TemporaryGrants, place: number) => unknown]>([
      ["a decision about another one", (grants, place) => grants.isActive(place)],
      ["a record of the first ends", (grants) => grants.ended(5)],
      ["their number", (grants) => grants.activeCount()],
      ["an addition", (grants) => grants.now()],
    ])(
      "none returns that had ended by a clock that is set right again, once that was seen by %s",
      (_, look) => {
        const { clock, grants, add } = setup()
        const later = add(3 * HOUR)
        const places = Array.from({ length: 1_000 }, () => add(HOUR))
        clock.stepWall(2 * HOUR)
        look(grants, later)
        clock.stepWall(-2 * HOUR)
        expect(places.filter((place) => grants.isActive(place))).toEqual([])
        expect([grants.isActive(later), grants.activeCount()]).toEqual([true, 1])
        expect(grants.ended(2_000).length).toBe(1_000)
        // What is granted from then on has nothing to do with it.
        const another = add(HOUR)
        expect([grants.isActive(another), grants.activeCount()]).toEqual([true, 2])
      },
    )

    test("a grant of a moment when the wall clock was wrong ends after its lifetime all the same", () => {
      const { clock, grants, add } = setup()
      clock.stepWall(-5 * HOUR)
      const place = add(HOUR)
      clock.stepWall(5 * HOUR)
      expect(grants.isActive(place)).toBe(false)
      const other = add(HOUR)
      clock.stepWall(-5 * HOUR)
      clock.advance(HOUR)
      expect(grants.isActive(other)).toBe(false)
    })
  },
)

describe("places", () => {
  test("a removed place is used again, with the new deadline alone", () => {
    const { clock, grants, add } = setup()
    const first = add(HOUR)
    const second = add(3 * HOUR)
    expect(second).not.toBe(first)
    grants.remove(first)
    expect(grants.activeCount()).toBe(1)
    const third = add(2 * HOUR)
    expect(third).toBe(first)
    clock.advance(HOUR)
    expect([grants.isActive(third), grants.isActive(second), grants.activeCount()]).toEqual([true, true, 2])
    clock.advance(HOUR)
    expect([grants.isActive(third), grants.isActive(second), grants.activeCount()]).toEqual([false, true, 1])
    expect(grants.ended(9).map(({ network }) => String(network))).toEqual(["0.0.0.2"])
  })

  test(
    "no two grants that are held share a place, through growth and reuse",
    seeded((random) => {
      const { clock, grants } = setup()
      const held = new Map<number, { network: Network; expiresAt: number }>()
      for (let step = 0; step < 4000; step++) {
        if (held.size > 0 && random.below(10) < (step < 2000 ? 3 : 6)) {
          const place = random.pick([...held.keys()])
          grants.remove(place)
          held.delete(place)
        } else {
          const grant = {
            network: Network.of(Address.ipv4(step)),
            expiresAt: clock.wall() + 1 + random.below(HOUR),
          }
          const place = grants.add(grant.network, grant.expiresAt)
          expect(held.has(place)).toBe(false)
          held.set(place, grant)
        }
      }
      expect(held.size).toBeGreaterThan(100)
      for (const [place, grant] of held) expect(grants.expiresAt(place)).toBe(grant.expiresAt)
      for (let minute = 0; minute < 60; minute++) {
        clock.advance(60_000)
        const alive = [...held.values()].filter(({ expiresAt }) => clock.wall() < expiresAt).length
        expect(grants.activeCount()).toBe(alive)
        const ended = grants.ended(10_000)
        expect(ended.length).toBe(held.size - alive)
        for (const [place, grant] of held) expect(grants.isActive(place)).toBe(clock.wall() < grant.expiresAt)
        // Some are removed now, the others stay for a later minute.
        for (const [place, grant] of [...held]) {
          if (clock.wall() < grant.expiresAt || random.below(2) === 0) continue
          expect(ended.map(({ network }) => String(network))).toContain(String(grant.network))
          grants.remove(place)
          held.delete(place)
        }
      }
      for (const place of held.keys()) grants.remove(place)
      expect([grants.activeCount(), grants.ended(9)]).toEqual([0, []])
    }),
  )
})

describe("ended grants", () => {
  test("are given out up to the limit, again and again until they are removed", () => {
    const { clock, grants, add } = setup()
    const places = Array.from({ length: 50 }, (_, i) => add(1000 + i))
    expect(grants.ended(10)).toEqual([])
    clock.advance(1024)
    expect([1, 10, 24, 25, 26, 1000].map((most) => grants.ended(most).length)).toEqual([
      1, 10, 24, 25, 25, 25,
    ])
    expect(grants.activeCount()).toBe(25)
    const seen = new Set<string>()
    for (let round = 0; round < 5; round++) {
      const ended = grants.ended(5)
      expect(ended.length).toBe(5)
      for (const { network, expiresAt } of ended) {
        expect(expiresAt).toBeLessThanOrEqual(clock.wall())
        seen.add(String(network))
        grants.remove(places[network.address.word0] as number)
      }
    }
    expect(seen.size).toBe(25)
    expect([grants.ended(5), grants.activeCount()]).toEqual([[], 25])
    clock.advance(HOUR)
    expect([grants.ended(100).length, grants.activeCount()]).toEqual([25, 0])
  })

  test("an early grant that comes late is not overlooked", () => {
    const { clock, grants, add } = setup()
    add(10 * HOUR)
    expect(grants.ended(9)).toEqual([])
    const early = add(HOUR)
    clock.advance(HOUR)
    expect(grants.ended(9).map(({ network }) => String(network))).toEqual(["0.0.0.1"])
    grants.remove(early)
    expect(grants.ended(9)).toEqual([])
    add(2 * HOUR)
    clock.advance(2 * HOUR)
    expect(grants.ended(9).map(({ network }) => String(network))).toEqual(["0.0.0.2"])
    clock.advance(7 * HOUR)
    const names = grants.ended(9).map(({ network }) => String(network))
    expect(names.toSorted()).toEqual(["0.0.0.0", "0.0.0.2"])
  })

  test("one that only the monotonic clock has ended is found", () => {
    const { clock, grants, add } = setup()
    add(HOUR)
    add(5 * HOUR)
    clock.stepWall(-100 * HOUR)
    expect(grants.ended(9)).toEqual([])
    clock.advance(HOUR)
    expect([grants.ended(9).length, grants.activeCount()]).toEqual([1, 1])
    clock.advance(4 * HOUR)
    expect([grants.ended(9).length, grants.activeCount()]).toEqual([2, 0])
  })

  test("one behind the limit is found later, although the wall clock was set forward and back", () => {
    const { clock, grants, add } = setup()
    const early = add(5 * HOUR)
    add(10 * HOUR)
    clock.stepWall(10 * HOUR)
    expect(grants.ended(1).map(({ network }) => String(network))).toEqual(["0.0.0.0"])
    grants.remove(early)
    clock.stepWall(-10 * HOUR)
    clock.advance(10 * HOUR)
    expect(grants.ended(9).map(({ network }) => String(network))).toEqual(["0.0.0.1"])
    expect(grants.activeCount()).toBe(0)
  })

  test("none that was removed is given out or counted", () => {
    const { clock, grants, add } = setup()
    const [first, second] = [add(HOUR), add(HOUR)]
    grants.remove(first)
    clock.advance(HOUR)
    expect([grants.ended(9).length, grants.activeCount()]).toEqual([1, 0])
    grants.remove(second)
    expect([grants.ended(9).length, grants.activeCount()]).toEqual([0, 0])
  })
})
