// What a running server tells Prometheus, and what it must never tell.

import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test"
import { renameSync } from "node:fs"
import { Allowlist } from "../../src/core/allowlist.ts"
import { systemClock } from "../../src/core/clock.ts"
import type { ListenAddress } from "../../src/listen-address.ts"
import { VERSION } from "../../src/version.ts"
import { ask, requestText } from "../support/raw-http.ts"
import {
  ANY_PORT,
  type RunningServer,
  type RunningServerOptions,
  runServer,
} from "../support/running-server.ts"
import { temporaryPaths } from "../support/temp-store.ts"
import { type Exposition, readExposition } from "./exposition.ts"

const newPath = temporaryPaths()

let server: RunningServer
let url: string

beforeEach(() => start())

afterEach(() => server.stop())

async function start(options: RunningServerOptions = {}): Promise<void> {
  server = await runServer({ metricsListen: ANY_PORT, clock: systemClock, ...options })
  url = server.metricsUrl
}

async function scrape(): Promise<Exposition> {
  const answer = await fetch(`${url}/metrics`)
  expect([answer.status, answer.headers.get("Content-Type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ])
  return readExposition(await answer.text())
}

const listed = "192.0.2.1"
const stranger = "198.51.100.77"

test("decisions by result, and how long some of them took", async () => {
  await server.addPermanent(listed)
  for (let i = 0; i < 100; i++) await server.decision(i < 60 ? listed : stranger)
  for (const text of ["", "nobody", "1.2.3.4, 5.6.7.8"]) await server.decision(text)

  const metrics = await scrape()
  expect(metrics.value("ipgate_auth_requests_total", { decision: "allow" })).toBe(60)
  expect(metrics.value("ipgate_auth_requests_total", { decision: "deny" })).toBe(43)
  expect(metrics.value("ipgate_auth_unidentified_total")).toBe(3)
  expect(metrics.value("ipgate_auth_faults_total")).toBe(0)
  expect(metrics.value("ipgate_auth_duration_seconds_count")).toBe(1)
  expect(metrics.value("ipgate_auth_duration_seconds_sum")).toBeGreaterThan(0)
})

test("decisions that break down, which let nobody in", async () => {
  await server.stop()
  // The API's document has no answer for a fault of ours.
  await start({ watched: false })
  await server.addPermanent(listed)
  const allows = spyOn(Allowlist.prototype, "allows").mockImplementation(() => {
    throw new Error("a fault of our own")
  })
  try {
    for (const [path, status] of [
      ["/auth", 500],
      ["/auth", 500],
      ["/authz", 403],
    ] as const) {
      const answer = await server.request("GET", path, { headers: { "X-Real-IP": listed } })
      expect([path, answer.status]).toEqual([path, status])
    }
  } finally {
    allows.mockRestore()
  }
  expect(await server.decision(listed)).toBe(204)
  expect((await scrape()).value("ipgate_auth_faults_total")).toBe(3)
})

test("which program it is, and that it has read its configuration at the start", async () => {
  const metrics = await scrape()
  expect(metrics.value("ipgate_build_info", { version: VERSION, bun: Bun.version })).toBe(1)
  expect(metrics.value("ipgate_config_last_reload_successful")).toBe(1)
  const readAt = metrics.value("ipgate_config_last_reload_success_timestamp_seconds")
  expect(readAt).toBeGreaterThan(metrics.value("process_start_time_seconds"))
  expect(readAt).toBeLessThanOrEqual(Date.now() / 1000)
})

test("changes by action, entries by list, the log, and the transactions", async () => {
  await server.addPermanent("192.0.2.0/24", "2001:db8::/32", listed)
  await server.api("POST", "/api/whitelist/temp", { ip: listed, ttl_seconds: 60 })
  await server.api("DELETE", `/api/whitelist/perm/${listed}`)
  await server.api("DELETE", `/api/whitelist/perm/${listed}`)

  const metrics = await scrape()
  const changes = (action: string) => metrics.value("ipgate_changes_total", { action })
  expect([changes("add_perm"), changes("add_temp"), changes("delete_perm")]).toEqual([3, 1, 1])
  expect([changes("delete_temp"), changes("expire_temp")]).toEqual([0, 0])
  expect(metrics.value("ipgate_entries", { list: "perm" })).toBe(2)
  expect(metrics.value("ipgate_entries", { list: "temp" })).toBe(1)
  expect(metrics.value("ipgate_audit_records")).toBe((await server.audit()).length)
  expect(metrics.value("ipgate_audit_records_written_total")).toBe(5)
  expect(metrics.value("ipgate_commit_changes_total")).toBe(6)
  expect(metrics.value("ipgate_commit_duration_seconds_count")).toBe(6)
  expect(metrics.value("ipgate_db_up")).toBe(1)
  expect(metrics.value("ipgate_db_size_bytes")).toBeGreaterThan(4096)
})

test("every change of a transaction is counted, and the time of all in seconds", async () => {
  const from = performance.now()
  const ips = Array.from({ length: 50 }, (_, i) => `192.0.2.${i}`)
  await Promise.all(ips.map((ip) => server.addPermanent(ip)))
  const seconds = (performance.now() - from) / 1000

  const metrics = await scrape()
  expect(metrics.value("ipgate_commit_changes_total")).toBe(50)
  expect(metrics.value("ipgate_commit_duration_seconds_count")).toBeLessThan(50)
  // One transaction follows the other.
  expect(metrics.value("ipgate_commit_duration_seconds_sum")).toBeLessThan(seconds)
})

test("the rows of an import are counted, and a rotated log holds no more than it keeps", async () => {
  await server.stop()
  await start({ auditRows: 3 })
  const lines = Array.from({ length: 5 }, (_, i) => `192.0.2.${i}\n`).join("")
  const answer = await server.api("POST", "/api/whitelist/import", lines)
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"added":5')])

  const metrics = await scrape()
  expect(metrics.value("ipgate_audit_records_written_total")).toBe(5)
  expect(metrics.value("ipgate_audit_records")).toBe(3)
  expect((await server.audit()).length).toBe(3)
})

test("what is under way: requests on every address, and changes that wait for an import", async () => {
  await server.stop()
  const socket: ListenAddress = { kind: "unix", path: newPath("gate.sock") }
  await start({ listen: [ANY_PORT, socket] })
  const underWay = async () => {
    const metrics = await scrape()
    const names = ["ipgate_http_requests_in_flight", "ipgate_changes_waiting"]
    return names.map((name) => metrics.value(name))
  }
  expect(await underWay()).toEqual([0, 0])

  const lines = Array.from({ length: 60_000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24\n`).join("")
  let isImported = false
  const imported = server.api("POST", "/api/whitelist/import", lines).then(({ status }) => {
    isImported = true
    return status
  })
  const changes: Array<Promise<Response>> = []
  let [requests, waiting] = [0, 0]
  while (!isImported) {
    const init = { method: "DELETE", headers: { Authorization: `Bearer ${server.token}` } }
    changes.push(fetch(`http://localhost/api/whitelist/perm/${listed}`, { ...init, unix: socket.path }))
    const [someRequests = 0, someWaiting = 0] = await underWay()
    requests = Math.max(requests, someRequests)
    waiting = Math.max(waiting, someWaiting)
  }
  expect(await imported).toBe(200)
  for (const change of changes) expect((await change).status).toBe(204)
  expect(waiting).toBeGreaterThan(0)
  // The import came on the one address, and all that waited for it on the other.
  expect(requests).toBeGreaterThan(waiting)
  expect(await underWay()).toEqual([0, 0])
})

test("requests by route template, method and status; an unknown method is one series, not one each", async () => {
  await server.api("DELETE", "/api/whitelist/temp/203.0.113.9")
  await server.api("DELETE", "/api/whitelist/temp/203.0.113.0%2F24")
  await server.request("GET", "/api/logs")
  await server.request("GET", "/status")
  await server.request("GET", "/203.0.113.9")
  await server.request("PROPFIND", "/203.0.113.10")

  const metrics = await scrape()
  const count = (route: string, method: string, code: string) =>
    metrics.value("ipgate_http_requests_total", { route, method, code })
  expect(count("/api/whitelist/temp/{ip}", "DELETE", "204")).toBe(2)
  expect(count("/api/logs", "GET", "401")).toBe(1)
  expect(count("/status", "GET", "200")).toBe(1)
  expect(count("other", "GET", "404")).toBe(1)
  expect(count("other", "other", "404")).toBe(1)
})

test("a database that fails is seen: db_up is 0, and the failed transactions are counted", async () => {
  await server.addPermanent(listed)
  expect((await scrape()).value("ipgate_db_up")).toBe(1)
  renameSync(server.databasePath, `${server.databasePath}.away`)

  expect((await server.api("POST", "/api/whitelist/perm", { ip: stranger })).status).toBe(500)
  const metrics = await scrape()
  expect(metrics.value("ipgate_db_up")).toBe(0)
  expect(metrics.value("ipgate_commit_failures_total")).toBe(1)
  expect(metrics.value("ipgate_db_size_bytes")).toBeNaN()
})

test("nothing that a client sent becomes a label or a name", async () => {
  await server.addPermanent(listed, "2001:db8::1")
  await server.api("POST", "/api/whitelist/temp", { ip: stranger, ttl_seconds: 60, reason: "on-call laptop" })
  await server.api("DELETE", `/api/whitelist/perm/${listed}`)
  await server.request("GET", `/${stranger}?q=${stranger}`)
  await server.decision(stranger)

  const { samples, types } = await scrape()
  const text = JSON.stringify(samples.map(({ name, labels }) => [name, labels]))
  for (const secret of [listed, stranger, "2001:db8", "laptop", server.token])
    expect(text).not.toContain(secret)
  const labels = new Set(samples.flatMap((one) => Object.keys(one.labels)))
  expect([...labels].sort()).toEqual([
    "action",
    "bun",
    "code",
    "decision",
    "le",
    "list",
    "method",
    "route",
    "version",
  ])
  expect(types.get("ipgate_auth_requests_total")).toBe("counter")
})

describe("the listener", () => {
  test("answers GET and HEAD of /metrics only, and never a decision", async () => {
    await server.addPermanent("127.0.0.1")
    const address = { kind: "tcp", hostname: "127.0.0.1", port: Number(new URL(url).port) } as const
    const status = async (line: string) =>
      (await ask(address, requestText(line, ["X-Real-IP: 127.0.0.1"]))).status
    expect(await status("GET /metrics")).toBe(200)
    expect((await fetch(`${url}/metrics`, { method: "HEAD" })).status).toBe(200)
    expect(await status("POST /metrics")).toBe(405)
    for (const path of ["/", "/auth", "/authz", "/status", "/api/logs", "/metrics/", "/%6detrics"]) {
      expect([path, await status(`GET ${path}`)]).toEqual([path, 404])
    }
  })

  test("is not there unless it was asked for, and the main address does not tell metrics", async () => {
    expect((await server.request("GET", "/metrics")).status).toBe(404)
    const plain = await runServer()
    try {
      expect(plain.log.join("")).not.toContain("metrics")
    } finally {
      await plain.stop()
    }
  })

  test("ends with the server", async () => {
    await server.stop()
    expect(fetch(`${url}/metrics`)).rejects.toThrow()
    server = await runServer()
  })

  test("an address that is taken stops the start, with a sentence", async () => {
    const taken = { kind: "tcp", hostname: "127.0.0.1", port: Number(new URL(url).port) } as const
    expect(runServer({ metricsListen: taken })).rejects.toThrow(`cannot listen on 127.0.0.1:${taken.port}`)
  })
})
