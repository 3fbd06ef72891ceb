// What the log is told of the database: that it has failed, and that it works again, each once.

import { afterEach, beforeEach, expect, jest, test } from "bun:test"
import { HealthWatch } from "../../src/app/health-watch.ts"
import { Health } from "../../src/gate/health.ts"
import { LevelledLog } from "../../src/log/log.ts"
import { FakeClock } from "../support/fake-clock.ts"

let works: boolean
let asked: string[]
let lines: string[]
let health: Health
let watch: HealthWatch

beforeEach(() => {
  works = true
  asked = []
  lines = []
  health = new Health()
  const answer = (question: string) => async () => {
    asked.push(question)
    if (!works) throw new Error("the disk is full")
  }
  const write = (line: string) => lines.push(line)
  const log = new LevelledLog({ format: "json", level: "debug", write, clock: new FakeClock() })
  watch = new HealthWatch({ ping: answer("ping"), probe: answer("probe") }, health, log)
})

afterEach(() => {
  jest.useRealTimers()
})

const records = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)
const events = () => records().map(({ event }) => event)
const failingChange = () => health.watchWrite(Promise.reject(new Error("the disk is full"))).catch(() => {})

test("nothing, as long as all is well", async () => {
  await watch.look()
  await watch.look()
  expect({ asked, events: events() }).toEqual({ asked: ["ping", "ping"], events: [] })
})

test("a failure that lasts is told once, and its end once", async () => {
  works = false
  for (let i = 0; i < 3; i++) await watch.look()
  expect(events()).toEqual(["db.error"])
  works = true
  for (let i = 0; i < 3; i++) await watch.look()
  expect(events()).toEqual(["db.error", "db.recovered"])
})

test("a failure is an error with its cause, and its end a notice", async () => {
  works = false
  await watch.look()
  works = true
  await watch.look()
  expect(records()).toMatchObject([
    { level: "error", event: "db.error", cause: expect.stringContaining("the disk is full") },
    { level: "notice", event: "db.recovered" },
  ])
})

// The log has told of the change that failed, and whoever reads it must learn that it is over.
test("the end of a failure that was over before anybody looked", async () => {
  await failingChange()
  await watch.look()
  await watch.look()
  expect({ asked, events: events(), ok: health.ok }).toEqual({
    asked: ["probe", "ping"],
    events: ["db.recovered"],
    ok: true,
  })
})

test("the end of a failure that a change has shown before the next look", async () => {
  await failingChange()
  works = false
  await watch.look()
  works = true
  await health.watchWrite(Promise.resolve())
  await health.watchRead(Promise.resolve())
  expect(health.ok).toBe(true)
  await watch.look()
  expect(events()).toEqual(["db.error", "db.recovered"])
})

test("a question that has no answer yet is not asked again", async () => {
  const first = watch.look()
  await watch.look()
  await first
  expect(asked).toEqual(["ping"])
})

test("it asks again and again from start to stop", async () => {
  jest.useFakeTimers()
  watch.start(5_000)
  jest.advanceTimersByTime(4_999)
  expect(asked).toEqual([])
  for (let round = 1; round <= 3; round++) {
    jest.advanceTimersByTime(round === 1 ? 1 : 5_000)
    expect(asked.length).toBe(round)
    // Its turn comes behind that of the answer.
    for (let i = 0; i < 10; i++) await Promise.resolve()
  }
  watch.stop()
  jest.advanceTimersByTime(60_000)
  expect(asked.length).toBe(3)
  expect(jest.getTimerCount()).toBe(0)
})
