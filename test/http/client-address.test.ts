// Whose word counts: peers and headers, in a table and over real sockets.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ClientAddresses, type ClientIpHeader, type TrustedProxies } from "../../src/http/client-address.ts"
import type { Peer } from "../../src/http/guard.ts"
import { fault } from "../faults/fault.ts"
import { network } from "../support/parsed.ts"
import { ask, requestText } from "../support/raw-http.ts"
import { ANY_PORT, type RunningServer, runServer } from "../support/running-server.ts"
import { DEFAULT_TRUSTED_PROXIES } from "../support/trusted-proxies.ts"

const trusting = (...texts: readonly string[]): TrustedProxies => ({
  networks: texts.filter((text) => text !== "unix").map(network),
  unixSocket: texts.includes("unix"),
})

const requestWith = (headers: Record<string, string>) => new Request("http://gate.test/auth", { headers })

function clientOf(trusted: TrustedProxies, header: ClientIpHeader, peer: Peer, value: string): string | null {
  const clients = new ClientAddresses(trusted, header)
  return clients.ofRequest(requestWith({ [header]: value }), peer)?.toString() ?? null
}

describe(
  fault(
    "H-08 H-09",
    "peers of every kind under lists of trusted proxies of every kind",
    "only those that are listed",
  ),
  () => {
    const ROWS: ReadonlyArray<readonly [trusted: string, peer: Peer, believed: boolean]> = [
      ["default", "127.0.0.1", true],
      ["default", "127.255.255.254", true],
      ["default", "::1", true],
      ["default", "::ffff:127.0.0.1", true],
      ["default", "unix", true],
      ["default", "128.0.0.1", false],
      ["default", "::2", false],
      ["default", "::127.0.0.1", false],
      ["default", "10.0.0.1", false],
      ["default", null, false],
      ["default", "", false],
      ["default", "localhost", false],
      ["default", "unix:", false],
      ["default", "127.1", false],
      ["127.0.0.1", "127.0.0.1", true],
      ["127.0.0.1", "::ffff:127.0.0.1", true],
      ["127.0.0.1", "127.0.0.2", false],
      ["127.0.0.1", "::1", false],
      ["127.0.0.1", "unix", false],
      ["unix", "unix", true],
      ["unix", "127.0.0.1", false],
      ["10.0.0.0/8 2001:db8::/32", "10.255.255.255", true],
      ["10.0.0.0/8 2001:db8::/32", "11.0.0.0", false],
      ["10.0.0.0/8 2001:db8::/32", "2001:db8:ffff::1", true],
      ["10.0.0.0/8 2001:db8::/32", "2001:db9::", false],
      ["0.0.0.0/0", "203.0.113.7", true],
      ["0.0.0.0/0", "::1", false],
      ["0.0.0.0/0", null, false],
      ["::/0", "127.0.0.1", false],
      ["::/0", "2001:db8::1", true],
      ["", "127.0.0.1", false],
      ["", "::1", false],
      ["", "unix", false],
      ["", null, false],
    ]

    test.each(ROWS)("trusting %j: %j is believed: %p", (trusted, peer, believed) => {
      const proxies =
        trusted === "default" ? DEFAULT_TRUSTED_PROXIES : trusting(...trusted.split(" ").filter(Boolean))
      const clients = new ClientAddresses(proxies, "X-Real-IP")
      // Asked twice: the second answer comes from memory.
      for (let i = 0; i < 2; i++) {
        expect(clients.trusts(peer)).toBe(believed)
        const client = clients.ofRequest(requestWith({ "X-Real-IP": "203.0.113.9" }), peer)
        expect(client?.toString() ?? null).toBe(believed ? "203.0.113.9" : null)
      }
    })

    test("the verdicts that are remembered are bounded, and stay right", () => {
      const clients = new ClientAddresses(trusting("10.0.0.0/16"), "X-Real-IP")
      const remembered = () =>
        Object.values(clients).find((value): value is Map<string, boolean> => value instanceof Map)
      expect(remembered()?.size).toBe(0)
      let most = 0
      for (let i = 0; i < 5000; i++) {
        const inside = `10.0.${i >> 8}.${i & 255}`
        const outside = `10.1.${i >> 8}.${i & 255}`
        expect([clients.trusts(inside), clients.trusts(outside)]).toEqual([true, false])
        most = Math.max(most, remembered()?.size ?? 0)
      }
      expect(most).toBeGreaterThan(0)
      expect(most).toBeLessThanOrEqual(1024)
      expect([clients.trusts("10.0.0.0"), clients.trusts("10.1.0.0")]).toEqual([true, false])
    })
  },
)

test("who was trusted is believed no more when others take its place, at the very next request", () => {
  const clients = new ClientAddresses(DEFAULT_TRUSTED_PROXIES, "X-Real-IP")
  const peers: readonly Peer[] = ["127.0.0.1", "unix"]
  expect([...peers.map((peer) => clients.trusts(peer)), clients.trustsLoopback]).toEqual([true, true, true])
  clients.replace(trusting(), "X-Real-IP")
  expect([...peers.map((peer) => clients.trusts(peer)), clients.trustsLoopback]).toEqual([
    false,
    false,
    false,
  ])
  clients.replace(DEFAULT_TRUSTED_PROXIES, "X-Real-IP")
  expect([...peers.map((peer) => clients.trusts(peer)), clients.trustsLoopback]).toEqual([true, true, true])
})

describe("X-Real-IP", () => {
  test.each([
    ["203.0.113.9", "203.0.113.9"],
    ["2001:DB8::0:1", "2001:db8::1"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    // A proxy that is a client itself is a client: nobody else is named.
    ["127.0.0.1", "127.0.0.1"],
    ["203.0.113.9, 198.51.100.1", null],
    ["203.0.113.9/32", null],
    ["010.0.0.1", null],
    ["", null],
  ])("%j: %j", (value, client) => {
    expect(clientOf(DEFAULT_TRUSTED_PROXIES, "X-Real-IP", "127.0.0.1", value)).toBe(client)
  })

  test("is not read in the other mode, nor the other header in this one", () => {
    const both = requestWith({ "X-Real-IP": "203.0.113.1", "X-Forwarded-For": "203.0.113.2" })
    const read = (header: ClientIpHeader) =>
      new ClientAddresses(DEFAULT_TRUSTED_PROXIES, header).ofRequest(both, "127.0.0.1")?.toString()
    expect([read("X-Real-IP"), read("X-Forwarded-For")]).toEqual(["203.0.113.1", "203.0.113.2"])

    const other = (header: ClientIpHeader, only: string) =>
      new ClientAddresses(DEFAULT_TRUSTED_PROXIES, header).ofRequest(
        requestWith({ [only]: "203.0.113.1" }),
        "127.0.0.1",
      )
    expect([other("X-Real-IP", "X-Forwarded-For"), other("X-Forwarded-For", "X-Real-IP")]).toEqual([
      null,
      null,
    ])
  })
})

describe(
  fault(
    "H-07",
    "chains of hops, forged, malformed and very long",
    "the right-most hop that is no trusted proxy, or nobody",
  ),
  () => {
    const PROXIES = trusting("127.0.0.0/8", "10.0.0.0/8", "2001:db8:ff::/48")

    test.each([
      ["203.0.113.9", "203.0.113.9"],
      ["198.51.100.1, 203.0.113.9", "203.0.113.9"],
      ["198.51.100.1, 203.0.113.9, 10.0.0.1", "203.0.113.9"],
      ["198.51.100.1, 203.0.113.9, 10.1.2.3, 10.0.0.1", "203.0.113.9"],
      ["203.0.113.9, 10.0.0.1, 198.51.100.1", "198.51.100.1"],
      ["203.0.113.9,10.0.0.1", "203.0.113.9"],
      ["203.0.113.9 \t ,\t10.0.0.1 ", "203.0.113.9"],
      ["2001:db8::9, 2001:db8:ff::1", "2001:db8::9"],
      ["::ffff:203.0.113.9, ::ffff:10.0.0.1", "203.0.113.9"],
      ["10.0.0.9, 203.0.113.9", "203.0.113.9"],
      // What stands left of the client was written by a stranger, so it need not even be an address.
      ["unknown, 203.0.113.9", "203.0.113.9"],
      ["<script>, , 203.0.113.9, 10.0.0.1", "203.0.113.9"],
    ])("%j: %s", (value, client) => {
      expect(clientOf(PROXIES, "X-Forwarded-For", "127.0.0.1", value)).toBe(client)
    })

    test.each([
      ["only proxies", "10.0.0.1, 10.0.0.2"],
      ["one proxy", "10.0.0.1"],
      ["nothing", ""],
      ["commas only", ",,"],
      ["an empty hop at the end", "203.0.113.9,"],
      ["an empty hop between proxies", "203.0.113.9, , 10.0.0.1"],
      ["a malformed hop at the end", "203.0.113.9, 010.0.0.1"],
      ["a malformed hop between proxies", "203.0.113.9, unknown, 10.0.0.1"],
      ["a hop with a port", "203.0.113.9:1234"],
      ["a hop in brackets", "[2001:db8::9]"],
      ["a hop with a zone", "fe80::1%eth0"],
      ["RFC 7239 text", "for=203.0.113.9"],
      ["a network", "203.0.113.0/24"],
      ["no-break spaces", "203.0.113.9\u00a0"],
      ["semicolons", "203.0.113.9; 10.0.0.1"],
    ])("%s is nobody: %j", (_what, value) => {
      expect(clientOf(PROXIES, "X-Forwarded-For", "127.0.0.1", value)).toBeNull()
    })

    test("a header of sixteen thousand commas is nobody, too", () => {
      expect(clientOf(PROXIES, "X-Forwarded-For", "127.0.0.1", ",".repeat(16_000))).toBeNull()
      expect(clientOf(PROXIES, "X-Forwarded-For", "127.0.0.1", "10.0.0.1,".repeat(1600))).toBeNull()
    })

    test("blanks in the middle of a hop, however many, are looked at once", () => {
      const value = `1${" \t".repeat(200_000)}x, 10.0.0.1`
      expect(clientOf(PROXIES, "X-Forwarded-For", "127.0.0.1", value)).toBeNull()
    })

    test("where everybody is a trusted proxy, nobody is a client", () => {
      const value = "203.0.113.9, 198.51.100.1"
      expect(clientOf(trusting("0.0.0.0/0", "::/0"), "X-Forwarded-For", "127.0.0.1", value)).toBeNull()
    })
  },
)

describe("the client of the API", () => {
  const ROWS: ReadonlyArray<readonly [peer: Peer, header: string | null, actor: string | null]> = [
    ["127.0.0.1", null, "127.0.0.1"],
    ["127.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["127.0.0.1", "010.8.8.8", "127.0.0.1"],
    ["::ffff:127.0.0.1", null, "127.0.0.1"],
    ["198.51.100.1", null, "198.51.100.1"],
    ["198.51.100.1", "203.0.113.9", "198.51.100.1"],
    ["unix", null, null],
    ["unix", "203.0.113.9", "203.0.113.9"],
    [null, null, null],
    [null, "203.0.113.9", null],
  ]

  test.each(ROWS)("peer %j with X-Real-IP %j: %j", (peer, header, actor) => {
    const clients = new ClientAddresses(DEFAULT_TRUSTED_PROXIES, "X-Real-IP")
    const request = requestWith(header === null ? {} : { "X-Real-IP": header })
    expect(clients.ofApiClient(request, peer)?.toString() ?? null).toBe(actor)
  })
})

describe(
  fault(
    "H-08 H-11",
    "a trusted and an untrusted peer ask for a listed client, over IPv4, IPv6 and a unix socket",
    "401 and 403 for the untrusted one",
  ),
  () => {
    const LISTED = "192.0.2.7"
    const line = `X-Real-IP: ${LISTED}`
    let directory: string
    let server: RunningServer

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), "ipgate-test-"))
      server = await runServer({
        directory,
        listen: [ANY_PORT, { kind: "unix", path: join(directory, "gate.sock") }],
        trustedProxies: trusting("127.0.0.1", "unix"),
      })
      await server.addPermanent(LISTED, "127.0.0.0/8")
    })

    afterAll(async () => {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    })

    test("the peer that is trusted is believed", async () => {
      for (const localAddress of [undefined, "127.0.0.1"]) {
        const options = localAddress === undefined ? {} : { localAddress }
        expect((await ask(server.address, requestText("GET /auth", [line]), options)).status).toBe(204)
      }
    })

    test("its neighbour is not, even if it is listed itself: 401 and 403", async () => {
      const options = { localAddress: "127.0.0.2" }
      for (const lines of [[line], [], ["X-Real-IP: 127.0.0.2"], [`X-Forwarded-For: ${LISTED}`]]) {
        const auth = await ask(server.address, requestText("GET /auth", lines), options)
        const authz = await ask(server.address, requestText("GET /authz", lines), options)
        expect([auth.status, authz.status]).toEqual([401, 403])
      }
      expect((await ask(server.address, requestText("GET /status"), options)).status).toBe(200)
    })

    test("the socket of the file system is believed, and others may not connect to it", async () => {
      const socket = server.addresses[1]
      if (socket?.kind !== "unix") throw new Error("the second address is the socket")
      expect((await ask(socket, requestText("GET /auth", [line]))).status).toBe(204)
      expect((await ask(socket, requestText("GET /auth", ["X-Real-IP: 192.0.2.8"]))).status).toBe(401)
      expect((await ask(socket, requestText("GET /auth"))).status).toBe(401)
      expect(statSync(socket.path).mode & 0o777).toBe(0o660)
    })

    test("who changed a list is in the log: the peer, or whom a trusted one names", async () => {
      const socket = server.addresses[1]
      if (socket === undefined) throw new Error("the second address is the socket")
      const bearer = `Authorization: Bearer ${server.token}`
      const changes = [
        [server.address, {}, []],
        [server.address, {}, ["X-Real-IP: 203.0.113.9"]],
        [server.address, {}, ["X-Real-IP: nonsense"]],
        [server.address, { localAddress: "127.0.0.2" }, []],
        [server.address, { localAddress: "127.0.0.2" }, ["X-Real-IP: 203.0.113.9"]],
        [socket, {}, []],
      ] as const
      for (const [i, [to, options, lines]] of changes.entries()) {
        const body = JSON.stringify({ ip: `198.51.100.${i}` })
        const head = [bearer, ...lines, `Content-Length: ${body.length}`]
        const text = requestText("POST /api/whitelist/perm", head, body)
        expect((await ask(to, text, options)).status).toBe(204)
      }
      const actors = (await server.audit()).slice(-changes.length).map((row) => row.api_client_ip)
      expect(actors).toEqual(["127.0.0.1", "203.0.113.9", "127.0.0.1", "127.0.0.2", "127.0.0.2", null])
    })

    describe("with X-Forwarded-For", () => {
      let forwarded: RunningServer

      beforeAll(async () => {
        forwarded = await runServer({
          trustedProxies: trusting("127.0.0.1", "10.0.0.0/8"),
          clientIpHeader: "X-Forwarded-For",
        })
        await forwarded.addPermanent(LISTED, "10.0.0.0/8")
      })

      afterAll(() => forwarded.stop())

      test.each([
        ["the client alone", [`X-Forwarded-For: ${LISTED}`], 204],
        ["through another proxy", [`X-Forwarded-For: ${LISTED}, 10.0.0.1`], 204],
        [
          "in two headers, read as one list",
          [`X-Forwarded-For: ${LISTED}`, "X-Forwarded-For: 10.0.0.1"],
          204,
        ],
        ["a listed address that the client wrote itself", [`X-Forwarded-For: ${LISTED}, 192.0.2.8`], 401],
        ["the same in two headers", [`X-Forwarded-For: ${LISTED}`, "X-Forwarded-For: 192.0.2.8"], 401],
        ["a listed X-Real-IP beside it", ["X-Forwarded-For: 192.0.2.8", line], 401],
        ["a listed X-Real-IP alone", [line], 401],
        ["proxies only, although they are listed", ["X-Forwarded-For: 10.0.0.1"], 401],
        ["nothing", [], 401],
      ])("%s", async (_what, lines, status) => {
        expect((await ask(forwarded.address, requestText("GET /auth", lines))).status).toBe(status)
        const authz = await ask(forwarded.address, requestText("POST /authz/x", lines))
        expect(authz.status).toBe(status === 204 ? 200 : 403)
      })

      test("an untrusted peer is not believed in this mode either", async () => {
        const text = requestText("GET /auth", [`X-Forwarded-For: ${LISTED}`])
        expect((await ask(forwarded.address, text, { localAddress: "127.0.0.2" })).status).toBe(401)
      })
    })

    test("an IPv6 listener decides the same", async () => {
      const six = await runServer({ listen: [{ kind: "tcp", hostname: "::1", port: 0 }, ANY_PORT] })
      try {
        await six.addPermanent(LISTED)
        expect(six.url).toStartWith("http://[::1]:")
        for (const to of six.addresses) {
          expect((await ask(to, requestText("GET /auth", [line]))).status).toBe(204)
          expect((await ask(to, requestText("GET /auth", ["X-Real-IP: 192.0.2.8"]))).status).toBe(401)
        }
        expect((await six.audit()).map((row) => row.api_client_ip)).toEqual(["::1"])
      } finally {
        await six.stop()
      }
    })
  },
)
