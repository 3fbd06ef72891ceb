// Deadlines: what is due, whatever was set, moved and deleted in whatever order.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Deadlines } from "../../src/core/deadlines.ts"

function dueAt(deadlines: Deadlines, now: number): number[] {
  const places: number[] = []
  deadlines.eachDue(now, (place) => places.push(place) > 0)
  return places.toSorted((a, b) => a - b)
}

test("is what a plain map says, after random steps", () => {
  const place = fc.nat({ max: 40 })
  const deadline = fc.oneof(
    fc.nat({ max: 12 }),
    fc.constantFrom(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY),
  )
  const step = fc.oneof(
    fc.record({ place, deadline }),
    fc.record({ place, deadline }),
    fc.record({ place, deadline: fc.constant(null) }),
  )
  fc.assert(
    fc.property(fc.array(step, { minLength: 60, maxLength: 200 }), fc.nat({ max: 12 }), (steps, now) => {
      const deadlines = new Deadlines()
      const model = new Map<number, number>()
      for (const { place, deadline } of steps) {
        if (deadline === null) {
          deadlines.delete(place)
          model.delete(place)
        } else {
          deadlines.set(place, deadline)
          model.set(place, deadline)
        }
        const due = [...model].filter(([, at]) => at <= now).map(([place]) => place)
        expect(dueAt(deadlines, now)).toEqual(due.toSorted((a, b) => a - b))
        expect(deadlines.isAnyDue(now)).toBe(due.length > 0)
        expect(deadlines.get(place)).toBe(model.get(place) ?? Number.NEGATIVE_INFINITY)
      }
    }),
    { numRuns: 300 },
  )
})

describe("what is due", () => {
  test("is found without a look at what is not", () => {
    const deadlines = new Deadlines()
    for (let place = 0; place < 100_000; place++) deadlines.set(place, 1_000 + ((place * 7_919) % 100_000))
    let looks = 0
    const counted = new Proxy(deadlines, {
      get: (target, name) => {
        if (name === "at") looks++
        return Reflect.get(target, name)
      },
    })
    expect(dueAt(counted, 1_049)).toHaveLength(50)
    expect(looks).toBeLessThan(200)
  })

  test("can be asked for in part", () => {
    const deadlines = new Deadlines()
    for (let place = 0; place < 1_000; place++) deadlines.set(place, place)
    let seen = 0
    deadlines.eachDue(999, () => ++seen < 10)
    expect(seen).toBe(10)
  })

  test("holds what is no number", () => {
    const deadlines = new Deadlines()
    deadlines.set(0, 5)
    deadlines.set(1, Number.NaN)
    deadlines.set(2, 4)
    expect([deadlines.get(1), deadlines.isAnyDue(0)]).toEqual([Number.NEGATIVE_INFINITY, true])
    expect([dueAt(deadlines, 0), dueAt(deadlines, 4), dueAt(deadlines, 5)]).toEqual([[1], [1, 2], [0, 1, 2]])
  })
})
