// Debian's nginx, the published configuration and the built binary: who gets the page, and who never does.

import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { ListenAddress } from "../../src/listen-address.ts"
import { fault } from "../faults/fault.ts"
import { type ServerProcess, Workplace } from "../support/binary.ts"
import { NGINX, type Nginx, type NginxOptions, replaced, startNginx } from "../support/nginx.ts"
import { ask, type RawAnswer, requestText } from "../support/raw-http.ts"
import { connectionsTo } from "./proxies/gate-connections.ts"

setDefaultTimeout(60_000)

const PAGE = "the protected page"

/** The site behind nginx, and each request that reached it. */
const reached: Array<{ method: string; path: string; body: string }> = []
const site = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const body = await request.text()
    reached.push({ method: request.method, path: new URL(request.url).pathname, body })
    return new Response(PAGE)
  },
})
afterAll(() => site.stop(true))
beforeEach(() => {
  reached.length = 0
})

type Visit = {
  readonly method?: string
  readonly path?: string
  readonly headers?: readonly string[]
  readonly body?: string
  /** The address of the visitor. */
  readonly from?: string
}

/** One request of a visitor. The bytes go out as they are. */
function visit(nginx: ListenAddress, visit: Visit = {}): Promise<RawAnswer> {
  const { method = "GET", path = "/page", headers = [], body = "", from } = visit
  const length = body === "" ? [] : [`Content-Length: ${body.length}`]
  const text = requestText(`${method} ${path}`, ["Connection: close", ...length, ...headers], body)
  return ask(nginx, text, { method, ...(from === undefined ? {} : { localAddress: from }) })
}

const status = async (nginx: ListenAddress, options?: Visit) => (await visit(nginx, options)).status

/** nginx in front of a server, by its TCP address unless `options` say otherwise. */
function front(place: Workplace, server: ServerProcess, options: Partial<NginxOptions> = {}): Promise<Nginx> {
  return startNginx({
    directory: place.directory,
    gate: server.url.replace("http://", ""),
    site: `127.0.0.1:${site.port}`,
    ...options,
  })
}

const afterEnd = (expires: string) => Bun.sleep(Math.max(0, Date.parse(expires) - Date.now()) + 1)

describe.skipIf(NGINX === null)("nginx", () => {
  test.each([
    ["IPv4", "ipv4", "127.0.0.1"],
    ["IPv6", "ipv6", "::1"],
  ] as const)("the story over %s: 401, allow, 200, expiry, 401, the log", async (_, family, client) => {
    await using place = await Workplace.make()
    const server = await place.serve()
    await using nginx = await front(place, server)

    const stranger = await visit(nginx[family])
    expect(stranger.status).toBe(401)
    expect(stranger.head.toLowerCase()).not.toContain("www-authenticate")
    expect(reached).toEqual([])

    const allowed = await server.ipgate("allow", client, "--ttl", "3s", "--reason", "on call", "--json")
    expect(allowed.code).toBe(0)
    const { expires } = JSON.parse(allowed.stdout).results[0]
    const guest = await visit(nginx[family])
    expect([guest.status, guest.body]).toEqual([200, PAGE])
    expect(reached).toEqual([{ method: "GET", path: "/page", body: "" }])

    await afterEnd(expires)
    expect(await status(nginx[family])).toBe(401)
    expect(reached.length).toBe(1)

    // The sweeper records the end a moment after it came.
    let log = await server.audit()
    while (log.length < 2) {
      await Bun.sleep(50)
      log = await server.audit()
    }
    expect(JSON.parse((await server.ipgate("logs", "--json")).stdout)).toEqual(log)
    expect(log).toMatchObject([
      { action: "expire_temp", ip: client, timestamp: expires, api_client_ip: null },
      { action: "add_temp", ip: client, ttl_seconds: 3, reason: "on call", api_client_ip: "127.0.0.1" },
    ])
  })

  test(fault("H-12", "nginx on one listener for both families", "the IPv4 entry decides"), async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    await using nginx = await front(place, server, {
      edit: (conf) =>
        replaced(
          conf.replace(/listen 127\.0\.0\.1:([0-9]+);/, "listen [::ffff:127.0.0.1]:$1 ipv6only=off;"),
          "server_name example.org;",
          'server_name example.org; add_header Seen-As "$remote_addr" always;',
        ),
    })
    const stranger = await visit(nginx.ipv4)
    expect(stranger.status).toBe(401)
    expect(stranger.head).toContain("Seen-As: ::ffff:127.0.0.1\r\n")
    await server.ipgate("allow", "127.0.0.1")
    expect(await status(nginx.ipv4)).toBe(200)
    expect(await status(nginx.ipv6)).toBe(401)
    await server.ipgate("deny", "127.0.0.1")
    expect(await status(nginx.ipv4)).toBe(401)
  })

  test(
    fault(
      "H-10 H-11",
      "forged headers through nginx with the shipped configuration, over both families",
      "401",
    ),
    async () => {
      await using place = await Workplace.make()
      const server = await place.serve()
      await using nginx = await front(place, server, {
        edit: (conf) =>
          replaced(conf, "server_name example.org;", "server_name example.org; underscores_in_headers on;"),
      })
      await server.ipgate("allow", "127.0.0.1", "203.0.113.7")
      const strangers = [
        [nginx.ipv4, "127.0.0.2"],
        [nginx.ipv6, "::1"],
      ] as const
      const names = [
        "X-Real-IP",
        "x-real-ip",
        "X_Real_IP",
        "X-Forwarded-For",
        "X-Original-Forwarded-For",
        "CF-Connecting-IP",
        "True-Client-IP",
        "X-Client-IP",
      ]
      for (const listed of ["127.0.0.1", "203.0.113.7"]) {
        const claims = [...names.map((name) => `${name}: ${listed}`), `Forwarded: for=${listed}`]
        for (const [to, from] of strangers) {
          for (const headers of [...claims.map((claim) => [claim]), claims]) {
            expect({ from, headers, status: await status(to, { from, headers }) }).toEqual({
              from,
              headers,
              status: 401,
            })
          }
        }
      }
      expect(reached).toEqual([])
      // And one that claims a stranger's address does not hurt.
      expect(await status(nginx.ipv4, { headers: ["X-Real-IP: 192.0.2.1"] })).toBe(200)
    },
  )

  test(
    fault("H-20", "cookies of 15 KB and 30 KB through nginx", "a listed client gets the page"),
    async () => {
      await using place = await Workplace.make()
      const server = await place.serve()
      // The site of this test takes no more headers than ipgate does.
      await using nginx = await front(place, server, {
        edit: (conf) =>
          replaced(conf, "auth_request /_ipgate;", 'auth_request /_ipgate; proxy_set_header Cookie "";'),
      })
      await server.ipgate("allow", "127.0.0.1")
      // nginx takes at most 8 KiB in one line.
      for (const lines of [2, 4]) {
        const headers = Array.from({ length: lines }, (_, i) => `Cookie: c${i}=${"x".repeat(7_500)}`)
        expect(await status(nginx.ipv4, { headers })).toBe(200)
        expect(await status(nginx.ipv4, { headers, from: "127.0.0.2" })).toBe(401)
      }
      expect(reached.length).toBe(2)
    },
  )

  test("a POST with its body, a HEAD and every other method are decided in the same way", async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    await using nginx = await front(place, server)
    await server.ipgate("allow", "127.0.0.1")
    const body = "0123456789".repeat(10_000)
    for (const method of ["POST", "PUT", "PATCH"]) {
      expect(await status(nginx.ipv4, { method, body, from: "127.0.0.2" })).toBe(401)
      const answer = await visit(nginx.ipv4, { method, body })
      expect([method, answer.status, answer.body]).toEqual([method, 200, PAGE])
    }
    for (const method of ["HEAD", "DELETE", "OPTIONS"]) {
      expect([method, await status(nginx.ipv4, { method, from: "127.0.0.2" })]).toEqual([method, 401])
      expect([method, await status(nginx.ipv4, { method })]).toEqual([method, 200])
    }
    expect(reached.map(({ method }) => method)).toEqual(["POST", "PUT", "PATCH", "HEAD", "DELETE", "OPTIONS"])
    expect(reached.slice(0, 3).map((request) => request.body === body)).toEqual([true, true, true])
  })

  test(
    fault(
      "H-24",
      "nginx caches the site and passes over what it says of it",
      "the next request after a removal is 401",
    ),
    async () => {
      await using place = await Workplace.make()
      const server = await place.serve()
      const cache = `proxy_cache_path ${place.path("cache")} keys_zone=site:1m;`
      await using nginx = await front(place, server, {
        edit: (conf) =>
          `${cache}\n${replaced(
            conf,
            "server_name example.org;",
            `server_name example.org;
           proxy_cache site; proxy_cache_valid any 10m; proxy_ignore_headers Cache-Control Expires;`,
          )}`,
      })
      for (let round = 0; round < 10; round++) {
        await server.api("POST", "/api/whitelist/perm", { ip: "127.0.0.1" })
        expect(await status(nginx.ipv4)).toBe(200)
        await server.api("DELETE", "/api/whitelist/perm/127.0.0.1")
        expect(await status(nginx.ipv4)).toBe(401)
      }
      // The cache is a real one: the site was asked once.
      expect(reached.length).toBe(1)
    },
  )

  test(
    fault(
      "H-26",
      "an error page of the site that makes a 200 of each 401",
      "a refused client gets that page and never reaches the site",
    ),
    async () => {
      await using place = await Workplace.make()
      const server = await place.serve()
      await using nginx = await front(place, server, {
        edit: (conf) =>
          replaced(
            conf,
            "server_name example.org;",
            `server_name example.org;
           proxy_intercept_errors on; error_page 401 =200 /refused;
           location = /refused { internal; return 200 "ask the administrator"; }`,
          ),
      })
      const stranger = await visit(nginx.ipv4)
      expect([stranger.status, stranger.body]).toEqual([200, "ask the administrator"])
      expect(reached).toEqual([])
      await server.ipgate("allow", "127.0.0.1")
      expect(await status(nginx.ipv4)).toBe(200)
    },
  )

  test(
    fault(
      "H-29",
      "an allow line of nginx beside the gate, with satisfy all and with satisfy any, for listed clients and others",
      "all wants both, and any lets in whom nginx alone allows, as the docs warn",
    ),
    async () => {
      await using place = await Workplace.make()
      const server = await place.serve()
      await server.ipgate("allow", "127.0.0.1", "127.0.0.2")
      // Who gets the page: allowed by nginx and listed, allowed alone, listed alone, neither.
      const visitors = ["127.0.0.2", "127.0.0.3", "127.0.0.1", "127.0.0.4"]
      for (const [rule, wanted] of [
        ["all", [200, 401, 403, 403]],
        ["any", [200, 200, 200, 401]],
      ] as const) {
        await using nginx = await front(place, server, {
          edit: (conf) =>
            replaced(
              conf,
              "auth_request /_ipgate;",
              `auth_request /_ipgate; satisfy ${rule}; allow 127.0.0.2; allow 127.0.0.3; deny all;`,
            ),
        })
        const statuses = await Promise.all(visitors.map((from) => status(nginx.ipv4, { from })))
        expect([rule, ...statuses]).toEqual([rule, ...wanted])
      }
      expect(readFileSync(join(import.meta.dir, "../../docs/proxies.md"), "utf8")).toContain("`satisfy any`")
    },
  )

  test(
    fault("H-23", "many requests through nginx with keepalive", "one connection to the gate"),
    async () => {
      await using place = await Workplace.make()
      // The second listener is for this test's own commands, so that the first one has nginx as its only client.
      const server = await place.serve(["--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0"])
      const [checked, managed] = server.addresses
      if (checked?.kind !== "tcp" || managed?.kind !== "tcp")
        throw new Error("two TCP addresses were asked for")
      const command = { env: { IPGATE_SERVER: `127.0.0.1:${managed.port}` } }
      await using nginx = await front(place, server)

      const earlier = connectionsTo(checked)
      expect(await status(nginx.ipv4)).toBe(401)
      const connections = connectionsTo(checked).difference(earlier)
      expect(connections.size).toBe(1)

      expect((await place.ipgate(["allow", "127.0.0.1"], command)).code).toBe(0)
      for (let round = 0; round < 50; round++) {
        expect(await status(nginx.ipv4)).toBe(200)
        expect(await status(nginx.ipv4, { method: "POST", body: "x" })).toBe(200)
        expect(await status(nginx.ipv4, { method: "HEAD" })).toBe(200)
        expect(await status(nginx.ipv4, { from: "127.0.0.2" })).toBe(401)
        expect(await status(nginx.ipv6)).toBe(401)
      }
      // The very same one, and not even the trace of another, which the kernel would keep for a minute.
      expect(connectionsTo(checked).difference(earlier)).toEqual(connections)
    },
  )

  test("over a unix socket; stopped, no page is served; started again, it is", async () => {
    await using place = await Workplace.make()
    const listen = ["--listen", `unix:${place.path("ipgate.sock")}`]
    const server = await place.serve(listen)
    await using nginx = await front(place, server, { gate: `unix:${place.path("ipgate.sock")}` })
    expect(await status(nginx.ipv4)).toBe(401)
    await server.ipgate("allow", "127.0.0.1")
    expect(await status(nginx.ipv4)).toBe(200)

    expect(await server.stop()).toBe(0)
    const answer = await visit(nginx.ipv4)
    expect(answer.status).toBeGreaterThanOrEqual(500)
    expect(answer.body).not.toContain(PAGE)
    expect(reached.length).toBe(1)

    await place.serve(listen)
    expect(await status(nginx.ipv4)).toBe(200)
    expect(await status(nginx.ipv4, { from: "127.0.0.2" })).toBe(401)
  })

  test.each(["stop", "kill"] as const)(
    `${fault("H-25", "ipgate is stopped and killed behind nginx", "no page")} (no page is served after a %s of ipgate)`,
    async (end) => {
      await using place = await Workplace.make()
      const server = await place.serve()
      await using nginx = await front(place, server)
      await server.ipgate("allow", "127.0.0.1", "::1")
      expect(await status(nginx.ipv4)).toBe(200)
      await server[end]()
      for (const to of [nginx.ipv4, nginx.ipv6]) {
        const answer = await visit(to)
        expect(answer.status).toBeGreaterThanOrEqual(500)
        expect(answer.body).not.toContain(PAGE)
      }
      expect(reached.length).toBe(1)
    },
  )

  test(fault("H-25", "ipgate is suspended behind nginx", "no page until it goes on"), async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    await using nginx = await front(place, server, {
      edit: (conf) => replaced(conf, "proxy_read_timeout 5s;", "proxy_read_timeout 1s;"),
    })
    await server.ipgate("allow", "127.0.0.1")
    expect(await status(nginx.ipv4)).toBe(200)
    server.signal("SIGSTOP")
    const answer = await visit(nginx.ipv4)
    expect(answer.status).toBeGreaterThanOrEqual(500)
    expect(answer.body).not.toContain(PAGE)
    expect(reached.length).toBe(1)
    server.signal("SIGCONT")
    expect(await status(nginx.ipv4)).toBe(200)
  })

  test(fault("H-14", "nginx asks every wrong path", "only /status lets in, as documented"), async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const asked: Record<string, number> = {}
    const paths = [
      "/",
      "/status",
      "/auth/",
      "/AUTH",
      "/authz",
      "/docs",
      "/metrics",
      "/api/logs",
      "/api/whitelist/perm",
    ]
    for (const path of paths) {
      await using nginx = await front(place, server, {
        edit: (conf) => replaced(conf, "proxy_pass http://ipgate/auth;", `proxy_pass http://ipgate${path};`),
      })
      asked[path] = await status(nginx.ipv4)
    }
    // nginx passes a 401 and a 403 on, and makes a 500 of every other refusal.
    expect(asked).toEqual({
      "/": 500,
      "/status": 200,
      "/auth/": 500,
      "/AUTH": 500,
      "/authz": 403,
      "/docs": 500,
      "/metrics": 500,
      "/api/logs": 401,
      "/api/whitelist/perm": 401,
    })
    expect(reached.length).toBe(1)
  })
})
