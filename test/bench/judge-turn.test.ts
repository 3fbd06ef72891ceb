// Which turns of the load fail the bench: those in which an answer was missing, or was another one.

import { expect, test } from "bun:test"
import { judgeTurn } from "../../scripts/benches/judge-turn.ts"
import { ratioOf } from "../../scripts/benches/statistics.ts"

const RIGHT = {
  requests: 100,
  refused: 0,
  broken: 0,
  unexpected: 0,
  occupied: 0.9,
  busy: 0.9,
  perSecond: 100,
  cpuMicros: 7,
}

test("a turn is right when every request got the answer that was expected", () => {
  expect(judgeTurn(RIGHT, 204)).toBeNull()
  expect(judgeTurn({ ...RIGHT, refused: 100 }, 401)).toBeNull()
})

test.each([
  ["nobody answers", { requests: 0, occupied: 0 }, 204, "no request was answered"],
  ["somebody is refused", { refused: 1 }, 204, "1 refused"],
  ["a stranger is let in", { refused: 99 }, 401, "99 refused"],
  ["a connection breaks", { broken: 2 }, 204, "2 connections in trouble"],
  ["a status is another one", { unexpected: 3 }, 204, "3 without the status 204"],
  ["most connections wait in vain", { occupied: 0.06 }, 204, "94 % of the time of the connections"],
] as const)("a turn is wrong when %s", (_, fault, status, told) => {
  expect(judgeTurn({ ...RIGHT, ...fault }, status)).toContain(told)
})

test("a round in which somebody answered nothing has no ratio; where no round has one, there is none", () => {
  const whole = { perSecond: 100, cpuMicros: 8 }
  const half = { perSecond: 50, cpuMicros: 16 }
  const none = { perSecond: 0, cpuMicros: Number.POSITIVE_INFINITY }
  expect(ratioOf([half, none, half], [whole, whole, whole])).toMatchObject({ requests: 0.5, cpu: 0.5 })
  expect(ratioOf([half, half], [none, whole])).toMatchObject({ requests: 0.5, cpu: 0.5 })
  expect(ratioOf([none], [whole])).toMatchObject({ value: Number.NaN })
})
