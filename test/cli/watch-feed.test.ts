// What supplies the screen, over a real server: the lists, the changes, who was refused, and all that again after a loss.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { runFeed } from "../../cli/watch/feed.ts"
import { loadEntries, MOST_ENTRIES } from "../../cli/watch/load.ts"
import { type Model, type News, told } from "../../cli/watch/model.ts"
import { perform } from "../../cli/watch/tasks.ts"
import { openRemoteGate } from "../../src/app/remote.ts"
import { systemClock } from "../../src/core/clock.ts"
import type { Gate } from "../../src/core/gate.ts"
import type { Page } from "../../src/core/page.ts"
import { network } from "../support/parsed.ts"
import { type RunningServer, type RunningServerOptions, runServer, TOKEN } from "../support/running-server.ts"
import { copyDatabase, temporaryPaths } from "../support/temp-store.ts"
import { emptyModel, shown } from "./watch-world.ts"

const path = temporaryPaths()
let server: RunningServer
let gate: Gate
let token = TOKEN
const stopping: AbortController[] = []

/** A server with what the one before has left, in a file of its own: this process may still hold the other one's lock. */
async function next(options: RunningServerOptions = {}): Promise<RunningServer> {
  const databasePath = path()
  if (existsSync(server.databasePath)) copyDatabase(server.databasePath, databasePath)
  return runServer({ clock: systemClock, databasePath, ...options })
}

beforeEach(async () => {
  token = TOKEN
  server = await runServer({ clock: systemClock, databasePath: path() })
  gate = openRemoteGate(server.url, () => token)
})
afterEach(async () => {
  for (const stop of stopping.splice(0)) stop.abort()
  await server.stop()
})

const grant = (ip: string, ttlSeconds = 3600, reason: string | null = null) =>
  gate.addTemporary({ network: network(ip), ttlSeconds, reason })
const importAll = async (lines: readonly string[]) =>
  gate.import({ lines: new TextEncoder().encode(lines.join("\n")), prune: null })

/** A screen without a screen: the model, as the feed keeps it. */
class Watcher {
  model: Model = emptyModel()
  readonly news: News[] = []
  readonly running: Promise<void>
  readonly stop = new AbortController()

  constructor() {
    stopping.push(this.stop)
    this.running = runFeed({
      gate,
      clock: systemClock,
      sleep: (milliseconds) => Bun.sleep(milliseconds / 10),
      signal: this.stop.signal,
      tell: (news) => {
        this.news.push(news)
        this.model = told(this.model, news)
      },
    })
  }

  get active(): string[] {
    return shown(this.model).active.map((ip) => ip.replace("> ", ""))
  }

  get log(): string[] {
    return shown(this.model).log.map((row) => row.replace("> ", ""))
  }

  kinds(): string[] {
    return this.news.map(({ kind }) => kind)
  }
}

/** Fulfilled when it is so; the test's own time limit ends the waiting. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(2)
}

test("begins with the lists and the newest rows of the log, and goes on with each change", async () => {
  await grant("192.0.2.1", 7200, "on call")
  await gate.addPermanent(network("10.0.0.0/8"))
  const watcher = new Watcher()
  await until(() => watcher.model.isLoaded && watcher.model.server.status !== null)
  expect(watcher.active).toEqual(["192.0.2.1"])
  expect(watcher.model.entries.get("192.0.2.1")).toMatchObject({ reason: "on call", lifetime: 7_200_000 })
  expect(watcher.log).toEqual(["2 add_perm 10.0.0.0/8", "1 add_temp 192.0.2.1"])
  expect(watcher.model.server.status).toMatchObject({ permanentCount: 1, temporaryCount: 1 })

  await grant("192.0.2.2")
  await gate.removeTemporary(network("192.0.2.1"))
  await until(() => watcher.log.length === 4)
  expect(watcher.active).toEqual(["192.0.2.2"])
  expect(watcher.log.slice(0, 2)).toEqual(["4 delete_temp 192.0.2.1", "3 add_temp 192.0.2.2"])
  expect(watcher.kinds().filter((kind) => kind === "listed")).toHaveLength(1)
})

test("a flood of changes is told in few pieces, and none is lost", async () => {
  const watcher = new Watcher()
  await until(() => watcher.model.isLoaded)
  await Promise.all(Array.from({ length: 400 }, (_, i) => grant(`10.0.${i >> 8}.${i & 255}`, 60 + i)))
  await until(() => watcher.model.entries.size === 400)
  expect(watcher.active).toHaveLength(400)
  expect(watcher.kinds().filter((kind) => kind === "changed").length).toBeLessThan(100)
})

test("what is added while the lists are read is there in the end, whatever comes first", async () => {
  await importAll(Array.from({ length: 2_500 }, (_, i) => `10.1.${i >> 8}.${i & 255}\t${3600 + i}`))
  const watcher = new Watcher()
  const expected = new Set(Array.from({ length: 2_500 }, (_, i) => `10.1.${i >> 8}.${i & 255}`))
  for (let i = 0; i < 200; i++) {
    await grant(`10.2.0.${i}`, 30_000)
    expected.add(`10.2.0.${i}`)
    await gate.removeTemporary(network(`10.1.0.${i}`))
    expected.delete(`10.1.0.${i}`)
  }
  await until(() => watcher.model.isLoaded && watcher.log[0]?.endsWith("delete_temp 10.1.0.199") === true)
  expect(new Set(watcher.active)).toEqual(expected)
})

test("a large import is read anew, the log with it", async () => {
  const watcher = new Watcher()
  await until(() => watcher.model.isLoaded)
  await importAll(Array.from({ length: 1_500 }, (_, i) => `10.1.${i >> 8}.${i & 255}\t3600\timported`))
  await until(() => watcher.model.entries.size === 1_500)
  await until(() => watcher.log.length === 500)
  await grant("192.0.2.1", 60)
  await until(() => watcher.log[0] === "1501 add_temp 192.0.2.1")
  expect(watcher.model.entries.size).toBe(1_501)
  expect(watcher.log.slice(0, 2)).toEqual(["1501 add_temp 192.0.2.1", "1500 add_temp 10.1.5.219"])
  expect(new Set(watcher.log).size).toBe(500)
})

test("tells who was refused, and how many were decided, and asks for clients only when there are new ones", async () => {
  const watcher = new Watcher()
  await until(() => watcher.model.server.status !== null)
  await server.decision("192.0.2.77")
  await until(() => watcher.model.refused.rows.length === 1)
  expect(watcher.model.refused.rows[0]).toMatchObject({ ip: "192.0.2.77", count: 1 })
  const asked = watcher.kinds().filter((kind) => kind === "refused").length
  const answers = watcher.kinds().filter((kind) => kind === "answered").length
  await until(() => watcher.kinds().filter((kind) => kind === "answered").length >= answers + 3)
  expect(watcher.kinds().filter((kind) => kind === "refused")).toHaveLength(asked)
  await server.decision("192.0.2.77")
  await until(() => watcher.model.refused.rows[0]?.count === 2)
  expect(watcher.model.server.counts).toMatchObject({ denied: 2 })
})

describe("a server that goes and comes back", () => {
  const restart = async (change: () => Promise<unknown> = async () => {}) => {
    const { address } = server
    await server.stop()
    server = await next()
    const outside = gate
    gate = openRemoteGate(server.url, () => token)
    await change()
    gate = outside
    await server.stop()
    server = await next({ listen: [address] })
  }

  test("is told as lost, and everything that was changed meanwhile is there afterwards, once", async () => {
    await grant("192.0.2.1")
    await grant("192.0.2.2")
    const watcher = new Watcher()
    await until(() => watcher.model.isLoaded)
    await restart(async () => {
      await until(() => watcher.model.server.problem?.startsWith("no ipgate server answers") === true)
      expect(watcher.active).toEqual(["192.0.2.1", "192.0.2.2"])
      await grant("192.0.2.3", 60)
      await gate.removeTemporary(network("192.0.2.1"))
    })
    await until(() => watcher.log.length === 4 && watcher.kinds().at(-1) === "answered")
    expect(watcher.active).toEqual(["192.0.2.3", "192.0.2.2"])
    expect(watcher.log).toEqual([
      "4 delete_temp 192.0.2.1",
      "3 add_temp 192.0.2.3",
      "2 add_temp 192.0.2.2",
      "1 add_temp 192.0.2.1",
    ])
    expect(watcher.model.server.problem).toBeNull()
  })

  test("with more changes than can be told is read anew", async () => {
    const watcher = new Watcher()
    await until(() => watcher.model.isLoaded)
    await restart(() => importAll(Array.from({ length: 1_200 }, (_, i) => `10.1.${i >> 8}.${i & 255}\t3600`)))
    await until(() => watcher.model.entries.size === 1_200)
    await grant("192.0.2.1")
    await until(() => watcher.model.entries.size === 1_201)
  })
})

test("another database behind the same address is shown as it is, though its log goes further", async () => {
  await grant("192.0.2.1")
  const watcher = new Watcher()
  await until(() => watcher.active.length === 1)
  const { address } = server
  await server.stop()
  server = await runServer({ clock: systemClock, databasePath: path() })
  const outside = gate
  gate = openRemoteGate(server.url, () => token)
  for (const i of [1, 2, 3, 4]) await grant(`10.0.0.${i}`, 60 * i)
  gate = outside
  await server.stop()
  server = await next({ listen: [address] })
  await until(() => watcher.active.length === 4)
  expect(watcher.active).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"])
})

test("a token that is refused is told, and a new one is taken without a restart", async () => {
  const watcher = new Watcher()
  await until(() => watcher.model.isLoaded)
  const { address } = server
  await server.stop()
  const other = "another-token-for-tests-of-48-characters-0123456"
  server = await next({ listen: [address], tokens: [other] })
  await until(() => watcher.model.server.problem === "missing or invalid token")
  token = other
  await until(() => watcher.model.server.problem === null)
  await grant("192.0.2.1")
  await until(() => watcher.active.includes("192.0.2.1"))
})

test("ends when it is told to, and tells nothing more", async () => {
  const watcher = new Watcher()
  await until(() => watcher.model.isLoaded)
  watcher.stop.abort()
  await watcher.running
  const { length } = watcher.news
  await grant("192.0.2.1")
  expect(watcher.news).toHaveLength(length)
})

describe("the list, page by page", () => {
  /** The same gate, with something that happens before each page. */
  const meanwhile = (happens: (page: Page) => Promise<void>): Gate =>
    new Proxy(gate, {
      get: (target, name) => {
        const member = Reflect.get(target, name)
        if (name === "listTemporary") {
          return async (page: Page) => {
            await happens(page)
            return target.listTemporary(page)
          }
        }
        return typeof member === "function" ? member.bind(target) : member
      },
    })
  const entries = (count: number, ttl = (i: number) => 3600 + i) =>
    importAll(Array.from({ length: count }, (_, i) => `10.1.${i >> 8}.${i & 255}\t${ttl(i)}`))
  const ips = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `10.1.${(from + i) >> 8}.${(from + i) & 255}`)

  test.each([0, 1, 999, 1_000, 1_001, 2_000, 3_210])("of %d entries is whole and in order", async (count) => {
    if (count > 0) await entries(count)
    const { entries: found, isPartial } = await loadEntries(gate)
    expect(found.map(({ ip }) => ip)).toEqual(ips(0, count))
    expect(isPartial).toBe(false)
  })

  test.each([5, 10, 11, 400, 990, 1_500])(
    "leaves none out while %d entries at its front end between two pages",
    async (ended) => {
      await entries(4_000)
      let removed = 0
      const busy = meanwhile(async ({ offset }) => {
        if (offset === 0 || removed > 0) return
        removed = ended
        await Promise.all(ips(0, ended).map((ip) => gate.removeTemporary(network(ip))))
      })
      const found = new Set((await loadEntries(busy)).entries.map(({ ip }) => ip))
      expect(ips(ended, 4_000).filter((ip) => !found.has(ip))).toEqual([])
    },
    20_000,
  )

  test("leaves none out among thousands that end in the same instant", async () => {
    await entries(3_000, () => 3600)
    expect((await loadEntries(gate)).entries).toHaveLength(3_000)
  })

  test("stops when there are more than anybody reads, and says so", async () => {
    await entries(MOST_ENTRIES + 2_000)
    const { entries: found, isPartial } = await loadEntries(gate)
    expect(isPartial).toBe(true)
    expect(found.length).toBeGreaterThanOrEqual(MOST_ENTRIES)
    expect(found.slice(0, 100).map(({ ip }) => ip)).toEqual(ips(0, 100))
  }, 20_000)

  test("knows for how long each was granted, where the log tells of this grant", async () => {
    await grant("192.0.2.1", 60)
    await grant("192.0.2.1", 7200)
    await grant("192.0.2.2", 300)
    await importAll([`192.0.2.3\t${new Date(Date.now() + 100_500).toISOString()}`])
    const found = new Map((await loadEntries(gate)).entries.map(({ ip, lifetime }) => [ip, lifetime]))
    expect(found.get("192.0.2.1")).toBe(7_200_000)
    expect(found.get("192.0.2.2")).toBe(300_000)
    expect([100_000, 101_000]).toContain(found.get("192.0.2.3") ?? 0)
  })
})

describe("what is asked for on the screen", () => {
  const at = (text: string) => network(text)

  test("is done, and told in one line", async () => {
    const allow = { kind: "allow", network: at("192.0.2.1"), ttlSeconds: 5400, reason: "on call" } as const
    const allowed = await perform(gate, allow)
    expect(allowed).toMatchObject({ kind: "done" })
    expect((allowed as { text: string }).text).toMatch(/^allowed 192\.0\.2\.1 until \d{4}-.*Z \(1h30m\)$/)
    expect((await perform(gate, allow)) as { text: string }).toMatchObject({
      text: expect.stringMatching(/\(1h30m\), in place of the earlier lifetime$/),
    })
    expect(await perform(gate, { kind: "remove", network: at("192.0.2.1") })).toEqual({
      kind: "done",
      text: "removed 192.0.2.1 from the temporary list",
    })
    expect(await perform(gate, { kind: "remove", network: at("192.0.2.1") })).toEqual({
      kind: "done",
      text: "192.0.2.1 was not on the temporary list any more",
    })
  })

  test("says what still lets an address in that was removed", async () => {
    await gate.addPermanent(at("192.0.2.0/24"))
    await grant("192.0.2.1")
    expect(await perform(gate, { kind: "remove", network: at("192.0.2.1") })).toEqual({
      kind: "done",
      text: "removed 192.0.2.1 from the temporary list; it is still allowed by permanent 192.0.2.0/24",
    })
  })

  test("moves an entry to the permanent list, and is content if it is there", async () => {
    await grant("192.0.2.1")
    const task = { kind: "make-permanent", network: at("192.0.2.1") } as const
    expect(await perform(gate, task)).toEqual({ kind: "done", text: "allowed 192.0.2.1 permanently" })
    expect(await server.lists()).toEqual({ permanent: ["192.0.2.1"], temporary: [] })
    expect(await perform(gate, task)).toEqual({
      kind: "done",
      text: "192.0.2.1 was already allowed permanently",
    })
    expect((await server.audit()).map(({ action }) => action)).toEqual([
      "add_temp",
      "add_perm",
      "delete_temp",
    ])
  })

  test("that cannot be done is told, and is no crash", async () => {
    await server.stop()
    expect(await perform(gate, { kind: "remove", network: at("192.0.2.1") })).toEqual({
      kind: "failed",
      text: `192.0.2.1: no ipgate server answers at ${server.url}`,
    })
    server = await next()
  })
})
