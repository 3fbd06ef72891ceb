// The part of the contract of `Gate` that is about following the changes.

import { afterEach, describe, expect, test } from "bun:test"
import type { FeedEvent, FeedFilter, FeedStart } from "../../src/core/feed.ts"
import type { Gate } from "../../src/core/gate.ts"
import { othersFirst } from "../../src/core/others-first.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { AUDIT_ROWS, type OpenGate } from "../support/gate-openers.ts"
import { network } from "../support/parsed.ts"
import { temporaryPaths } from "../support/temp-store.ts"

/** Runs the part of the contract over the gates that `open` opens. */
export function describeFeed(name: string, open: OpenGate): void {
  describe(name, () => {
    const newPath = temporaryPaths()
    const closings: Array<() => Promise<void>> = []
    const stops: AbortController[] = []
    afterEach(async () => {
      for (const stop of stops.splice(0)) stop.abort()
      await Promise.all(closings.splice(0).map((close) => close()))
    })

    async function opened() {
      const clock = new FakeClock()
      const gate = await open(newPath(), clock)
      closings.push(gate.close)
      return { gate: gate.gate, clock }
    }

    function follow(gate: Gate, start: FeedStart, filter: FeedFilter = {}): Reader {
      const stop = new AbortController()
      stops.push(stop)
      return new Reader(gate.follow(start, filter, stop.signal)[Symbol.asyncIterator](), stop)
    }

    test("tells each change as it is committed, once, with the record of the log", async () => {
      const { gate, clock } = await opened()
      await gate.addPermanent(network("192.0.2.1"))
      const reader = follow(gate, { tail: 0 })
      expect(await reader.take(1)).toEqual(["at 1"])
      await gate.addTemporary({ network: network("192.0.2.2"), ttlSeconds: 60, reason: "a visitor" })
      await gate.removePermanent(network("192.0.2.1"))
      // What has no effect is no change.
      await gate.removePermanent(network("192.0.2.1"))
      await gate.addPermanent(network("192.0.2.9"))
      await gate.addPermanent(network("192.0.2.9")).catch(() => {})
      clock.advance(60_000)
      await gate.removeTemporary(network("192.0.2.2"))
      expect(await reader.take(4)).toEqual([
        "2 add_temp 192.0.2.2",
        "3 delete_perm 192.0.2.1",
        "4 add_perm 192.0.2.9",
        "5 expire_temp 192.0.2.2",
      ])
      const log = (await gate.audit({ limit: 10, offset: 0 })).reverse().slice(1)
      expect(reader.records).toEqual(log)
    })

    test("begins with the newest rows that are asked for, or with all after an id", async () => {
      const { gate } = await opened()
      for (let i = 1; i <= 5; i++) await gate.addPermanent(network(`192.0.2.${i}`))
      const rows = [1, 2, 3, 4, 5, 6].map((i) => `${i} add_perm 192.0.2.${i}`)
      const readers = [
        [follow(gate, { tail: 2 }), rows.slice(3, 5)],
        [follow(gate, { tail: 100 }), rows.slice(0, 5)],
        [follow(gate, { after: 3 }), rows.slice(3, 5)],
        [follow(gate, { after: 0 }), rows.slice(0, 5)],
        [follow(gate, { after: 5 }), []],
      ] as const
      for (const [reader, told] of readers)
        expect(await reader.take(told.length + 1)).toEqual([...told, "at 5"])
      await gate.addPermanent(network("192.0.2.6"))
      for (const [reader] of readers) expect(await reader.take(1)).toEqual(rows.slice(5))
    })

    test("tells only what the filter lets through, from the log and live", async () => {
      const { gate } = await opened()
      const [one, two] = [network("192.0.2.1"), network("192.0.2.0/24")]
      await gate.addPermanent(one)
      await gate.addPermanent(two)
      await gate.removePermanent(one)
      const readers = [
        follow(gate, { after: 0 }, { network: network("::ffff:192.0.2.1") }),
        follow(gate, { after: 0 }, { action: "add_perm" }),
        follow(gate, { tail: 1 }, { action: "add_perm", network: one }),
      ]
      expect(await readers[0]?.take(3)).toEqual(["1 add_perm 192.0.2.1", "3 delete_perm 192.0.2.1", "at 3"])
      expect(await readers[1]?.take(3)).toEqual(["1 add_perm 192.0.2.1", "2 add_perm 192.0.2.0/24", "at 3"])
      expect(await readers[2]?.take(2)).toEqual(["1 add_perm 192.0.2.1", "at 3"])
      await gate.removePermanent(two)
      await gate.addPermanent(one)
      for (const reader of readers) expect(await reader.take(1)).toEqual(["5 add_perm 192.0.2.1"])
    })

    test("tells a change that is committed while the replay is read once, not twice", async () => {
      const { gate } = await opened()
      const ips = [1, 2, 3, 4, 5].map((i) => `192.0.2.${i}`)
      const written = Promise.all(ips.slice(0, 4).map((ip) => gate.addPermanent(network(ip))))
      const reader = follow(gate, { after: 0 })
      const told = await reader.changes(4)
      await written
      await gate.addPermanent(network("192.0.2.5"))
      told.push(...(await reader.changes(1)))
      expect(told.map((event) => Number.parseInt(event, 10))).toEqual([1, 2, 3, 4, 5])
      // Over HTTP the four may have overtaken each other.
      expect(new Set(told.map((event) => event.split(" ")[2]))).toEqual(new Set(ips))
    })

    test("misses nothing and repeats nothing, however often the reader comes and goes meanwhile", async () => {
      const { gate } = await opened()
      const count = 60
      let writing = true
      const written = (async () => {
        for (let i = 1; i <= count; i++) await gate.addPermanent(network(`10.0.0.${i}`))
        writing = false
      })()
      const seen: string[] = []
      let last = 0
      while (writing || last < count) {
        const reader = follow(gate, { after: last })
        for (const event of await reader.takeSome(7)) {
          if (event.startsWith("at")) continue
          seen.push(event)
          last = Number.parseInt(event, 10)
        }
        reader.stop.abort()
        // Without a network in between nobody else would have a turn.
        await othersFirst()
      }
      await written
      expect(seen).toEqual(Array.from({ length: count }, (_, i) => `${i + 1} add_perm 10.0.0.${i + 1}`))
    }, 20_000)

    test("tells a small import row by row, and a large one as a reason to read the lists again", async () => {
      const { gate } = await opened()
      const reader = follow(gate, { tail: 0 })
      expect(await reader.take(1)).toEqual(["at 0"])
      await gate.import({ lines: lines(["192.0.2.1", "192.0.2.2\t60"]), prune: null })
      expect(await reader.take(2)).toEqual(["1 add_perm 192.0.2.1", "2 add_temp 192.0.2.2"])
      await gate.import({ lines: lines(many(1500)), prune: null })
      await gate.addPermanent(network("192.0.2.3"))
      expect(await reader.take(2)).toEqual(["reload 1502", "1503 add_perm 192.0.2.3"])
    })

    test("replays thousands of rows; and says so when it cannot tell any more what was missed", async () => {
      const { gate } = await opened()
      const first = many(1000)
      await gate.import({ lines: lines(first), prune: null })
      const rest = many(3500).slice(1000)
      await gate.import({ lines: lines(rest), prune: null })
      const oldest = 3500 - AUDIT_ROWS + 1
      const whole = follow(gate, { after: oldest - 1 })
      const told = await whole.take(AUDIT_ROWS + 1)
      expect(told.at(-1)).toBe("at 3500")
      expect(told.slice(0, -1)).toEqual(
        [...first, ...rest].slice(oldest - 1).map((ip, i) => `${oldest + i} add_perm ${ip}`),
      )
      // Rows that are gone, and an id that this log has never given out.
      for (const after of [oldest - 2, 0, 3501]) {
        expect(await follow(gate, { after }).take(2)).toEqual(["reload 3500", "at 3500"])
      }
    }, 20_000)

    test("ends when the reader has had enough, also if that was before it began", async () => {
      const { gate } = await opened()
      const reader = follow(gate, { tail: 0 })
      await reader.take(1)
      const end = reader.rest()
      reader.stop.abort()
      expect((await end).filter((event) => !event.startsWith("at"))).toEqual([])
      const early = follow(gate, { tail: 0 })
      early.stop.abort()
      expect((await early.rest()).filter((event) => !event.startsWith("at"))).toEqual([])
    })

    test("knows no refused client and no decision before the first question of a proxy", async () => {
      const { gate } = await opened()
      await gate.check(network("192.0.2.1"))
      expect(await gate.refused({ limit: 10, offset: 0 })).toEqual([])
      expect(await gate.decisions()).toEqual({ allowed: 0, denied: 0, unidentified: 0 })
    })
  })
}

/** Takes events one by one, as `id action network`, `at id` or `reload id`. */
class Reader {
  readonly records: unknown[] = []
  private replayed = false

  constructor(
    private readonly events: AsyncIterator<FeedEvent>,
    readonly stop: AbortController,
  ) {}

  /** The next so many events; waits for them. After the replay, a word that nothing was missed may come at any time. */
  async take(count: number): Promise<string[]> {
    const told: string[] = []
    while (told.length < count) {
      const { done, value } = await this.events.next()
      if (done) throw new Error(`the feed ended after ${told.join(", ")}`)
      if (value.kind !== "at" || !this.replayed) told.push(this.shown(value))
      if (value.kind === "at") this.replayed = true
    }
    return told
  }

  /** The next so many changes, without the words in between. */
  async changes(count: number): Promise<string[]> {
    const told: string[] = []
    while (told.length < count) {
      const [event = ""] = await this.take(1)
      if (!event.startsWith("at")) told.push(event)
    }
    return told
  }

  /** Up to so many events, and not beyond the end of the replay. */
  async takeSome(most: number): Promise<string[]> {
    const told: string[] = []
    while (told.length < most && !told.at(-1)?.startsWith("at")) told.push(...(await this.take(1)))
    return told
  }

  /** All events until the end. */
  async rest(): Promise<string[]> {
    const told: string[] = []
    for (;;) {
      const { done, value } = await this.events.next()
      if (done) return told
      told.push(this.shown(value))
    }
  }

  private shown(event: FeedEvent): string {
    if (event.kind !== "change") return `${event.kind} ${event.id}`
    this.records.push(event.record)
    return `${event.id} ${event.record.action} ${event.record.ip}`
  }
}

function many(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`)
}

function lines(entries: readonly string[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(entries.map((line) => `${line}\n`).join(""))
}
