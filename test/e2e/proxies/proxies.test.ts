// Every proxy for real, with the configuration that `ipgate proxy` prints: who gets the page, and who never does.

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { formatListenAddress } from "../../../src/listen-address.ts"
import { fault } from "../../faults/fault.ts"
import { Workplace } from "../../support/binary.ts"
import { RawConnection, requestText } from "../../support/raw-http.ts"
import { Gate } from "./gate.ts"
import { connectionsTo } from "./gate-connections.ts"
import { MISSING, PROGRAMS } from "./proxy-programs.ts"
import { Results } from "./results.ts"
import { type RunningProxy, startProxy } from "./running-proxy.ts"
import { PAGE, startSite } from "./site.ts"
import { echoed, UPGRADE, type Visit, visit } from "./visitor.ts"

setDefaultTimeout(60_000)

const BEHAVIOURS = [
  "allowed, denied",
  "IPv6",
  "expired",
  "forged headers",
  "POST",
  "WebSocket",
  "15 KB cookies",
  "kept alive",
  "revoked",
  "X-Forwarded-For",
  "doctor",
  "gate down",
  "gate hangs",
] as const

const results = new Results(BEHAVIOURS)
const site = startSite()
afterAll(() => site.stop())

if (MISSING.length > 0) {
  console.error(
    `not installed, so left out: ${MISSING.join(", ")} (docs/proxies.md says how the tests find them)`,
  )
}

test.skipIf(MISSING.length > 0)("every proxy is installed", () => {
  expect(MISSING).toEqual([])
})

const chains = PROGRAMS.flatMap((program) =>
  (program.unixSocket ? ["TCP", "unix"] : ["TCP"]).map(
    (transport) => [`${program.name} ${program.version} over ${transport}`, program, transport] as const,
  ),
)

describe.each(chains)(
  `${fault("H-10 H-11 H-16 H-20 H-23 H-24 H-25", "every proxy with the configuration that is printed: forged headers, methods, both families, cookies, kept connections, removals, a gate that is down and one that hangs", "the page for listed clients alone")} (%s)`,
  (_, program, transport) => {
    let place: Workplace
    let gate: Gate
    let proxy: RunningProxy

    beforeAll(async () => {
      place = await Workplace.make()
      gate = await Gate.start(
        place,
        transport === "unix" ? `unix:${place.path("ipgate.sock")}` : "127.0.0.1:0",
      )
      proxy = await startProxy(program, { place, gate: formatListenAddress(gate.asked), site: site.address })
    })
    afterAll(async () => {
      await proxy?.[Symbol.asyncDispose]()
      await place?.[Symbol.asyncDispose]()
    })
    beforeEach(() => {
      site.reached.length = 0
    })

    const { refusal } = program
    const ipv4 = async (options?: Visit) => (await visit(proxy.ipv4, options)).status
    const ipv6 = async (options?: Visit) => (await visit(proxy.ipv6, options)).status

    /** A test, and a cell of the table. */
    function shows(behaviour: (typeof BEHAVIOURS)[number], run: () => Promise<unknown>): void {
      test(behaviour, async () => {
        const row = [program.name, program.version, transport]
        results.record(row, behaviour, "FAILS")
        const outcome = await run()
        results.record(row, behaviour, typeof outcome === "string" ? outcome : "yes")
      })
    }

    shows("allowed, denied", async () => {
      expect(await ipv4()).toBe(refusal)
      expect(site.reached).toEqual([])
      await gate.holding(["127.0.0.1"], async () => {
        expect(await visit(proxy.ipv4)).toMatchObject({ status: 200, body: expect.stringContaining(PAGE) })
        expect(await ipv4({ from: "127.0.0.2" })).toBe(refusal)
        for (const method of ["HEAD", "DELETE", "OPTIONS"]) {
          expect([method, await ipv4({ method, from: "127.0.0.2" })]).toEqual([method, refusal])
          expect([method, await ipv4({ method })]).toEqual([method, 200])
        }
      })
      expect(site.reached.map(({ method }) => method)).toEqual(["GET", "HEAD", "DELETE", "OPTIONS"])
      // Paths with which a proxy that passes the path on could be led to another endpoint.
      for (const path of [
        "/../status",
        "/..%2fstatus",
        "//status",
        "/.%2e/status",
        "/..;/status",
        "/status",
      ]) {
        expect([path, [200, 204].includes(await ipv4({ path }))]).toEqual([path, false])
      }
    })

    shows("IPv6", async () => {
      expect(await ipv6()).toBe(refusal)
      await gate.holding(["127.0.0.1"], async () => expect(await ipv6()).toBe(refusal))
      await gate.holding(["::1"], async () => {
        expect(await ipv6()).toBe(200)
        expect(await ipv4()).toBe(refusal)
      })
    })

    shows("expired", async () => {
      const expires = await gate.allowFor(1, "127.0.0.1")
      expect(await ipv4()).toBe(200)
      await Bun.sleep(Math.max(0, expires - Date.now()) + 1)
      expect(await ipv4()).toBe(refusal)
    })

    shows("forged headers", async () => {
      await gate.holding(["127.0.0.1", "2001:db8::7"], async () => {
        for (const listed of ["127.0.0.1", "2001:db8::7"]) {
          for (const lines of forgeries(listed)) {
            const asked = {
              lines,
              ipv4: await ipv4({ headers: lines, from: "127.0.0.2" }),
              ipv6: await ipv6({ headers: lines }),
            }
            const refused = (status: number) => status === refusal || status === 400
            expect([asked, refused(asked.ipv4), refused(asked.ipv6)]).toEqual([asked, true, true])
          }
        }
        expect(site.reached).toEqual([])
        // And one who claims a stranger's address does not hurt himself.
        for (const lines of forgeries("192.0.2.1")) {
          expect([lines, [200, 400].includes(await ipv4({ headers: lines }))]).toEqual([lines, true])
        }
      })
    })

    shows("POST", async () => {
      const body = "0123456789".repeat(10_000)
      await gate.holding(["127.0.0.1"], async () => {
        expect(await ipv4({ method: "POST", body: "short", from: "127.0.0.2" })).toBe(refusal)
        expect(await ipv4({ method: "POST", body })).toBe(200)
      })
      expect(site.reached).toEqual([{ method: "POST", path: "/page", body }])
    })

    shows("WebSocket", async () => {
      const upgrade = ["Connection: Upgrade", ...UPGRADE]
      expect(await ipv4({ path: "/socket", headers: upgrade })).toBe(refusal)
      await gate.holding(["127.0.0.1", "::1"], async () => {
        expect(await echoed(proxy.ipv4, "over IPv4")).toBe("over IPv4")
        expect(await echoed(proxy.ipv6, "over IPv6")).toBe("over IPv6")
      })
      expect(site.reached.length).toBe(2)
    })

    shows("15 KB cookies", async () => {
      const headers = [1, 2].map((i) => `Cookie: c${i}=${"x".repeat(7_500)}`)
      expect(await ipv4({ headers })).toBe(refusal)
      await gate.holding(["127.0.0.1"], async () => expect(await ipv4({ headers })).toBe(200))
    })

    shows("kept alive", async () => {
      // Among them may be those, closed by now, of a server that had the same port a minute ago.
      const before = connectionsTo(gate.asked)
      const seen = new Set(before)
      await gate.holding(["127.0.0.1"], async () => {
        for (let round = 0; round < 10; round++) {
          expect(await ipv4()).toBe(200)
          expect(await ipv4({ method: "POST", body: "x" })).toBe(200)
          expect(await ipv4({ from: "127.0.0.2" })).toBe(refusal)
          for (const connection of connectionsTo(gate.asked)) seen.add(connection)
        }
      })
      // Thirty questions. A proxy may have a connection for each of its threads.
      expect(seen.size).toBeGreaterThan(0)
      expect(seen.difference(before).size).toBeLessThan(10)
    })

    shows("revoked", async () => {
      for (let round = 0; round < 5; round++) {
        await gate.holding(["127.0.0.1"], async () => expect(await ipv4()).toBe(200))
        expect(await ipv4()).toBe(refusal)
      }
      // The visitor's connection stays open meanwhile.
      using visitor = await RawConnection.open({ kind: "tcp", hostname: "127.0.0.1", port: proxy.ipv4.port })
      const page = requestText("GET /page")
      await gate.holding(["127.0.0.1"], async () => expect((await visitor.ask(page)).status).toBe(200))
      expect((await visitor.ask(page)).status).toBe(refusal)
    })

    shows("X-Forwarded-For", async () => {
      await using elsewhere = await Workplace.make()
      const socket = `unix:${elsewhere.path("ipgate.sock")}`
      const other = await Gate.start(elsewhere, transport === "unix" ? socket : "127.0.0.1:0", [
        "--client-ip-header",
        "X-Forwarded-For",
        "--trusted-proxies",
        "127.0.0.1",
        "unix",
      ])
      const header = "X-Forwarded-For"
      const options = {
        place: elsewhere,
        gate: formatListenAddress(other.asked),
        site: site.address,
        header,
      } as const
      await using second = await startProxy(program, options)
      const from = async (address: string, headers: readonly string[] = []) =>
        (await visit(second.ipv4, { from: address, headers })).status
      await other.holding(["127.0.0.2", "203.0.113.7"], async () => {
        expect(await from("127.0.0.2")).toBe(200)
        expect(await from("127.0.0.3")).toBe(refusal)
        for (const lines of forgeries("203.0.113.7")) {
          expect([lines, [refusal, 400].includes(await from("127.0.0.3", lines))]).toEqual([lines, true])
        }
      })
    })

    shows("doctor", async () => {
      for (const { host, port } of [proxy.ipv4, proxy.ipv6]) {
        const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}/page`
        const { code, stdout, stderr } = await gate.ipgate("doctor", "--via", url, "--json")
        expect({ code, stdout, stderr }).toMatchObject({ code: 0 })
        expect(JSON.parse(stdout).findings).toEqual([])
      }
      expect(await gate.entries()).toEqual([])
    })

    shows("gate down", async () => {
      await gate.holding(["127.0.0.1"], async () => {
        await gate.process.kill()
        const { status, body } = await visit(proxy.ipv4)
        expect(status).toBe(program.outage)
        expect(body).not.toContain(PAGE)
        expect(site.reached).toEqual([])
        await gate.startAgain()
        expect(await ipv4()).toBe(200)
      })
      return program.outage === refusal ? `yes, ${refusal}` : `yes, ${program.outage}`
    })

    shows("gate hangs", async () => {
      return await gate.holding(["127.0.0.1"], async () => {
        gate.process.signal("SIGSTOP")
        const answer = visit(proxy.ipv4)
        const early = await Promise.race([answer, ...(program.waitsForever ? [Bun.sleep(1_000)] : [])])
        expect(site.reached).toEqual([])
        gate.process.signal("SIGCONT")
        if (early !== undefined) {
          expect(early.status).toBeGreaterThanOrEqual(400)
          expect(early.body).not.toContain(PAGE)
        }
        expect(await ipv4()).toBe(200)
        return early === undefined ? "yes, waits" : `yes, ${early.status}`
      })
    })
  },
)

test("docs/proxies.md has the table of this run", () => {
  if (process.env.UPDATE_PROXY_TABLE === "1") results.publish()
  expect(results.differences()).toEqual([])
})

/** Header lines in which a visitor claims an address: single, doubled, with underscores, all at once. */
function forgeries(address: string): string[][] {
  const names = [
    "X-Real-IP",
    "X-Forwarded-For",
    "CF-Connecting-IP",
    "True-Client-IP",
    "X-Client-IP",
    "X-Original-Forwarded-For",
    "X-Envoy-External-Address",
  ]
  const forwarded = `Forwarded: for=${address.includes(":") ? `"[${address}]"` : address}`
  const single = [...names.map((name) => `${name}: ${address}`), forwarded]
  return [
    ...single.map((line) => [line]),
    ...single
      .slice(0, 2)
      .flatMap((line) => [[line, line], [line.replaceAll("-", "_")], [line.toLowerCase()]]),
    ["X-Real-IP:", `X-Real-IP: ${address}`],
    [`X-Forwarded-For: ${address}, ${address}`],
    // The connection's own headers are taken out by a proxy: here the one that names the visitor.
    ["Connection: X-Real-IP, X-Forwarded-For", ...single],
    single,
  ]
}
