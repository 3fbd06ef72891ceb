// Changes of the lists in the log: what a line says of each, and what is said where there are too many for it.

import { afterEach, beforeEach, expect, test } from "bun:test"
import { logChanges, logImport } from "../../src/app/change-log.ts"
import type { AuditAction, AuditRecord } from "../../src/core/audit.ts"
import type { FeedEvent } from "../../src/core/feed.ts"
import { ChangeFeed } from "../../src/gate/change-feed.ts"
import { LevelledLog } from "../../src/log/log.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { address } from "../support/parsed.ts"

/** More than a reader of the feed may be behind. */
const TOO_MANY = 10_001

const RECORD: AuditRecord = {
  at: 0,
  action: "add_perm",
  ip: "192.0.2.1",
  ttlSeconds: null,
  reason: null,
  actor: null,
}

let feed: ChangeFeed
let lines: string[]
let log: LevelledLog
let following: Promise<void>

beforeEach(() => {
  feed = new ChangeFeed()
  lines = []
  const write = (line: string) => lines.push(line)
  log = new LevelledLog({ format: "json", level: "debug", write, clock: new FakeClock() })
  following = logChanges(feed, log)
})

afterEach(async () => {
  feed.end()
  await following
})

function change(record: Partial<AuditRecord> = {}, token?: string): FeedEvent {
  return { kind: "change", id: 1, record: { ...RECORD, ...record }, token }
}

/** Without the time, which is that of the clock. */
const records = () => lines.map((line): Record<string, unknown> => ({ ...JSON.parse(line), time: undefined }))

/** Lets everything else have a turn. */
const aTurn = () => new Promise((resolve) => setImmediate(resolve))

test.each<readonly [AuditAction, event: string, msg: string, list: string]>([
  ["add_temp", "list.add", "allowed", "temp"],
  ["add_perm", "list.add", "allowed", "perm"],
  ["delete_temp", "list.remove", "removed", "temp"],
  ["delete_perm", "list.remove", "removed", "perm"],
  ["expire_temp", "list.expire", "ended", "temp"],
])("%s is one line with all that the audit log has of it", async (action, event, msg, list) => {
  const rest = { ttlSeconds: 60, reason: "on call", actor: "198.51.100.7" }
  feed.publish([change({ action, ...rest }, "ci"), change({ action }), change({ action, reason: "" })])
  await aTurn()
  const line = { level: "notice", msg, event, ip: "192.0.2.1", list }
  expect(records()).toEqual([
    { ...line, ttl_seconds: 60, reason: "on call", client_ip: "198.51.100.7", token: "ci" },
    line,
    line,
  ])
})

test("what is no change of one entry is no line", async () => {
  feed.publish([
    { kind: "reload", id: 2 },
    { kind: "at", id: 3 },
  ])
  await aTurn()
  expect(lines).toEqual([])
})

test("the end of the feed is no loss", async () => {
  feed.end()
  await following
  expect(lines).toEqual([])
})

test("too many at once are told as that, once, and those that follow one by one", async () => {
  feed.publish(Array.from({ length: TOO_MANY }, () => change()))
  await aTurn()
  feed.publish([change({ ip: "192.0.2.2" })])
  await aTurn()
  expect(records()).toMatchObject([
    { level: "warn", event: "list.lost" },
    { level: "notice", event: "list.add", ip: "192.0.2.2" },
  ])
})

test("between the lines of many changes decisions have their turn", async () => {
  feed.publish(Array.from({ length: 100 }, () => change()))
  const steps = new Set<number>()
  for (let turn = 0; turn < 100; turn++) {
    await aTurn()
    steps.add(lines.length)
  }
  expect(steps.size).toBeGreaterThan(4)
})

test("an import is one line with its counts, and with who asked for it", () => {
  const counts = { added: 1, replaced: 2, removed: 3, unchanged: 4 }
  const others = { duplicates: 5, ended: 6 }
  logImport({ ...counts, ...others }, address("198.51.100.7"), log)
  logImport({ ...counts, ...others }, null, log)
  const line = { level: "notice", msg: "imported", event: "list.import", ...counts }
  expect(records()).toEqual([{ ...line, client_ip: "198.51.100.7" }, line])
})
