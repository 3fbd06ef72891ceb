// The client and the server mean the same paths: each one that the client builds is routed, and to the right handler.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Gate } from "../../src/core/gate.ts"
import { RemoteGate } from "../../src/gate/remote-gate.ts"
import * as paths from "../../src/wire/paths.ts"
import { NETWORK_ROWS } from "../support/corpus.ts"
import { network } from "../support/parsed.ts"
import { type RunningServer, runServer, TOKEN } from "../support/running-server.ts"

let server: RunningServer
/** What the client has asked for since the test began. */
let asked: Array<{ method: string; path: string; status: number }>
let gate: Gate

beforeAll(async () => {
  server = await runServer()
  gate = new RemoteGate(
    async (path, init) => {
      const answer = await fetch(server.url + path, init)
      asked.push({ method: init.method ?? "GET", path, status: answer.status })
      return answer
    },
    () => TOKEN,
  )
})

afterAll(() => server.stop())

const IP = network("2001:db8::/32")
const PAGE = { limit: 10, offset: 0 }

const CALLS: ReadonlyArray<
  readonly [name: string, call: () => Promise<unknown>, method: string, path: string]
> = [
  ["addPermanent", () => gate.addPermanent(IP), "POST", "/api/whitelist/perm"],
  ["listPermanent", () => gate.listPermanent(PAGE), "GET", "/api/whitelist/perm/list?limit=10&offset=0"],
  ["removePermanent", () => gate.removePermanent(IP), "DELETE", "/api/whitelist/perm/2001%3Adb8%3A%3A%2F32"],
  [
    "addTemporary",
    () => gate.addTemporary({ network: IP, ttlSeconds: 60, reason: "x" }),
    "POST",
    "/api/whitelist/temp",
  ],
  ["listTemporary", () => gate.listTemporary(PAGE), "GET", "/api/whitelist/temp/list?limit=10&offset=0"],
  ["removeTemporary", () => gate.removeTemporary(IP), "DELETE", "/api/whitelist/temp/2001%3Adb8%3A%3A%2F32"],
  [
    "audit",
    () => gate.audit({ ...PAGE, action: "add_perm", network: IP }),
    "GET",
    "/api/logs?limit=10&offset=0&action=add_perm&ip=2001%3Adb8%3A%3A%2F32",
  ],
  [
    "auditDetail",
    () => gate.auditDetail({ ...PAGE, action: "add_perm", network: IP }),
    "GET",
    "/api/logs?limit=10&offset=0&action=add_perm&ip=2001%3Adb8%3A%3A%2F32&detail=1",
  ],
  ["check", () => gate.check(IP), "GET", "/api/check?ip=2001%3Adb8%3A%3A%2F32&matches=all"],
  ["status", () => gate.status(), "GET", "/status"],
  ["refused", () => gate.refused(PAGE), "GET", "/api/denied?limit=10&offset=0"],
  ["decisions", () => gate.decisions(), "GET", "/api/decisions?"],
  [
    "import",
    () => gate.import({ lines: new TextEncoder().encode("192.0.2.7\n"), prune: { maxRemovals: 3 } }),
    "POST",
    "/api/whitelist/import?prune=3",
  ],
  ["backup", () => Array.fromAsync(gate.backup()), "GET", "/api/backup"],
  ["export", () => Array.fromAsync(gate.export()), "GET", "/api/whitelist/export"],
  [
    "follow",
    async () => {
      const stop = new AbortController()
      const events = gate.follow({ tail: 1 }, { action: "add_perm", network: IP }, stop.signal)
      for await (const event of events) if (event.kind === "at") stop.abort()
    },
    "GET",
    "/api/events?tail=1&action=add_perm&ip=2001%3Adb8%3A%3A%2F32",
  ],
]

test.each(CALLS)("%s", async (_name, call, method, path) => {
  asked = []
  await call()
  expect(asked.map((one) => [one.method, one.path])).toEqual([[method, path]])
  expect([200, 204]).toContain(asked[0]?.status ?? 0)
})

test("the client has no other operation", () => {
  const operations = Object.getOwnPropertyNames(RemoteGate.prototype)
  const helping = ["constructor", "remove"]
  expect(operations.filter((name) => !helping.includes(name)).sort()).toEqual(
    CALLS.map(([name]) => name).sort(),
  )
})

describe("the path of an entry", () => {
  test.each(NETWORK_ROWS.flatMap(({ canonical }) => canonical ?? []))(
    "%s reaches that entry",
    async (text) => {
      asked = []
      await gate.addPermanent(network(text))
      expect((await server.lists()).permanent).toContain(text)
      expect(await gate.removePermanent(network(text))).toBe("removed")
      expect(asked.at(-1)?.path).toBe(paths.entryPath(paths.PERMANENT_PATH, text))
      expect((await server.lists()).permanent).not.toContain(text)
    },
  )

  test("has one segment for the address, whatever stands in it", () => {
    expect(paths.entryPath("/base", "10.0.0.0/8")).toBe("/base/10.0.0.0%2F8")
    expect(paths.entryPath("/base", "../list?x#y")).toBe("/base/..%2Flist%3Fx%23y")
  })
})
