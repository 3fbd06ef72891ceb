// Server-sent events: what the server writes, the client reads, in whatever pieces it comes; and what is not ours is skipped.

import { describe, expect, test } from "bun:test"
import type { FeedEvent } from "../../src/core/feed.ts"
import { formatEvent, parseEvents } from "../../src/wire/event-stream.ts"
import { Prng } from "../support/prng.ts"

const CHANGE: FeedEvent = {
  kind: "change",
  id: 42,
  record: {
    at: Date.UTC(2026, 10, 21, 13, 5, 2, 7),
    action: "add_temp",
    ip: "203.0.113.7",
    ttlSeconds: 3600,
    reason: "on call",
    actor: "127.0.0.1",
  },
}

const EXPIRY: FeedEvent = {
  kind: "change",
  id: 43,
  record: { at: 0, action: "expire_temp", ip: "2001:db8::1", ttlSeconds: null, reason: null, actor: null },
}

const RELOAD: FeedEvent = { kind: "reload", id: 1_000_000 }
const AT: FeedEvent = { kind: "at", id: 0 }
const ALL = [CHANGE, EXPIRY, RELOAD, AT]

async function parsed(...pieces: ReadonlyArray<string | Uint8Array>): Promise<FeedEvent[]> {
  const encoder = new TextEncoder()
  async function* stream() {
    for (const piece of pieces) yield typeof piece === "string" ? encoder.encode(piece) : piece
  }
  const events: FeedEvent[] = []
  for await (const event of parseEvents(stream())) events.push(event)
  return events
}

describe("what is written", () => {
  test("is one event with its id, its kind and the record as the log has it", () => {
    expect(formatEvent(CHANGE)).toBe(
      "id: 42\n" +
        "event: change\n" +
        'data: {"timestamp":"2026-11-21T13:05:02.007Z","action":"add_temp","ip":"203.0.113.7",' +
        '"ttl_seconds":3600,"reason":"on call","api_client_ip":"127.0.0.1"}\n' +
        "\n",
    )
    expect(formatEvent(RELOAD)).toBe("id: 1000000\nevent: reload\ndata: {}\n\n")
    expect(formatEvent(AT)).toBe("id: 0\nevent: at\ndata: {}\n\n")
  })

  // An event ends at an empty line: a reason that could make one would be read as an event of its own.
  test.each(["\n\nid: 99\nevent: reload\ndata: {}\n\n", "\r\n\r\n", "\r", "\u2028\u2029", "data: x", ":"])(
    "is one event, also with the reason %j",
    async (reason) => {
      const event: FeedEvent = { ...CHANGE, record: { ...CHANGE.record, reason } }
      const text = formatEvent(event)
      expect(text.split("\n")).toHaveLength(5)
      expect(text).not.toContain("\r")
      expect(await parsed(text)).toEqual([event])
    },
  )
})

describe("what is read", () => {
  test("is what was written", async () => {
    expect(await parsed(ALL.map(formatEvent).join(""))).toEqual(ALL)
  })

  test("may come byte by byte", async () => {
    const event: FeedEvent = { ...CHANGE, record: { ...CHANGE.record, reason: "café 日本 👍 ünï" } }
    const bytes = new TextEncoder().encode(formatEvent(event) + formatEvent(AT))
    expect(await parsed(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual([event, AT])
  })

  test("may come in any pieces", async () => {
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
    const random = new Prng(seed)
    const bytes = new TextEncoder().encode(ALL.map(formatEvent).join("").repeat(5))
    const pieces: Uint8Array[] = []
    for (let at = 0; at < bytes.length; ) {
      const size = 1 + random.below(90)
      pieces.push(bytes.subarray(at, at + size))
      at += size
    }
    const expected = Array.from({ length: 5 }, () => ALL).flat()
    expect({ seed, events: await parsed(...pieces) }).toEqual({ seed, events: expected })
  })

  test("does not wait for the event after it", async () => {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(formatEvent(CHANGE))),
    })
    const events = parseEvents(stream)
    expect((await events.next()).value).toEqual(CHANGE)
  })

  test("is nothing of an event that the end has cut off", async () => {
    const text = formatEvent(CHANGE)
    for (let length = 0; length < text.length; length++) {
      expect(await parsed(text.slice(0, length))).toEqual([])
    }
  })

  test.each([
    [": a comment\n\n"],
    ["event: change\ndata: {}\n\n"],
    ["id: 5\nevent: of-another-version\ndata: {}\n\n"],
    ["id: 5\ndata: {}\n\n"],
    ["id: five\nevent: at\ndata: {}\n\n"],
    ["id: 1e99\nevent: at\ndata: {}\n\n"],
    ["retry: 1000\n\n"],
    ["\n\n"],
  ])("skips %j, and goes on", async (foreign) => {
    expect(await parsed(formatEvent(AT) + foreign + formatEvent(RELOAD))).toEqual([AT, RELOAD])
  })

  test("takes a field with and without the space, and a comment inside an event", async () => {
    expect(await parsed("id:7\n: a comment\nevent:reload\ndata:{}\n\n")).toEqual([{ kind: "reload", id: 7 }])
  })

  test("of no valid record is an error that says so", async () => {
    const rows = ["", "null", "{}", '{"action":"grant"}', "{"]
    for (const data of rows) {
      const reading = parsed(`id: 1\nevent: change\ndata: ${data}\n\n`)
      expect(await reading.catch((error) => error)).toBeInstanceOf(Error)
    }
    const message = await parsed('id: 1\nevent: change\ndata: {"timestamp":1}\n\n').catch(
      (error) => error.message,
    )
    expect(message).toContain("is it an ipgate of another version?")
  })
})
