// What the server writes is what its client reads, and neither takes what the other would not send.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { AUDIT_ACTIONS, type AuditRecord } from "../../src/core/audit.ts"
import { LATEST_TIME } from "../../src/core/clock.ts"
import type { TemporaryEntry } from "../../src/core/entry.ts"
import { GateError } from "../../src/core/errors.ts"
import type { FeedEvent } from "../../src/core/feed.ts"
import type { Match, RefusedEntry } from "../../src/core/gate.ts"
import type { Status } from "../../src/core/status.ts"
import * as answers from "../../src/wire/answers.ts"
import { formatEvent, parseEvents } from "../../src/wire/event-stream.ts"
import * as requests from "../../src/wire/requests.ts"
import { codeOf, statusOf } from "../../src/wire/statuses.ts"
import { ipv4Spelling, ipv6Spelling } from "../support/address-text.ts"
import { network } from "../support/parsed.ts"

const ip = fc.oneof(ipv4Spelling, ipv6Spelling).map(({ text }) => network(text).toString())
const time = fc.integer({ min: 0, max: LATEST_TIME })
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
const count = fc.nat()
const reason = fc.string({ unit: "grapheme", maxLength: 20 })
const listName = fc.constantFrom("perm" as const, "temp" as const)

const auditRecord: fc.Arbitrary<AuditRecord> = fc.record({
  at: time,
  action: fc.constantFrom(...AUDIT_ACTIONS),
  ip: orNull(ip),
  ttlSeconds: orNull(fc.integer({ min: 1, max: 315_360_000 })),
  reason: orNull(reason),
  actor: orNull(ip),
})

const match: fc.Arbitrary<Match> = fc.record({ list: listName, ip, expiresAt: orNull(time) })

const temporaryEntry: fc.Arbitrary<TemporaryEntry> = fc.record({ ip, reason, expiresAt: time })

const status: fc.Arbitrary<Status> = fc.record({
  status: fc.constantFrom("ok" as const, "degraded" as const),
  uptime: fc.constantFrom("0s", "3d4h12m5s"),
  permanentCount: count,
  temporaryCount: count,
  databaseOk: fc.boolean(),
})

const refused: fc.Arbitrary<RefusedEntry> = fc.record({
  ip,
  count,
  firstAt: time,
  lastAt: time,
  lastEntry: orNull(
    fc.record({
      list: listName,
      ip,
      endedAt: time,
      how: fc.constantFrom("expired" as const, "removed" as const),
    }),
  ),
})

const over = (json: unknown): unknown => JSON.parse(JSON.stringify(json))

/** Runs a value through the server's half, the wire and the client's half. */
function roundTrip<T>(
  values: fc.Arbitrary<T>,
  write: (value: T) => unknown,
  read: (json: unknown) => T,
): void {
  fc.assert(
    fc.property(values, (value) => expect(read(over(write(value)))).toEqual(value)),
    { numRuns: 300 },
  )
}

describe("round trips", () => {
  test("permanent entries", () => {
    roundTrip(fc.record({ ip }), answers.permanentEntryToJson, answers.permanentEntryFromJson)
  })

  test("temporary entries", () => {
    roundTrip(temporaryEntry, answers.temporaryEntryToJson, answers.temporaryEntryFromJson)
  })

  test("audit records", () => {
    roundTrip(auditRecord, answers.auditRecordToJson, answers.auditRecordFromJson)
  })

  test("the status", () => {
    roundTrip(status, answers.statusToJson, answers.statusFromJson)
  })

  test("coverage", () => {
    roundTrip(
      fc.array(match, { maxLength: 4 }).map((matches) => ({ allowed: matches.length > 0, matches })),
      (coverage) => ({
        ...answers.coverageToJson(network("192.0.2.7"), coverage),
        matches: coverage.matches.map(answers.matchToJson),
      }),
      answers.coverageFromJson,
    )
  })

  test("what an import did", () => {
    const counts = {
      added: count,
      replaced: count,
      unchanged: count,
      removed: count,
      duplicates: count,
      ended: count,
    }
    roundTrip(fc.record(counts), answers.importCountsToJson, answers.importCountsFromJson)
  })

  test("refused clients", () => {
    roundTrip(refused, answers.refusedEntryToJson, answers.refusedEntryFromJson)
  })

  test("counts of decisions", () => {
    const counts = fc.record({ allowed: count, denied: count, unidentified: count })
    roundTrip(counts, answers.decisionCountsToJson, answers.decisionCountsFromJson)
  })

  test("events, in whatever pieces they come", async () => {
    const event: fc.Arbitrary<FeedEvent> = fc.oneof(
      fc.record({ kind: fc.constant("change" as const), id: fc.nat(), record: auditRecord }),
      fc.record({ kind: fc.constantFrom("reload" as const, "at" as const), id: fc.nat() }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 5 }),
        fc.integer({ min: 1, max: 40 }),
        async (events, size) => {
          const bytes = new TextEncoder().encode(events.map(formatEvent).join(""))
          async function* pieces() {
            for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
          }
          expect(await Array.fromAsync(parseEvents(pieces()))).toEqual(events)
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe("events", () => {
  const record: AuditRecord = {
    at: 0,
    action: "add_perm",
    ip: "192.0.2.7",
    ttlSeconds: null,
    reason: null,
    actor: null,
  }
  const parse = (text: string) =>
    Array.fromAsync(
      parseEvents(
        (async function* () {
          yield new TextEncoder().encode(text)
        })(),
      ),
    )

  test("look as the standard for server-sent events wants them", () => {
    expect(formatEvent({ kind: "at", id: 7 })).toBe("id: 7\nevent: at\ndata: {}\n\n")
    expect(formatEvent({ kind: "change", id: 8, record })).toBe(
      `id: 8\nevent: change\ndata: ${JSON.stringify(answers.auditRecordToJson(record))}\n\n`,
    )
  })

  test("of unknown kinds, comments, and what is cut off are skipped", async () => {
    const text =
      ": comment\n\nid: 1\nevent: other\ndata: {}\n\nid: x\nevent: at\ndata: {}\n\nid: 2\nevent: at\ndata: {}\n\nid: 3\nevent: at"
    expect(await parse(text)).toEqual([{ kind: "at", id: 2 }])
  })
})

describe("the client refuses an answer that is none of this server", () => {
  const RECORD = {
    timestamp: "2026-01-01T00:00:00.000Z",
    action: "add_perm",
    ip: "192.0.2.7",
    ttl_seconds: null,
    reason: null,
    api_client_ip: null,
  }
  const STATUS = { status: "ok", uptime: "0s", perm_whitelist_count: 0, temp_whitelist_count: 0, db_ok: true }
  const REFUSED = {
    ip: "192.0.2.7",
    count: 1,
    first_seen: RECORD.timestamp,
    last_seen: RECORD.timestamp,
    last_entry: null,
  }

  const ROWS: ReadonlyArray<
    readonly [name: string, read: (json: unknown) => unknown, json: unknown, field: string]
  > = [
    ["no object", answers.permanentEntryFromJson, null, "ip"],
    ["text", answers.permanentEntryFromJson, "192.0.2.7", "ip"],
    ["the old field", answers.permanentEntryFromJson, { entry: "192.0.2.7" }, "ip"],
    ["a number for text", answers.permanentEntryFromJson, { ip: 5 }, "ip"],
    ["no expires", answers.temporaryEntryFromJson, { ip: "192.0.2.7", reason: "" }, "expires"],
    [
      "a time that is none",
      answers.temporaryEntryFromJson,
      { ip: "192.0.2.7", reason: "", expires: "soon" },
      "time",
    ],
    ["no reason", answers.temporaryEntryFromJson, { ip: "192.0.2.7", expires: RECORD.timestamp }, "reason"],
    ["an unknown action", answers.auditRecordFromJson, { ...RECORD, action: "login" }, "action"],
    ["an action of the prototype", answers.auditRecordFromJson, { ...RECORD, action: "toString" }, "action"],
    ["a lifetime in text", answers.auditRecordFromJson, { ...RECORD, ttl_seconds: "60" }, "ttl_seconds"],
    ["no lifetime", answers.auditRecordFromJson, { ...RECORD, ttl_seconds: undefined }, "ttl_seconds"],
    ["no actor", answers.auditRecordFromJson, { ...RECORD, api_client_ip: undefined }, "api_client_ip"],
    ["db_ok in text", answers.statusFromJson, { ...STATUS, db_ok: "true" }, "db_ok"],
    [
      "a count in text",
      answers.statusFromJson,
      { ...STATUS, perm_whitelist_count: "0" },
      "perm_whitelist_count",
    ],
    ["no uptime", answers.statusFromJson, { ...STATUS, uptime: null }, "uptime"],
    ["another page", answers.statusFromJson, "<html>", "db_ok"],
    ["allowed in text", answers.coverageFromJson, { allowed: "true", matches: [] }, "allowed"],
    ["no matches", answers.coverageFromJson, { allowed: true, matched_by: null }, "list"],
    [
      "an unknown list",
      answers.coverageFromJson,
      { allowed: true, matches: [{ list: "other", ip: "::", expires: null }] },
      "list",
    ],
    ["no counts", answers.importCountsFromJson, {}, "added"],
    ["no counters", answers.decisionCountsFromJson, { allowed: 1 }, "denied"],
    [
      "an unknown way to end",
      answers.refusedEntryFromJson,
      { ...REFUSED, last_entry: { how: "vanished" } },
      "how",
    ],
    ["an object for a list", answers.list, {}, "list"],
    ["null for a list", answers.list, null, "list"],
  ]

  test.each(ROWS)("%s", (_name, read, json, field) => {
    let error: unknown
    try {
      read(json)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(GateError)
    const { code, message } = error as GateError
    expect([code, message]).toEqual([
      "failed",
      `the server's answer has no valid "${field}": is it an ipgate of another version?`,
    ])
  })

  test("and takes one with more in it", () => {
    expect(answers.permanentEntryFromJson({ ip: "192.0.2.7", note: 1 })).toEqual({ ip: "192.0.2.7" })
    expect(answers.statusFromJson({ ...STATUS, status: "starting" }).status).toBe("degraded")
  })
})

describe("the server reads only what a body has itself", () => {
  test.each([
    ["ip", () => requests.readPermanentBody(Object.create({ ip: "192.0.2.7" })), "ip is missing"],
    [
      "ttl_seconds",
      () =>
        requests.readTemporaryBody(Object.assign(Object.create({ ttl_seconds: 60 }), { ip: "192.0.2.7" })),
      "ttl_seconds is missing",
    ],
  ])("%s", (_name, read, message) => {
    expect(read).toThrow(message)
  })

  test("reason", () => {
    const body = Object.assign(Object.create({ reason: "x" }), { ip: "192.0.2.7", ttl_seconds: 60 })
    expect(requests.readTemporaryBody(body).reason).toBeNull()
  })
})

describe("times", () => {
  test.each([
    [0, "1970-01-01T00:00:00.000Z"],
    [1, "1970-01-01T00:00:00.001Z"],
    [Date.UTC(2026, 10, 21, 13, 5, 2, 7), "2026-11-21T13:05:02.007Z"],
    [LATEST_TIME, "9999-12-31T23:59:59.999Z"],
  ])("%i is %s", (milliseconds, text) => {
    expect(answers.toTime(milliseconds)).toBe(text)
    expect(answers.time(text)).toBe(milliseconds)
  })
})

test.each(["", "soon", "2026-02-31T00:00:00.000Z", "2026-13-01T00:00:00.000Z"])("%j is no time", (text) => {
  expect(() => answers.time(text)).toThrow('no valid "time"')
})

test.each([-8.64e15, -62_198_755_200_000, -1])("a time before 1970, %d, is read as it was written", (at) => {
  expect(answers.time(answers.toTime(at))).toBe(at)
})

describe("where a follower begins", () => {
  const read = (query: string, lastEventId: string | null = null) =>
    requests.readFeedQuery(new URLSearchParams(query), lastEventId)

  test.each<readonly [string, string | null, object]>([
    ["", null, { tail: 0 }],
    ["tail=5", null, { tail: 5 }],
    ["tail=1000", null, { tail: 1000 }],
    ["after=7", null, { after: 7 }],
    ["after=0", null, { after: 0 }],
    ["after=7&tail=5", null, { after: 7 }],
    ["after=7&tail=5", "9", { after: 9 }],
    ["", "9", { after: 9 }],
  ])("%j with Last-Event-ID %j", (query, lastEventId, start) => {
    expect(read(query, lastEventId).start).toEqual(start as ReturnType<typeof read>["start"])
  })

  test.each<readonly [string, string | null, string]>([
    ["tail=1001", null, "tail must be an integer from 0 to 1000"],
    ["tail=-1", null, "tail must be an integer from 0 to 1000"],
    ["tail=", null, "tail must be an integer from 0 to 1000"],
    ["tail=1&tail=1", null, "tail occurs more than once"],
    ["after=-1", null, "after must be an integer of 0 or more"],
    ["after=x", null, "after must be an integer of 0 or more"],
    ["", "x", "Last-Event-ID must be an integer of 0 or more"],
    ["", "1e3", "Last-Event-ID must be an integer of 0 or more"],
  ])("%j with Last-Event-ID %j is refused", (query, lastEventId, message) => {
    expect(() => read(query, lastEventId)).toThrow(message)
  })
})

describe("how many entries an import may remove", () => {
  const read = (query: string) => requests.readPrune(new URLSearchParams(query))

  test("none if nothing is said, else so many", () => {
    expect([read(""), read("prune=0"), read("prune=12")]).toEqual([
      null,
      { maxRemovals: 0 },
      { maxRemovals: 12 },
    ])
  })

  test.each(["prune=", "prune=-1", "prune=true", "prune=1.5", "prune=1&prune=1"])(
    "%s is refused",
    (query) => {
      expect(() => read(query)).toThrow(/prune/)
    },
  )
})

describe("statuses", () => {
  test("each error has one, and reads back as itself but for a server that is out of order", () => {
    const codes = ["invalid", "unauthorized", "forbidden", "conflict", "failed", "unavailable"] as const
    expect(codes.map(statusOf)).toEqual([400, 401, 403, 409, 500, 500])
    expect(codes.map((code) => codeOf(statusOf(code)))).toEqual([
      "invalid",
      "unauthorized",
      "forbidden",
      "conflict",
      "failed",
      "failed",
    ])
  })

  test.each([
    [413, "invalid"],
    [404, "failed"],
    [405, "failed"],
    [502, "failed"],
    [200, "failed"],
    [302, "failed"],
  ])("%i means %s to a client", (status, code) => {
    expect(codeOf(status)).toBe(code as ReturnType<typeof codeOf>)
  })
})
