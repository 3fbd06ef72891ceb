// Refused clients in the log: how seldom a line comes, whatever comes in, and that its numbers add up.

import { afterEach, describe, expect, jest, test } from "bun:test"
import { RefusalLog } from "../../src/app/refusal-log.ts"
import { Address } from "../../src/core/address.ts"
import { DecisionCounters } from "../../src/core/decision-counters.ts"
import { RefusedClients } from "../../src/core/refused-clients.ts"
import { LevelledLog } from "../../src/log/log.ts"
import { FakeClock } from "../support/fake-clock.ts"

afterEach(() => {
  jest.useRealTimers()
})

function bench(enabled = true) {
  const clock = new FakeClock()
  const counters = new DecisionCounters()
  const refused = new RefusedClients(clock)
  const lines: string[] = []
  const write = (line: string) => lines.push(line)
  const log = new LevelledLog({ format: "json", level: "info", write, clock })
  const refusals = new RefusalLog(counters, refused, clock, log, enabled)
  const refuse = (text: string | null) => {
    counters.denied++
    const address = text === null ? null : Address.parse(text)
    if (address === null) counters.unidentified++
    else refused.see(address)
  }
  const records = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { clock, refusals, refuse, lines, records }
}

describe("the first refusal after a silence", () => {
  test("is told at the next look, and the ones after it a minute later", () => {
    const { clock, refusals, refuse, records } = bench()
    refusals.look()
    expect(records()).toEqual([])
    refuse("198.51.100.1")
    refusals.look()
    expect(records()).toMatchObject([
      {
        level: "info",
        event: "auth.refused",
        requests: 1,
        without_address: 0,
        clients: 1,
        latest: ["198.51.100.1"],
      },
    ])
    for (let second = 1; second < 60; second++) {
      clock.advance(1_000)
      refuse(second % 2 === 0 ? "198.51.100.2" : null)
      refusals.look()
    }
    expect(records().length).toBe(1)
    clock.advance(1_000)
    refusals.look()
    expect(records()[1]).toMatchObject({ requests: 59, without_address: 30, latest: ["198.51.100.2"] })
  })
})

test("a line has the numbers since the one before it, and of its clients the last five, the latest first", () => {
  const { clock, refusals, refuse, records } = bench()
  for (const text of ["198.51.100.1", null, null]) refuse(text)
  refusals.look()
  for (let i = 2; i < 9; i++) {
    clock.advance(10_000)
    refuse(`198.51.100.${i}`)
  }
  refuse(null)
  refusals.look()
  expect(records()[1]).toMatchObject({
    requests: 8,
    without_address: 1,
    clients: 7,
    latest: ["198.51.100.8", "198.51.100.7", "198.51.100.6", "198.51.100.5", "198.51.100.4"],
  })
})

test("it looks every second from start to stop", () => {
  const { refusals, refuse, records } = bench()
  jest.useFakeTimers()
  refusals.start()
  refusals.start()
  refuse("198.51.100.1")
  jest.advanceTimersByTime(999)
  expect(records()).toEqual([])
  jest.advanceTimersByTime(1)
  expect(records()).toMatchObject([{ requests: 1 }])
  refusals.stop()
  expect(jest.getTimerCount()).toBe(0)
})

test("a million refusals of as many clients in an hour are 61 lines, and every one is counted", () => {
  const { clock, refusals, refuse, lines, records } = bench()
  for (let second = 0; second < 3_600; second++) {
    for (let i = 0; i < 278; i++) refuse(`10.${second & 255}.${second >> 8}.${i & 255}`)
    clock.advance(1_000)
    refusals.look()
  }
  refusals.stop()
  const total = records().reduce((sum, { requests }) => sum + Number(requests), 0)
  expect(total).toBe(3_600 * 278)
  expect(lines.length).toBeLessThanOrEqual(61)
  expect(lines.join("").length).toBeLessThan(1_000_000)
  for (const { latest } of records()) expect((latest as string[]).length).toBeLessThanOrEqual(5)
})

test("the end tells what has not been told yet, and nothing if there is nothing", () => {
  const { refusals, refuse, records } = bench()
  refusals.stop()
  expect(records()).toEqual([])
  refuse("198.51.100.1")
  refusals.look()
  refuse("198.51.100.1")
  refusals.stop()
  expect(records().map(({ requests }) => requests)).toEqual([1, 1])
})

test("switched off it tells nothing, and switched on nothing of before", () => {
  const { clock, refusals, refuse, records } = bench(false)
  refuse("198.51.100.1")
  refusals.look()
  refusals.enable(true)
  clock.advance(60_000)
  refusals.look()
  expect(records()).toEqual([])
  clock.advance(1)
  refuse("198.51.100.2")
  refusals.look()
  expect(records()).toMatchObject([{ requests: 1, latest: ["198.51.100.2"] }])
})
