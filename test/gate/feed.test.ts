// The feed of changes: every follower is told each change once, in order, and none can hold up another or a write.

import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test"
import { loadAllowlist } from "../../src/app/load-allowlist.ts"
import { assembleWritePath, type WritePath } from "../../src/app/write-path.ts"
import type { FeedEvent, FeedFilter, FeedStart } from "../../src/core/feed.ts"
import { ChangeFeed } from "../../src/gate/change-feed.ts"
import { Sweeper } from "../../src/gate/sweeper.ts"
import type { Connection } from "../../src/store/connection.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import type { Store } from "../../src/store/store.ts"
import { ThreadStore } from "../../src/store/thread-store.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { address, network } from "../support/parsed.ts"
import { Prng } from "../support/prng.ts"
import { temporaryPaths } from "../support/temp-store.ts"

const AUDIT_ROWS = 5_000
/** As much as one reader may leave waiting. */
const BACKLOG = 10_000

const event = (id: number): FeedEvent => ({ kind: "reload", id })
const events = (from: number, count: number) => Array.from({ length: count }, (_, i) => event(from + i))

describe("ChangeFeed", () => {
  test("keeps as much for a reader as it may leave waiting, and drops it for one event more", async () => {
    const feed = new ChangeFeed()
    const patient = feed.follow()
    const slow = feed.follow()
    feed.publish(events(1, BACKLOG))
    expect(await patient.next(1_000)).toHaveLength(BACKLOG)
    feed.publish([event(BACKLOG + 1)])
    expect(await slow.next(1_000)).toBeNull()
    expect(await patient.next(1_000)).toEqual([event(BACKLOG + 1)])
  })

  test("one that leaves disturbs no other", async () => {
    const feed = new ChangeFeed()
    const [first, second, third] = [feed.follow(), feed.follow(), feed.follow()]
    const waiting = second.next(60_000)
    second.leave()
    expect(await waiting).toBeNull()
    feed.publish([event(1)])
    expect(await first.next(1_000)).toEqual([event(1)])
    expect(await third.next(1_000)).toEqual([event(1)])
    second.leave()
  })

  test("closed, it ends those who wait and those who do not", async () => {
    const feed = new ChangeFeed()
    const [waiting, idle] = [feed.follow(), feed.follow()]
    const next = waiting.next(60_000)
    feed.close()
    expect(await next).toBeNull()
    expect(await idle.next(60_000)).toBeNull()
  })

  test("closed, it takes nobody in: a server that stops would wait for him", async () => {
    const feed = new ChangeFeed()
    feed.close()
    expect(await feed.follow().next(1_000)).toBeNull()
  })
})

describe("LocalGate.follow", () => {
  const path = temporaryPaths()
  let clock: FakeClock
  let store: LibsqlStore
  let write: WritePath
  let sweeper: Sweeper

  beforeEach(async () => {
    clock = new FakeClock()
    store = new LibsqlStore({ path: path(), auditRows: AUDIT_ROWS })
    await store.open(clock.wall())
    const { allowlist } = await loadAllowlist(store, clock)
    write = await assembleWritePath(store, allowlist, clock, clock.mono())
    sweeper = new Sweeper(allowlist, write.queue, clock, () => {})
  })
  afterEach(async () => {
    write.feed.close()
    await store.close()
  })

  const add = (ip: string) => write.gate.addPermanent(network(ip))
  const addMany = async (prefix: string, count: number) => {
    await Promise.all(Array.from({ length: count }, (_, i) => add(`${prefix}.${i >> 8}.${i & 255}`)))
  }
  const importMany = (count: number, prefix = "172.16") => {
    const lines = Array.from({ length: count }, (_, i) => `${prefix}.${i >> 8}.${i & 255}\n`).join("")
    return write.gate.import({ lines: new TextEncoder().encode(lines), prune: null })
  }

  /** A reader of its own stream, one event at a time. */
  function reader(start: FeedStart, filter: FeedFilter = {}) {
    const stop = new AbortController()
    const stream = write.gate.follow(start, filter, stop.signal)
    const next = async () => (await stream.next()).value ?? null
    return {
      stop,
      stream,
      next,
      /** Events up to and with the first `at`, in short. */
      async untilAt(): Promise<string[]> {
        const seen: string[] = []
        for (;;) {
          const event = await next()
          seen.push(event === null ? "end" : short(event))
          if (event === null || event.kind === "at") return seen
        }
      },
      async take(count: number): Promise<string[]> {
        const seen: string[] = []
        while (seen.length < count) seen.push(short((await next()) as FeedEvent))
        return seen
      },
    }
  }

  const short = (event: FeedEvent) =>
    event.kind === "change"
      ? `${event.id} ${event.record.action} ${event.record.ip}`
      : `${event.kind} ${event.id}`

  /** All rows of the log with their ids, in short. */
  const log = async (from: Store = store) => {
    const rows: string[] = []
    for (let after = 0; ; ) {
      const slice = await from.auditSlice({ after, limit: 1_000 })
      rows.push(...slice.rows.map(({ id, record }) => short({ kind: "change", id, record })))
      const last = slice.rows.at(-1)
      if (last === undefined) return rows
      after = last.id
    }
  }

  test("tells the rows after an id, that this is all, and then what happens", async () => {
    for (const ip of ["10.0.0.1", "10.0.0.2", "10.0.0.3"]) await add(ip)
    const { untilAt, take, stop } = reader({ after: 1 })
    expect(await untilAt()).toEqual(["2 add_perm 10.0.0.2", "3 add_perm 10.0.0.3", "at 3"])
    await write.gate.removePermanent(network("10.0.0.2"))
    expect(await take(1)).toEqual(["4 delete_perm 10.0.0.2"])
    stop.abort()
  })

  test("tells of an empty log that there is nothing", async () => {
    expect(await reader({ after: 0 }).untilAt()).toEqual(["at 0"])
    expect(await reader({ tail: 10 }).untilAt()).toEqual(["at 0"])
  })

  test("tells each kind of change as the log has it, with who did it", async () => {
    const gate = write.gate.as(address("192.0.2.1"))
    const { take, untilAt, next, stop } = reader({ tail: 0 })
    await untilAt()
    const granted = { network: network("10.0.0.1"), ttlSeconds: 60, reason: "on call" }
    await gate.addTemporary(granted)
    const at = clock.wall()
    const actor = "192.0.2.1"
    expect(await next()).toEqual({
      kind: "change",
      id: 1,
      record: { at, action: "add_temp", ip: "10.0.0.1", ttlSeconds: 60, reason: "on call", actor },
    })
    await gate.addTemporary({ ...granted, reason: null })
    await gate.removeTemporary(network("10.0.0.1"))
    await gate.addPermanent(network("2001:db8::/32"))
    await gate.removePermanent(network("2001:db8::/32"))
    expect(await take(4)).toEqual([
      "2 add_temp 10.0.0.1",
      "3 delete_temp 10.0.0.1",
      "4 add_perm 2001:db8::/32",
      "5 delete_perm 2001:db8::/32",
    ])
    await gate.addTemporary(granted)
    clock.advance(61_000)
    await sweeper.sweep()
    expect(await take(1)).toEqual(["6 add_temp 10.0.0.1"])
    const expired = { at: at + 60_000, action: "expire_temp", ip: "10.0.0.1" }
    expect(await next()).toEqual({
      kind: "change",
      id: 7,
      record: { ...expired, ttlSeconds: null, reason: null, actor: null } as never,
    })
    const rows = await store.auditSlice({ after: 0, limit: 10 })
    expect(rows.rows.at(-1)?.record).toEqual({
      ...expired,
      ttlSeconds: null,
      reason: null,
      actor: null,
    } as never)
    stop.abort()
  })

  test("says nothing of what had no effect", async () => {
    await add("10.0.0.1")
    const { untilAt, take, stop } = reader({ tail: 0 })
    await untilAt()
    await add("10.0.0.1").catch(() => {})
    await write.gate.removePermanent(network("10.0.0.9"))
    await write.gate.removeTemporary(network("10.0.0.1"))
    await add("10.0.0.2")
    expect(await take(1)).toEqual(["2 add_perm 10.0.0.2"])
    stop.abort()
  })

  test("tells an entry that ended and was granted again as both, in this order", async () => {
    await write.gate.addTemporary({ network: network("10.0.0.1"), ttlSeconds: 1, reason: null })
    const { untilAt, take, stop } = reader({ tail: 0 })
    await untilAt()
    clock.advance(2_000)
    await write.gate.addTemporary({ network: network("10.0.0.1"), ttlSeconds: 1, reason: null })
    expect(await take(2)).toEqual(["2 expire_temp 10.0.0.1", "3 add_temp 10.0.0.1"])
    stop.abort()
  })

  test.each([
    [999, 999],
    [1_000, 1_000],
    [1_001, 1_001],
  ])("replays a log of %d rows whole, at the edge of a page", async (count, told) => {
    await addMany("10.1", count)
    expect(await reader({ after: 0 }).untilAt()).toHaveLength(told + 1)
  })

  test("asks to read the lists again when the log has dropped what was missed", async () => {
    await addMany("10.1", AUDIT_ROWS)
    await addMany("10.2", 10)
    expect((await store.auditSlice({ after: 0, limit: 1 })).oldest).toBe(11)
    expect(await reader({ after: 9 }).untilAt()).toEqual(["reload 5010", "at 5010"])
    // Row 11 is the first that is left: whoever has seen row 10 has missed nothing.
    expect((await reader({ after: 10 }).untilAt())[0]).toBe("11 add_perm 10.1.0.10")
  })

  test("tells an import of 1,000 rows row by row, and a larger one as a reason to read the lists again", async () => {
    const { untilAt, take, stop } = reader({ tail: 0 })
    await untilAt()
    await importMany(1_000, "172.16")
    const rows = await take(1_000)
    expect([rows[0], rows.at(-1)]).toEqual(["1 add_perm 172.16.0.0", "1000 add_perm 172.16.3.231"])
    await importMany(1_001, "172.17")
    expect(await take(1)).toEqual(["reload 2001"])
    stop.abort()
  })

  test("asks to read the lists again when nothing is left of the log", async () => {
    for (const ip of ["10.0.0.1", "10.0.0.2"]) await add(ip)
    const connection: Connection = Reflect.get(store, "opened")
    connection.execute("DELETE FROM audit")
    for (const after of [0, 1]) expect(await reader({ after }).untilAt()).toEqual(["reload 2", "at 2"])
    expect(await reader({ after: 2 }).untilAt()).toEqual(["at 2"])
  })

  test("asks to read the lists again for an id that this log never had", async () => {
    await add("10.0.0.1")
    expect(await reader({ after: 7 }).untilAt()).toEqual(["reload 1", "at 1"])
  })

  test("ends when the reader goes, also while it waits, and when the server stops", async () => {
    const goes = reader({ tail: 0 })
    await goes.untilAt()
    const waiting = goes.next()
    goes.stop.abort()
    expect(await waiting).toBeNull()

    const stays = reader({ tail: 0 })
    await stays.untilAt()
    const last = stays.next()
    write.feed.close()
    expect(await last).toBeNull()
  })

  test("keeps nothing of a reader who has gone, however he went", async () => {
    const followers: Set<unknown> = Reflect.get(write.feed, "followers")
    const aborts = reader({ tail: 0 })
    await aborts.untilAt()
    const leaves = reader({ tail: 0 })
    await leaves.untilAt()
    expect(followers.size).toBe(2)
    await leaves.stream.return(undefined)
    expect(followers.size).toBe(1)
    aborts.stop.abort()
    expect(followers.size).toBe(0)
    expect(await aborts.next()).toBeNull()

    const fails = reader({ after: 0 })
    await store.close()
    await expect(fails.next()).rejects.toThrow("the database is not open")
    expect(followers.size).toBe(0)
  })

  test("ends at once for a reader who has gone before it began", async () => {
    const stop = new AbortController()
    stop.abort()
    const stream = write.gate.follow({ tail: 0 }, {}, stop.signal)
    const seen: string[] = []
    for await (const event of stream) seen.push(event.kind)
    expect(seen.filter((kind) => kind !== "at")).toEqual([])
  })

  test("tells a quiet reader now and then up to where it is", async () => {
    const { untilAt, next, stop } = reader({ tail: 0 }, { action: "delete_perm" })
    await untilAt()
    // It is another row than those that the reader wants: only the next mark can tell that it was passed.
    await add("10.0.0.1")
    jest.useFakeTimers()
    try {
      const marked = next()
      for (let i = 0; i < 10; i++) await Promise.resolve()
      jest.advanceTimersByTime(60_000)
      expect(await marked).toEqual({ kind: "at", id: 1 })
    } finally {
      jest.useRealTimers()
      stop.abort()
    }
  })

  test("a reader that takes nothing is dropped, and neither writes nor other readers wait for it", async () => {
    const slow = reader({ tail: 0 })
    const quick = reader({ tail: 0 })
    await slow.untilAt()
    await quick.untilAt()
    const seen: string[] = []
    const reading = (async () => {
      for await (const event of quick.stream) seen.push(short(event))
    })()
    // Imports of a page at most are told row by row, and are the quickest way to so many rows.
    for (let round = 0; round < 12; round++) await importMany(1_000, `10.${round}`)
    // All of it is acknowledged by now. The quick one gets it in the end, the slow one nothing any more.
    while (seen.length < 12_000) await Bun.sleep(1)
    expect(await slow.next()).toBeNull()
    quick.stop.abort()
    await reading
    expect(seen.slice(-AUDIT_ROWS)).toEqual(await log())
    expect(new Set(seen).size).toBe(12_000)
  })

  test("readers that come while changes are written miss none and get none twice", async () => {
    // Over the thread, where a commit can be under way while the log is read.
    const store = new ThreadStore({ path: path(), auditRows: AUDIT_ROWS })
    await store.open(clock.wall())
    const { allowlist } = await loadAllowlist(store, clock)
    const write = await assembleWritePath(store, allowlist, clock, clock.mono())
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
    const random = new Prng(seed)
    const readings: Array<{ after: number; seen: Promise<string[]> }> = []
    const stop = new AbortController()
    const total = 1_500
    const writing = Array.from({ length: total }, async (_, i) => {
      await Bun.sleep(random.below(150))
      await write.gate.addPermanent(network(`10.7.${i >> 8}.${i & 255}`))
      if (i % 30 !== 0) return
      const after = random.below(write.feed.lastId + 1)
      const seen = (async () => {
        const ids: string[] = []
        for await (const event of write.gate.follow({ after }, {}, stop.signal)) {
          if (event.kind === "change") ids.push(short(event))
          if (event.kind === "change" && event.id === total) break
        }
        return ids
      })()
      readings.push({ after, seen })
    })
    await Promise.all(writing)
    const rows = await log(store)
    expect(rows).toHaveLength(total)
    expect(readings).toHaveLength(50)
    for (const { after, seen } of readings) {
      expect({ seed, after, seen: await seen }).toEqual({ seed, after, seen: rows.slice(after) })
    }
    stop.abort()
    await store.close()
  })
})
