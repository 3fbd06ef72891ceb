// What only the client of a server has to deal with: tokens, strange answers, servers that are not there.

import { afterEach, describe, expect, test } from "bun:test"
import { openRemoteGate } from "../../src/app/remote.ts"
import { startServer } from "../../src/app/server.ts"
import { GateError } from "../../src/core/errors.ts"
import type { Gate } from "../../src/core/gate.ts"
import type { Send } from "../../src/gate/authorized-requests.ts"
import { RemoteGate } from "../../src/gate/remote-gate.ts"
import type { Routes } from "../../src/http/routes.ts"
import { formatListenAddress } from "../../src/listen-address.ts"
import { watchAnswers } from "../contract/watched.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { dispatcher, silentLog, TOKEN } from "../support/gate-openers.ts"
import { network } from "../support/parsed.ts"
import { temporaryPaths } from "../support/temp-store.ts"
import { DEFAULT_TRUSTED_PROXIES } from "../support/trusted-proxies.ts"

const newPath = temporaryPaths()
const IP = network("192.0.2.1")
const PAGE = { limit: 10, offset: 0 }

const stops: Array<() => unknown> = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** Everything that can be asked with a token. */
const CALLS: ReadonlyArray<readonly [name: string, call: (gate: Gate) => Promise<unknown>]> = [
  ["addPermanent", (gate) => gate.addPermanent(IP)],
  ["removePermanent", (gate) => gate.removePermanent(IP)],
  ["listPermanent", (gate) => gate.listPermanent(PAGE)],
  ["addTemporary", (gate) => gate.addTemporary({ network: IP, ttlSeconds: 60, reason: null })],
  ["removeTemporary", (gate) => gate.removeTemporary(IP)],
  ["listTemporary", (gate) => gate.listTemporary(PAGE)],
  ["audit", (gate) => gate.audit(PAGE)],
  ["check", (gate) => gate.check(IP)],
  ["import", (gate) => gate.import({ lines: new TextEncoder().encode("192.0.2.1\n"), prune: null })],
  ["backup", (gate) => gate.backup()[Symbol.asyncIterator]().next()],
  ["export", (gate) => gate.export()[Symbol.asyncIterator]().next()],
]

async function refusal(call: Promise<unknown>): Promise<GateError> {
  const error: unknown = await call.then(
    () => "fulfilled",
    (error) => error,
  )
  expect(error).toBeInstanceOf(GateError)
  return error as GateError
}

async function server(
  listen: { kind: "tcp"; hostname: string; port: number } | { kind: "unix"; path: string },
) {
  const running = await startServer(
    {
      listen: [listen],
      databasePath: newPath(),
      trustedProxies: DEFAULT_TRUSTED_PROXIES,
      clientIpHeader: "X-Real-IP",
    },
    [TOKEN],
    new FakeClock(),
    silentLog,
  )
  const unwatch = watchAnswers(running.addresses)
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= running.stop().then(unwatch)
    return stopping
  }
  stops.push(stop)
  const [address] = running.addresses
  if (address === undefined) throw new Error("the server listens nowhere")
  return { name: formatListenAddress(address), stop }
}

const LOOPBACK = { kind: "tcp", hostname: "127.0.0.1", port: 0 } as const

describe("the token", () => {
  test("is refused if it is wrong, for everything but the status, and nothing is changed", async () => {
    const { name } = await server(LOOPBACK)
    const gate = openRemoteGate(name, () => `${TOKEN}x`)
    for (const [, call] of CALLS) {
      const { code, message } = await refusal(call(gate))
      expect([code, message]).toEqual(["unauthorized", "missing or invalid token"])
    }
    expect((await gate.status()).permanentCount).toBe(0)
    expect(await openRemoteGate(name, () => TOKEN).audit(PAGE)).toEqual([])
  })

  test("is asked for only when it is needed, so that the status works without one", async () => {
    const { name } = await server(LOOPBACK)
    const gate = openRemoteGate(name, () => {
      throw new GateError("unauthorized", "there is no token")
    })
    expect((await gate.status()).status).toBe("ok")
    for (const [, call] of CALLS) expect((await refusal(call(gate))).message).toBe("there is no token")
  })
})

describe("the server", () => {
  test("may be named by address, by URL with or without a slash at its end, or by socket", async () => {
    const { name } = await server(LOOPBACK)
    const path = newPath("gate.sock")
    await server({ kind: "unix", path })
    for (const spelling of [name, `http://${name}`, `http://${name}/`, `unix:${path}`]) {
      const gate = openRemoteGate(spelling, () => TOKEN)
      expect((await gate.status()).status).toBe("ok")
      await gate.removePermanent(IP)
      expect(await gate.addPermanent(IP)).toBe("added")
    }
    // Over the socket nobody has an address.
    const [record] = await openRemoteGate(`unix:${path}`, () => TOKEN).audit({ limit: 1, offset: 0 })
    expect(record).toMatchObject({ action: "add_perm", actor: null })
  })

  test("that is not there is out of reach, and the message names it", async () => {
    const { name, stop } = await server(LOOPBACK)
    await stop()
    const socket = `unix:${newPath("nobody.sock")}`
    for (const spelling of [name, socket]) {
      const gate = openRemoteGate(spelling, () => TOKEN)
      for (const [, call] of [...CALLS, ["status", (gate: Gate) => gate.status()] as const]) {
        const error = await refusal(call(gate))
        expect([error.code, error.message]).toEqual([
          "unavailable",
          `no ipgate server answers at ${spelling}`,
        ])
        expect(error.hint).toContain("ipgate serve")
      }
    }
  })

  test("that refuses an import names every bad line in its message, and none of them is a hint", async () => {
    const { name } = await server(LOOPBACK)
    const bad = Array.from({ length: 100 }, (_, i) => `  ${i}\t  \t  why`)
    const error = await refusal(
      openRemoteGate(name, () => TOKEN).import({
        lines: new TextEncoder().encode(bad.join("\n")),
        prune: null,
      }),
    )
    expect([error.code, error.hint]).toEqual(["invalid", undefined])
    expect(error.message.split("\n").filter((line) => /^line \d+: /.test(line))).toHaveLength(100)
  })

  test("that sends elsewhere is not followed", async () => {
    const elsewhere = await server(LOOPBACK)
    const redirecting = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => Response.redirect(`http://${elsewhere.name}${new URL(request.url).pathname}`, 307),
    })
    stops.push(() => redirecting.stop(true))
    const gate = openRemoteGate(`127.0.0.1:${redirecting.port}`, () => TOKEN)
    for (const [, call] of CALLS) expect((await refusal(call(gate))).code).toBe("unavailable")
    expect(await openRemoteGate(elsewhere.name, () => TOKEN).audit(PAGE)).toEqual([])
  })
})

describe("an answer", () => {
  function answering(make: () => Response): Gate {
    return new RemoteGate(
      async () => make(),
      () => TOKEN,
    )
  }

  test.each([
    [400, "invalid"],
    [401, "unauthorized"],
    [409, "conflict"],
    [413, "invalid"],
    [404, "failed"],
    [500, "failed"],
    [503, "failed"],
  ])("of status %d is %s, with the message of the server", async (status, code) => {
    const gate = answering(() => new Response("what went wrong\n", { status }))
    for (const [, call] of CALLS) {
      const error = await refusal(call(gate))
      expect([error.code, error.message]).toEqual([code as GateError["code"], "what went wrong"])
    }
  })

  test("that is the page of another server is told by its status, and asks whether this is ipgate", async () => {
    const page = () => new Response("<p>no", { status: 404, headers: { "Content-Type": "text/html" } })
    const error = await refusal(answering(page).addPermanent(IP))
    expect([error.message, error.hint]).toEqual([
      "the server answered 404",
      "that was a web page: is it ipgate, and does a proxy before it pass this path on?",
    ])
  })

  test("with a last line that is indented has that line as its hint", async () => {
    const gate = answering(() => new Response("what went wrong\n  what to do\n", { status: 409 }))
    const { code, message, hint } = await refusal(
      gate.addTemporary({ network: IP, ttlSeconds: 60, reason: null }),
    )
    expect([code, message, hint]).toEqual(["conflict", "what went wrong", "what to do"])
  })

  test("without a message, or with a page in its place, is told by its status", async () => {
    for (const body of [null, "", "  \n", `<!doctype html>${"<p>".repeat(100_000)}`]) {
      const gate = answering(() => new Response(body, { status: 502 }))
      expect((await refusal(gate.addPermanent(IP))).message).toBe("the server answered 502")
    }
  })

  test("that is no JSON, or JSON of another service, is a failure", async () => {
    const bodies = [
      "<html>",
      "",
      "null",
      "[1]",
      '{"allowed":1}',
      '[{"ip":7}]',
      '[{"ip":"192.0.2.1","expires":"x"}]',
    ]
    const asking = CALLS.filter(([name]) => ["listTemporary", "audit", "check", "import"].includes(name))
    for (const body of bodies) {
      const gate = answering(() => new Response(body))
      for (const [, call] of [...asking, ["status", (gate: Gate) => gate.status()] as const]) {
        expect((await refusal(call(gate))).code).toBe("failed")
      }
    }
  })

  test("of a change without the words of this version still tells added, or removed", async () => {
    const gate = answering(() => new Response(null, { status: 204 }))
    expect(await gate.addPermanent(IP)).toBe("added")
    expect(await gate.removePermanent(IP)).toBe("removed")
    expect((await refusal(gate.addTemporary({ network: IP, ttlSeconds: 60, reason: null }))).code).toBe(
      "failed",
    )
  })
})

test("requests are as the service document has them", async () => {
  const seen: Array<readonly [method: string, target: string, body: string | null]> = []
  const send: Send = async (target, init) => {
    const request = new Request(`http://gate.test${target}`, init)
    seen.push([request.method, target, request.body === null ? null : await request.text()])
    expect(request.headers.get("Authorization")).toBe(`Bearer ${TOKEN}`)
    return request.method === "GET"
      ? Response.json([])
      : new Response(null, { status: 204, headers: { "Ipgate-Expires": "2026-01-01T00:00:00.000Z" } })
  }
  const gate = new RemoteGate(send, () => TOKEN)
  const wide = network("10.0.0.0/8")
  await gate.addPermanent(wide)
  await gate.removePermanent(wide)
  await gate.removePermanent(network("2001:db8::/32"))
  await gate.listPermanent({ limit: 7, offset: 3 })
  await gate.addTemporary({ network: wide, ttlSeconds: 60, reason: null })
  await gate.addTemporary({ network: wide, ttlSeconds: 60, reason: "a visitor" })
  await gate.removeTemporary(IP)
  await gate.listTemporary({ limit: 7, offset: 3 })
  await gate.audit({ limit: 7, offset: 3 })
  await gate.audit({ limit: 7, offset: 3, action: "add_perm", network: wide })
  expect(seen).toEqual([
    ["POST", "/api/whitelist/perm", '{"ip":"10.0.0.0/8"}'],
    ["DELETE", "/api/whitelist/perm/10.0.0.0%2F8", null],
    ["DELETE", "/api/whitelist/perm/2001%3Adb8%3A%3A%2F32", null],
    ["GET", "/api/whitelist/perm/list?limit=7&offset=3", null],
    ["POST", "/api/whitelist/temp", '{"ip":"10.0.0.0/8","ttl_seconds":60}'],
    ["POST", "/api/whitelist/temp", '{"ip":"10.0.0.0/8","ttl_seconds":60,"reason":"a visitor"}'],
    ["DELETE", "/api/whitelist/temp/192.0.2.1", null],
    ["GET", "/api/whitelist/temp/list?limit=7&offset=3", null],
    ["GET", "/api/logs?limit=7&offset=3", null],
    ["GET", "/api/logs?limit=7&offset=3&action=add_perm&ip=10.0.0.0%2F8", null],
  ])
})

test("the dispatcher that stands in for a port matches paths as Bun does", async () => {
  const named = (name: string) => () => new Response(name)
  const names = ["/auth", "/authz", "/authz/*", "/status", "/api", "/api/*"]
  const table: Routes = {
    paths: Object.fromEntries(names.map((name) => [name, named(name)])),
    notFound: named("not found"),
    trustsLoopback: false,
  }
  const real = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: Object.fromEntries(names.map((name) => [name, named(name)])),
    fetch: named("not found"),
  })
  stops.push(() => real.stop(true))
  const send = dispatcher(table, "127.0.0.1")
  const targets = [
    ...[
      "/",
      "/auth",
      "/auth/",
      "/auth?x=/api/",
      "/authz",
      "/authz/",
      "/authz/a/b",
      "/authzz",
      "/status",
      "/Status",
    ],
    ...[
      "/api",
      "/api/",
      "/api?x",
      "/api/logs",
      "/api/logs?limit=1",
      "/api/whitelist/perm/10.0.0.0%2F8",
      "/apis",
    ],
    ...["/api/whitelist/perm/10.0.0.0/8", "/%61uth", "/constructor", "/auth%2F"],
  ]
  for (const target of targets) {
    const answers = [await send(target, {}), await fetch(`http://127.0.0.1:${real.port}${target}`)]
    const [stand, bun] = await Promise.all(answers.map((answer) => answer.text()))
    expect([target, stand]).toEqual([target, bun])
  }
})
