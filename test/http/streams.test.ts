// What the API takes and gives beside single entries: bulks, the feed of changes, and who was refused.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { LongReads } from "../../src/gate/long-reads.ts"
import { ImportSpace } from "../../src/http/import-space.ts"
import { eventStream } from "../../src/http/responses.ts"
import { LARGEST_IMPORT } from "../../src/wire/largest-import.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { listenOver } from "../support/listener-over.ts"
import { allBytes, ask, headerOf, RawConnection, requestText } from "../support/raw-http.ts"
import { type AuditRow, type RunningServer, runServer, TOKEN } from "../support/running-server.ts"

const IMPORT = "/api/whitelist/import"
const EXPORT = "/api/whitelist/export"
const PERM = "/api/whitelist/perm"
const TEMP = "/api/whitelist/temp"
const BEARER = `Authorization: Bearer ${TOKEN}`
const START = Date.UTC(2026, 0, 1)
const NOTHING = { added: 0, replaced: 0, unchanged: 0, removed: 0, duplicates: 0, ended: 0 }

let clock: FakeClock
let server: RunningServer

beforeAll(async () => {
  clock = new FakeClock(START)
  server = await runServer({ clock })
})

afterAll(() => server.stop())

/** Leaves both lists empty. */
async function clear(): Promise<void> {
  for (const ip of (await server.lists()).permanent) await server.api("DELETE", `${PERM}/${ip}`)
  for (const { ip } of (await server.lists()).temporary) await server.api("DELETE", `${TEMP}/${ip}`)
}

const at = (seconds: number) => new Date(START + seconds * 1000).toISOString()

describe("import and export", () => {
  beforeEach(clear)

  test("what went in comes out, in the order of the lists, as plain text", async () => {
    const lines = "2001:DB8::/32\n10.0.0.0/8\n192.0.2.9\t60\ton call\n192.0.2.8\t30\n192.0.2.7\n"
    const before = (await server.audit()).length
    const answer = await server.api("POST", IMPORT, lines)
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, "application/json"])
    expect(await answer.text()).toBe(JSON.stringify({ ...NOTHING, added: 5 }))

    const rows = (await server.audit()).slice(before)
    expect(rows.map(({ action, ip, api_client_ip }) => `${action} ${ip} ${api_client_ip}`)).toEqual([
      "add_perm 10.0.0.0/8 127.0.0.1",
      "add_perm 192.0.2.7 127.0.0.1",
      "add_perm 2001:db8::/32 127.0.0.1",
      "add_temp 192.0.2.8 127.0.0.1",
      "add_temp 192.0.2.9 127.0.0.1",
    ])
    for (const ip of ["10.9.9.9", "192.0.2.7", "192.0.2.8", "192.0.2.9", "2001:db8::1"]) {
      expect([ip, await server.decision(ip)]).toEqual([ip, 204])
    }

    const out = await server.api("GET", EXPORT)
    expect(Object.fromEntries(out.headers)).toMatchObject({
      "cache-control": "no-store",
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
    })
    const text = await out.text()
    expect(text).toBe(
      `10.0.0.0/8\n192.0.2.7\n2001:db8::/32\n192.0.2.8\t${at(30)}\n192.0.2.9\t${at(60)}\ton call\n`,
    )

    await clear()
    const again = await server.api("POST", IMPORT, text)
    expect(await again.json()).toEqual({ ...NOTHING, added: 5 })
    expect(await (await server.api("GET", EXPORT)).text()).toBe(text)
  })

  test("has room for four of the largest bodies; what comes beyond is told to come back, and changes nothing", async () => {
    const head = requestText(`POST ${IMPORT}`, [BEARER, `Content-Length: ${64 * 1024 * 1024}`])
    const until = async (status: number) => {
      for (;;) {
        const answer = await server.api("POST", IMPORT, "192.0.2.9\n")
        if (answer.status === status) return answer
        await answer.text()
      }
    }
    const under = await Promise.all([1, 2, 3, 4].map(() => RawConnection.open(server.address)))
    for (const connection of under) connection.send(head)
    const busy = await until(503)
    expect([busy.headers.get("Retry-After"), await busy.text()]).toEqual([
      "5",
      "too many large imports are under way already; try again later\n",
    ])
    await clear()
    expect((await server.api("POST", IMPORT, "192.0.2.8\n")).status).toBe(503)
    expect((await server.lists()).permanent).toEqual([])
    for (const connection of under) connection.close()
    expect((await until(200)).status).toBe(200)
    expect((await server.lists()).permanent).toEqual(["192.0.2.9"])
  })

  test.each([EXPORT, "/api/backup"])(
    "a client that leaves %s midway gives its place to the next one",
    async (path) => {
      const reads = new LongReads()
      let closed = Promise.withResolvers<void>()
      async function* pieces() {
        try {
          for (;;) yield new Uint8Array(64 * 1024)
        } finally {
          closed.resolve()
        }
      }
      const endless = () => reads.begin(pieces)
      const listener = listenOver({ export: endless, backup: endless }, clock)
      try {
        for (let i = 0; i < 10; i++) {
          const leave = new AbortController()
          const answer = await fetch(listener.url + path, {
            headers: { Authorization: `Bearer ${TOKEN}` },
            signal: leave.signal,
          })
          expect([i, answer.status]).toEqual([i, 200])
          leave.abort()
          await closed.promise
          closed = Promise.withResolvers()
        }
      } finally {
        await listener.stop()
      }
    },
  )

  test("of nothing", async () => {
    const before = await server.audit()
    const answer = await server.api("POST", IMPORT, "")
    expect([answer.status, await answer.json()]).toEqual([200, NOTHING])
    const out = await server.api("GET", EXPORT)
    expect([out.status, await out.text()]).toEqual([200, ""])
    expect(await server.audit()).toEqual(before)
  })

  test("in chunks, under any content type", async () => {
    const body = "5\r\n192.0\r\n5\r\n.2.1\n\r\n0\r\n\r\n"
    const text = requestText(
      `POST ${IMPORT}`,
      [BEARER, "Content-Type: image/png", "Transfer-Encoding: chunked"],
      body,
    )
    expect((await ask(server.address, text)).status).toBe(200)
    expect((await server.lists()).permanent).toEqual(["192.0.2.1"])
  })

  test.each<readonly [string, string | Uint8Array, string]>([
    [
      "bad lines, each with its number and its reason",
      "192.0.2.1\n10.0.0.5/8\nnonsense\n192.0.2.2\n",
      'line 2: "10.0.0.5/8" has host bits set; did you mean 10.0.0.0/8 or 10.0.0.5?\nline 3: "nonsense" is not an IP address or CIDR\n',
    ],
    [
      "a lifetime that is none",
      "192.0.2.1\n192.0.2.2\tsoon\n",
      "line 2: the lifetime must be 1 to 315360000 seconds, or a time like 2026-11-21T18:00:00Z\n",
    ],
    [
      "bytes that are no UTF-8",
      Uint8Array.of(49, 46, 50, 46, 51, 46, 52, 10, 255, 10),
      "line 2: not valid UTF-8\n",
    ],
    ["JSON", '{"ip":"192.0.2.1"}', 'line 1: "{\\"ip\\":\\"192.0.2.1\\"}" is not an IP address or CIDR\n'],
  ])("%s: 400, and nothing of it is taken", async (what, body, message) => {
    const before = await server.audit()
    const headers = { Authorization: `Bearer ${TOKEN}` }
    const answer = await server.request("POST", IMPORT, { headers, body })
    const text = await answer.text()
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([400, "text/plain; charset=utf-8"])
    if (what !== "JSON") expect(text).toBe(message)
    expect(await server.lists()).toEqual({ permanent: [], temporary: [] })
    expect(await server.audit()).toEqual(before)
    expect(await server.read("/status")).toMatchObject({ status: "ok", db_ok: true })
  })

  test("prune removes what is not named, but never more than it may", async () => {
    await server.addPermanent("192.0.2.1", "192.0.2.2", "192.0.2.3")
    const tooMany = await server.api("POST", `${IMPORT}?prune=1`, "192.0.2.1\n")
    expect([tooMany.status, await tooMany.text()]).toEqual([
      400,
      "pruning would remove 2 permanent entries, and at most 1 may go: nothing was changed\n  if they shall go, allow as many: --max-removals 2, or prune=2 of the API\n",
    ])
    expect((await server.lists()).permanent).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3"])
    for (const query of ["prune=", "prune=x", "prune=-1", "prune=2&prune=2"]) {
      expect((await server.api("POST", `${IMPORT}?${query}`, "192.0.2.1\n")).status).toBe(400)
    }
    expect(await (await server.api("POST", `${IMPORT}?prune=2`, "192.0.2.1\n")).json()).toEqual({
      ...NOTHING,
      unchanged: 1,
      removed: 2,
    })
    expect((await server.lists()).permanent).toEqual(["192.0.2.1"])
    expect([await server.decision("192.0.2.1"), await server.decision("192.0.2.2")]).toEqual([204, 401])
  })

  test("larger than any list: refused before it comes, with a token and without", async () => {
    const length = `Content-Length: ${64 * 2 ** 20 + 1}`
    const told = await ask(server.address, requestText(`POST ${IMPORT}`, [BEARER, length]))
    expect([told.status, told.body]).toEqual([413, "the body is larger than 67108864 bytes\n"])
    expect((await ask(server.address, requestText(`POST ${IMPORT}`, [length]))).status).toBe(401)
    const huge = await allBytes(
      server.address,
      requestText(`POST ${IMPORT}`, ["Content-Length: 99999999999"]),
    )
    expect(huge).toStartWith("HTTP/1.1 413 ")
  })

  test("no other endpoint takes more than its 64 KiB for that", async () => {
    for (const path of [PERM, TEMP]) {
      const text = requestText(`POST ${path}`, [BEARER, "Content-Length: 65537"])
      expect((await ask(server.address, text)).status).toBe(413)
    }
  })
})

describe("the room for imports", () => {
  /** A request that announces so many bytes, or with `null` sends them in chunks. */
  const announcing = (bytes: number | null) =>
    new Request("http://gate.test/", {
      method: "POST",
      headers: bytes === null ? {} : { "Content-Length": String(bytes) },
    })
  const BUSY = "too many large imports are under way already; try again later"

  test("a body that does not say how long it is counts as the largest", () => {
    const space = new ImportSpace()
    const [first, ..._others] = [1, 2, 3, 4].map(() => space.take(announcing(null)))
    expect(() => space.take(announcing(null))).toThrow(BUSY)
    expect(() => space.take(announcing(1))).toThrow(BUSY)
    first?.[Symbol.dispose]()
    space.take(announcing(null))
    expect(() => space.take(announcing(null))).toThrow(BUSY)
  })

  test("is taken to its last byte, and no further", () => {
    const space = new ImportSpace()
    for (const bytes of [LARGEST_IMPORT, LARGEST_IMPORT, LARGEST_IMPORT, LARGEST_IMPORT - 1])
      space.take(announcing(bytes))
    expect(() => space.take(announcing(2))).toThrow(BUSY)
    space.take(announcing(0))
    space.take(announcing(1))
    expect(() => space.take(announcing(1))).toThrow(BUSY)
  })
})

describe("the feed of changes", () => {
  beforeEach(clear)

  /** Follows the feed; `next` is the next event as it stands in the stream. */
  async function follow(query = "", headers: Record<string, string> = {}) {
    const stop = new AbortController()
    const answer = await server.request("GET", `/api/events${query}`, {
      headers: { Authorization: `Bearer ${TOKEN}`, ...headers },
      signal: stop.signal,
    })
    if (answer.body === null) throw new Error("there is no stream")
    const reader = answer.body.getReader()
    const decoder = new TextDecoder()
    let text = ""
    const next = async (): Promise<string> => {
      for (;;) {
        const end = text.indexOf("\n\n")
        if (end !== -1) {
          const event = text.slice(0, end)
          text = text.slice(end + 2)
          return event
        }
        const { done, value } = await reader.read()
        if (done) throw new Error("the stream has ended")
        text += decoder.decode(value, { stream: true })
      }
    }
    return { answer, next, stop: () => stop.abort(), reader }
  }

  const idOf = (event: string) => Number(/^id: (\d+)$/m.exec(event)?.[1])
  const rowOf = (event: string) => JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? "") as AuditRow

  test("tells each change when it has happened, as the log has it", async () => {
    const feed = await follow()
    expect(feed.answer.status).toBe(200)
    const { date, ...headers } = Object.fromEntries(feed.answer.headers)
    expect(headers).toMatchObject({ "cache-control": "no-store", "content-type": "text/event-stream" })
    expect(await feed.next()).toMatch(/^id: \d+\nevent: at\ndata: \{\}$/)

    await server.addPermanent("192.0.2.7")
    const first = await feed.next()
    await server.api("POST", TEMP, { ip: "192.0.2.8", ttl_seconds: 60, reason: "x" })
    const second = await feed.next()
    expect(first).toMatch(/^id: \d+\nevent: change\ndata: \{/)
    expect(idOf(second)).toBe(idOf(first) + 1)
    expect([rowOf(first), rowOf(second)]).toEqual((await server.audit()).slice(-2))
    feed.stop()
  })

  test("begins where it was left, by the header before the query", async () => {
    await server.addPermanent("192.0.2.1", "192.0.2.2", "192.0.2.3")
    const newest = await follow("?tail=3")
    const ids = [idOf(await newest.next()), idOf(await newest.next()), idOf(await newest.next())]
    newest.stop()
    const later = await follow(`?after=${ids[2]}`, { "Last-Event-ID": String(ids[0]) })
    expect([rowOf(await later.next()).ip, rowOf(await later.next()).ip]).toEqual(["192.0.2.2", "192.0.2.3"])
    expect(await later.next()).toBe(`id: ${ids[2]}\nevent: at\ndata: {}`)
    later.stop()
  })

  test("is filtered as the log is", async () => {
    const feed = await follow("?action=add_perm&ip=::ffff:192.0.2.5")
    await feed.next()
    await server.addPermanent("192.0.2.4")
    await server.api("POST", TEMP, { ip: "192.0.2.5", ttl_seconds: 60 })
    await server.addPermanent("192.0.2.5")
    expect(rowOf(await feed.next())).toMatchObject({ action: "add_perm", ip: "192.0.2.5" })
    feed.stop()
  })

  test.each([
    "?tail=1001",
    "?tail=-1",
    "?after=x",
    "?action=login",
    "?ip=nonsense",
    "?limit=0",
    "?tail=1&tail=1",
    "?ip=192.0.2.7&ip=192.0.2.7",
  ])("%s: 400", async (query) => {
    const answer = await server.api("GET", `/api/events${query}`)
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([400, "text/plain; charset=utf-8"])
  })

  test("ends its source with its reader, also where that does not watch the client", async () => {
    let hasEnded = false
    async function* changes() {
      try {
        for (let id = 1; ; id++) yield { kind: "at", id } as const
      } finally {
        hasEnded = true
      }
    }
    const reader = eventStream(changes()).body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    expect(hasEnded).toBe(false)
    await reader?.cancel()
    expect(hasEnded).toBe(true)
  })

  test("ends when the server stops, and does not keep it from stopping", async () => {
    const own = await runServer()
    const answer = await own.request("GET", "/api/events", { headers: { Authorization: `Bearer ${TOKEN}` } })
    const whole = answer.text()
    await own.stop()
    expect(await whole).toStartWith("id: 0\nevent: at\n")
  })
})

describe("who was refused", () => {
  test("is remembered with the times and the number of them, the last one first", async () => {
    const own = await runServer({ clock })
    try {
      const first = new Date(clock.wall()).toISOString()
      await own.decision("192.0.2.1")
      await own.decision("2001:DB8::1")
      clock.advance(1000)
      await own.decision("::ffff:192.0.2.1")
      const last = new Date(clock.wall()).toISOString()
      const answer = await own.api("GET", "/api/denied")
      expect(await answer.text()).toBe(
        JSON.stringify([
          { ip: "192.0.2.1", count: 2, first_seen: first, last_seen: last, last_entry: null },
          { ip: "2001:db8::1", count: 1, first_seen: first, last_seen: first, last_entry: null },
        ]),
      )
      expect(await own.read("/api/denied?limit=1&offset=1")).toMatchObject([{ ip: "2001:db8::1" }])
      expect(await own.read("/api/denied?offset=2")).toEqual([])

      // Who names no address, or is let in, is not in it.
      await own.addPermanent("192.0.2.2")
      for (const text of ["nonsense", "192.0.2.2"]) await own.decision(text)
      expect(await own.read("/api/denied")).toHaveLength(2)

      clock.advance(1000)
      const ended = new Date(clock.wall()).toISOString()
      await own.api("DELETE", `${PERM}/192.0.2.2`)
      await own.decision("192.0.2.2")
      expect(await own.read("/api/denied?limit=1")).toMatchObject([
        {
          ip: "192.0.2.2",
          count: 1,
          last_entry: { list: "perm", ip: "192.0.2.2", ended, how: "removed" },
        },
      ])

      expect(await own.read("/api/decisions")).toEqual({ allowed: 1, denied: 5, unidentified: 1 })
      expect((await own.api("GET", "/api/denied?limit=0")).status).toBe(400)
      // None of it is for the audit log.
      expect((await own.audit()).map(({ action }) => action)).toEqual(["add_perm", "delete_perm"])
    } finally {
      await own.stop()
    }
  })

  test("needs the token, and does not show in /status", async () => {
    for (const path of ["/api/denied", "/api/decisions", "/api/events", EXPORT]) {
      const answer = await ask(server.address, requestText(`GET ${path}`))
      expect([path, answer.status, headerOf(answer, "WWW-Authenticate")]).toEqual([path, 401, "Bearer"])
    }
    expect(Object.keys((await server.read("/status")) as object)).toHaveLength(5)
  })
})
