// The server, put together: what it tells of what it finds, what a start that fails leaves behind, and what a stop does.

import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test"
import { copyFileSync, linkSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ListenAddress } from "../../src/listen-address.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { freePort } from "../support/free-port.ts"
import { RawConnection, requestText } from "../support/raw-http.ts"
import {
  ANY_PORT,
  type RunningServer,
  type RunningServerOptions,
  runServer,
} from "../support/running-server.ts"

let directory: string
let servers: RunningServer[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ipgate-test-"))
  servers = []
})

afterEach(async () => {
  jest.useRealTimers()
  for (const server of servers) await server.stop()
  rmSync(directory, { recursive: true, force: true })
})

async function start(options: RunningServerOptions = {}): Promise<RunningServer> {
  const server = await runServer({ directory, ...options })
  servers.push(server)
  return server
}

/** Stops it, and hands over a copy of its database: this process keeps the file itself locked. */
async function stopped(server: RunningServer): Promise<string> {
  await server.stop()
  const path = join(directory, "copy.db")
  copyFileSync(server.databasePath, path)
  return path
}

describe("at its start the log has", () => {
  test("the place of a database that it made, and no word of one that was there", async () => {
    const first = await start()
    expect(first.log.join("")).toContain(
      ` warn made a new, empty database: nobody is let in yet path="${first.databasePath}"\n`,
    )
    const databasePath = await stopped(first)
    expect((await start({ databasePath })).log.join("")).not.toContain("made a new")
  })

  test.each([
    ["a link", symlinkSync, "the database is a link"],
    ["a file with two names", linkSync, "the database file has a second name"],
  ])("what is risky about %s", async (_, link, warning) => {
    const databasePath = join(directory, "other.db")
    link(await stopped(await start()), databasePath)
    const { log } = await start({ databasePath })
    const told = log.filter((line) => line.includes(" warn "))
    expect(told).toEqual([expect.stringContaining(warning)])
    expect(told[0]).toEndWith(` path="${databasePath}"\n`)
  })

  test("how many entries each list has", async () => {
    const first = await start()
    await first.addPermanent("192.0.2.1", "192.0.2.2")
    await first.api("POST", "/api/whitelist/temp", { ip: "192.0.2.3", ttl_seconds: 60 })
    const { log } = await start({ databasePath: await stopped(first) })
    expect(log.join("")).toMatch(/ info listening on \S+ permanent=2 temporary=1\n/)
  })

  test("how many entries have ended before it, also where it is one", async () => {
    const clock = new FakeClock()
    const first = await start({ clock })
    await first.api("POST", "/api/whitelist/temp", { ip: "192.0.2.3", ttl_seconds: 60 })
    const databasePath = await stopped(first)
    clock.advance(60_000)
    expect((await start({ clock, databasePath })).log.join("")).toContain(
      " notice temporary entries have ended that nobody had recorded ended=1\n",
    )
  })
})

test("the feed and the metrics go on where the log of the database stands", async () => {
  const first = await start()
  await first.addPermanent("192.0.2.1", "192.0.2.2")
  const server = await start({ databasePath: await stopped(first), metricsListen: ANY_PORT })
  const text = await (await fetch(`${server.metricsUrl}/metrics`)).text()
  expect(text).toContain("\nipgate_audit_records_written_total 2\n")
  expect(text).toContain("\nipgate_audit_records 2\n")
  const stream = await server.api("GET", "/api/events?tail=0")
  await server.stop()
  expect(await stream.text()).toStartWith("id: 2\n")
})

test("ends that cannot be recorded are told with their cause", async () => {
  const clock = new FakeClock()
  const server = await start({ clock })
  await server.api("POST", "/api/whitelist/temp", { ip: "192.0.2.3", ttl_seconds: 60 })
  renameSync(server.databasePath, `${server.databasePath}.away`)
  clock.advance(60_000)
  const told = () => server.log.filter((line) => line.includes("cannot be recorded"))
  while (told().length === 0) await Bun.sleep(10)
  expect(told()).toEqual([expect.stringMatching(/ error temporary entries that have ended .* cause=".+"\n$/)])
  renameSync(`${server.databasePath}.away`, server.databasePath)
})

test("a start that fails leaves its addresses to the next one", async () => {
  const address: ListenAddress = { kind: "tcp", hostname: "127.0.0.1", port: await freePort() }
  const unusable: ListenAddress = { kind: "unix", path: "/proc/none" }
  await expect(start({ listen: [address, unusable] })).rejects.toThrow("cannot listen on unix:/proc/none")
  const server = await start({ listen: [address], databasePath: join(directory, "other.db") })
  expect(await server.decision("192.0.2.1")).toBe(401)
})

test("a server that has stopped does nothing now and then any more", async () => {
  jest.useFakeTimers()
  const server = await start()
  expect(jest.getTimerCount()).toBeGreaterThan(0)
  await server.stop()
  // Less than the longest that a stop would wait for a request.
  jest.advanceTimersByTime(1_000)
  expect(jest.getTimerCount()).toBe(0)
})

test("a request under way has ten seconds after a stop, and what it changes is kept", async () => {
  const server = await start()
  const body = JSON.stringify({ ip: "192.0.2.1" })
  using connection = await RawConnection.open(server.address)
  connection.send(
    requestText("POST /api/whitelist/perm", [
      `Authorization: Bearer ${server.token}`,
      "Expect: 100-continue",
      `Content-Length: ${body.length}`,
    ]),
  )
  expect((await connection.answer()).status).toBe(100)
  jest.useFakeTimers()
  const stopping = server.stop()
  jest.advanceTimersByTime(9_999)
  connection.send(body)
  expect((await connection.answer()).status).toBe(204)
  jest.advanceTimersByTime(1)
  await stopping
  expect(server.log.filter((line) => line.includes(" notice allowed "))).toEqual([
    expect.stringContaining(' ip="192.0.2.1" '),
  ])
})

test("a stop records no more ends, and tells all that it has recorded", async () => {
  const clock = new FakeClock()
  const server = await start({ clock })
  const lines = Array.from({ length: 2_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}\t60\n`).join("")
  await server.api("POST", "/api/whitelist/import", lines)
  using connection = await RawConnection.open(server.address)
  connection.send(
    requestText("POST /api/whitelist/perm", [
      `Authorization: Bearer ${server.token}`,
      "Expect: 100-continue",
      "Content-Length: 1",
    ]),
  )
  expect((await connection.answer()).status).toBe(100)
  clock.advance(60_000)
  const told = () => server.log.filter((line) => line.includes(" notice ended ")).length
  while (told() === 0) await Bun.sleep(1)
  const before = told()
  const stopping = server.stop()
  // Time in which some hundreds would be recorded.
  await Bun.sleep(500)
  connection.close()
  await stopping
  // One transaction may have been under way.
  expect(told()).toBeLessThanOrEqual(before + 20)
  const next = await start({ clock, databasePath: await stopped(server) })
  expect(next.log.join("")).toContain(` that nobody had recorded ended=${2_000 - told()}\n`)
})

test("a stop ends the streams of changes, and does not wait for their readers", async () => {
  const server = await start()
  const stream = await server.api("GET", "/api/events?tail=0")
  jest.useFakeTimers()
  await server.stop()
  expect(await stream.text()).toStartWith("id: 0\n")
})

describe("what takes effect after its client has heard that it failed lets in all the same:", () => {
  const IP = "192.0.2.1"

  type Ask = (server: RunningServer) => Promise<Response>

  test.each<readonly [string, Ask, told: string, published: string]>([
    [
      "a change",
      (server) => server.api("POST", "/api/whitelist/perm", { ip: IP }),
      " notice allowed ",
      '"action":"add_perm"',
    ],
    [
      "an import",
      (server) => server.api("POST", "/api/whitelist/import", `${IP}\n`),
      " notice an import took effect after its client had been answered that it failed\n",
      "event: reload\n",
    ],
  ])("%s", async (_, ask, told, published) => {
    jest.useFakeTimers()
    const server = await start()
    const stream = await server.api("GET", "/api/events?tail=0")
    let status: number | null = null
    while (status !== 500) {
      await server.api("DELETE", `/api/whitelist/perm/${IP}`)
      status = null
      const asked = ask(server).then((answer) => {
        status = answer.status
      })
      // No call to the database may take so long.
      while (status === null) {
        jest.advanceTimersByTime(3_600_000)
        await server.decision("198.51.100.1")
      }
      await asked
    }
    while ((await server.decision(IP)) !== 204) {}
    expect(server.log.join("")).toContain(told)
    await server.stop()
    expect(await stream.text()).toContain(published)
  })
})
