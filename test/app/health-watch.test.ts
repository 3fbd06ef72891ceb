// What the log is told of the database: that it has failed, and that it works again, each once.

import { beforeEach, expect, test } from "bun:test"
import { HealthWatch } from "../../src/app/health-watch.ts"
import { Health } from "../../src/gate/health.ts"
import type { Log } from "../../src/log/log.ts"

let works: boolean
let asked: string[]
let events: unknown[]
let health: Health
let watch: HealthWatch

beforeEach(() => {
  works = true
  asked = []
  events = []
  health = new Health()
  const answer = (question: string) => async () => {
    asked.push(question)
    if (!works) throw new Error("the disk is full")
  }
  const tell = (_: string, fields?: Readonly<Record<string, unknown>>) => void events.push(fields?.event)
  const log = { notice: tell, error: tell } as unknown as Log
  watch = new HealthWatch({ ping: answer("ping"), probe: answer("probe") }, health, log)
})

const failingChange = () => health.watchWrite(Promise.reject(new Error("the disk is full"))).catch(() => {})

test("nothing, as long as all is well", async () => {
  await watch.look()
  await watch.look()
  expect({ asked, events }).toEqual({ asked: ["ping", "ping"], events: [] })
})

test("a failure that lasts is told once, and its end once", async () => {
  works = false
  for (let i = 0; i < 3; i++) await watch.look()
  expect(events).toEqual(["db.error"])
  works = true
  for (let i = 0; i < 3; i++) await watch.look()
  expect(events).toEqual(["db.error", "db.recovered"])
})

// The log has told of the change that failed, and whoever reads it must learn that it is over.
test("the end of a failure that was over before anybody looked", async () => {
  await failingChange()
  await watch.look()
  await watch.look()
  expect({ asked, events, ok: health.ok }).toEqual({
    asked: ["probe", "ping"],
    events: ["db.recovered"],
    ok: true,
  })
})

test("a question that has no answer yet is not asked again", async () => {
  const first = watch.look()
  await watch.look()
  await first
  expect(asked).toEqual(["ping"])
})
