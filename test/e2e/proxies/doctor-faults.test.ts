// Chains that are broken on purpose, one fault each, behind real proxies: the doctor must find that one.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { connect, createServer } from "node:net"
import { formatListenAddress } from "../../../src/listen-address.ts"
import { builtBinary, Workplace } from "../../support/binary.ts"
import { Gate } from "./gate.ts"
import { PROGRAMS, swapped } from "./proxy-programs.ts"
import { startProxy } from "./running-proxy.ts"
import { startSite } from "./site.ts"
import { type Place, visit } from "./visitor.ts"

setDefaultTimeout(60_000)

const site = startSite()
/** A page that a visitor needs a password for, whoever he is. */
const login = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response("who are you?", { status: 401 }),
})
let place: Workplace
let gate: Gate
beforeAll(async () => {
  place = await Workplace.make()
  gate = await Gate.start(place, "127.0.0.1:0")
})
afterAll(async () => {
  await place[Symbol.asyncDispose]()
  await site.stop()
  await login.stop(true)
})

type Finding = { code: string; over: string[]; message: string; change: string[] }
type Report = { code: number; findings: Finding[]; stderr: string }

async function examine({ host, port }: Place, ...args: readonly string[]): Promise<Report> {
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}/page`
  const { code, stdout, stderr } = await gate.ipgate("doctor", "--via", url, "--json", ...args)
  return { code, stderr, findings: stdout === "" ? [] : JSON.parse(stdout).findings }
}

/** The newest version of a proxy. */
const programOf = (name: string) => PROGRAMS.filter((program) => program.name === name).at(-1)

type Change = readonly [from: string, to: string]

/** What the doctor says of a proxy in whose configuration or script this was changed. */
async function broken(name: string, changes: readonly Change[], options: { site?: string } = {}) {
  const program = programOf(name)
  if (program === undefined) throw new Error(`${name} is not installed`)
  // A start that is tried again edits again.
  const applied = new Set<string>()
  const edit = (text: string) => {
    for (const [from, to] of changes) {
      if (!text.includes(from)) continue
      text = swapped(text, [from, to])
      applied.add(from)
    }
    return text
  }
  await using proxy = await startProxy(program, {
    place,
    gate: formatListenAddress(gate.asked),
    site: options.site ?? site.address,
    edit,
  })
  expect(applied.size).toBe(changes.length)
  const ipv4 = await examine(proxy.ipv4)
  const ipv6 = await examine(proxy.ipv6)
  return { ipv4, ipv6 }
}

const codes = ({ findings }: Report) => findings.map(({ code }) => code)

/** Which chains with which fault; what is found over IPv4 is found over IPv6, too. */
const FAULTS: ReadonlyArray<
  readonly [proxy: string, what: string, changes: readonly Change[], found: readonly string[]]
> = [
  [
    "nginx",
    "takes X-Real-IP from the client",
    [["X-Real-IP $remote_addr;", "X-Real-IP $http_x_real_ip;"]],
    ["no-address", "forged"],
  ],
  [
    "nginx",
    "takes X-Real-IP from the client if there is one",
    [
      ["X-Real-IP $remote_addr;", "X-Real-IP $claimed;"],
      [
        "upstream ipgate",
        "map $http_x_real_ip $claimed { '' $remote_addr; default $http_x_real_ip; }\nupstream ipgate",
      ],
    ],
    ["forged", "header-reaches-gate"],
  ],
  [
    "nginx",
    "takes the left end of X-Forwarded-For",
    [
      ["X-Real-IP $remote_addr;", "X-Real-IP $claimed;"],
      [
        "upstream ipgate",
        "map $http_x_forwarded_for $claimed { '' $remote_addr; default $http_x_forwarded_for; }\nupstream ipgate",
      ],
    ],
    ["forged", "header-reaches-gate"],
  ],
  [
    "nginx",
    "believes True-Client-IP, with underscores, too",
    [
      ["X-Real-IP $remote_addr;", "X-Real-IP $claimed;"],
      [
        "upstream ipgate",
        "underscores_in_headers on; map $http_true_client_ip $claimed { '' $remote_addr; default $http_true_client_ip; }\nupstream ipgate",
      ],
    ],
    ["forged", "header-reaches-gate"],
  ],
  [
    "nginx",
    "believes a CDN that is not there",
    [
      [
        "server_name example.org;",
        "server_name example.org; set_real_ip_from 0.0.0.0/0; set_real_ip_from ::/0; real_ip_header CF-Connecting-IP;",
      ],
    ],
    ["forged", "header-reaches-gate"],
  ],
  ["nginx", "does not name the client", [["proxy_set_header X-Real-IP $remote_addr;", ""]], ["no-address"]],
  [
    "caddy",
    "does not set X-Real-IP",
    [["header_up X-Real-IP {http.request.remote.host}", ""]],
    ["no-address", "forged"],
  ],
  [
    "haproxy",
    "takes X-Real-IP from the client",
    [["txn.sf:src()", 'txn.sf:req_hdr("x-real-ip")']],
    ["no-address", "forged"],
  ],
  [
    "haproxy",
    "adds its header to that of the client",
    [
      [
        "{ txn.sf:src() }",
        '{ txn.sf:src(), txn.sf:req_hdr("x-real-ip") ~= "" and txn.sf:req_hdr("x-real-ip") or nil }',
      ],
    ],
    ["header-reaches-gate"],
  ],
  [
    "traefik",
    "deletes X-Real-Ip from the question",
    [["trustForwardHeader: true", "trustForwardHeader: false"]],
    ["no-address"],
  ],
  [
    "envoy",
    "believes X-Forwarded-For",
    [
      ["DIRECT_REMOTE_ADDRESS", "REMOTE_ADDRESS"],
      ["use_remote_address: true", "use_remote_address: false"],
    ],
    ["forged", "header-reaches-gate"],
  ],
  ["nginx", "asks /", [["http://ipgate/auth;", "http://ipgate/;"]], ["not-asked"]],
  ["nginx", "asks /status", [["http://ipgate/auth;", "http://ipgate/status;"]], ["not-asked"]],
  ["nginx", "asks nobody", [["auth_request /_ipgate;", ""]], ["not-asked"]],
  ["caddy", "asks /", [["uri /auth", "uri /"]], ["not-asked"]],
  ["caddy", "asks /status", [["uri /auth", "uri /status"]], ["not-asked"]],
  ["haproxy", "asks /", [['/auth"', '/"']], ["not-asked"]],
  ["traefik", "asks /status", [['/auth"', '/status"']], ["not-asked"]],
  [
    "envoy",
    "asks /auth, where a yes is a 204",
    [["path_prefix: /authz", "path_prefix: /auth"]],
    ["not-asked"],
  ],
  [
    "nginx",
    "keeps a yes",
    [
      ["upstream ipgate", "proxy_cache_path CACHE keys_zone=gate:1m;\nupstream ipgate"],
      [
        "proxy_cache off;",
        "proxy_cache gate; proxy_cache_key $remote_addr; proxy_cache_valid 204 5m; proxy_ignore_headers Cache-Control;",
      ],
    ],
    ["cached", "cached"],
  ],
  [
    "nginx",
    "keeps a no",
    [
      ["upstream ipgate", "proxy_cache_path CACHE keys_zone=gate:1m;\nupstream ipgate"],
      [
        "proxy_cache off;",
        "proxy_cache gate; proxy_cache_key $remote_addr; proxy_cache_valid 204 401 5m; proxy_ignore_headers Cache-Control;",
      ],
    ],
    ["cached"],
  ],
  [
    "nginx",
    "turns a no into an error page with status 200",
    [
      [
        "server_name example.org;",
        "server_name example.org; error_page 401 =200 /sorry; location = /sorry { return 200 sorry; }",
      ],
    ],
    ["error-page"],
  ],
  [
    "caddy",
    "turns a no into a page with status 200",
    [
      [
        "uri /auth",
        "@no status 401\n\t\thandle_response @no {\n\t\t\trespond sorry 200\n\t\t}\n\t\turi /auth",
      ],
    ],
    ["error-page"],
  ],
  [
    "nginx",
    "stands behind the gateway of Docker",
    [["X-Real-IP $remote_addr;", "X-Real-IP 172.17.0.1;"]],
    ["other-address"],
  ],
  [
    "nginx",
    "leads on to another URL",
    [["server_name example.org;", "server_name example.org; return 301 https://example.org/;"]],
    ["redirects"],
  ],
]

describe("the doctor finds that", () => {
  for (const [name, what, changes, found] of FAULTS) {
    test.skipIf(programOf(name) === undefined)(`${name} ${what}`, async () => {
      const placed = changes.map(
        ([from, to]) => [from, to.replace("CACHE", place.path(Bun.randomUUIDv7()))] as const,
      )
      const { ipv4, ipv6 } = await broken(name, placed)
      for (const [report, family] of [
        [ipv4, "IPv4"],
        [ipv6, "IPv6"],
      ] as const) {
        expect({ code: report.code, codes: codes(report) }).toEqual({ code: 1, codes: [...found] })
        for (const { over, message, change } of report.findings) {
          expect(over).toEqual([family])
          expect(message).not.toBe("")
          if (!found.includes("redirects")) expect(change.length).toBeGreaterThan(0)
        }
      }
      expect(await gate.entries()).toEqual([])
    })
  }

  const withNginx = test.skipIf(programOf("nginx") === undefined)

  withNginx("nginx stands behind the gateway of Docker, and that is let in", async () => {
    await gate.holding(["172.17.0.1"], async () => {
      const { ipv4, ipv6 } = await broken("nginx", [["X-Real-IP $remote_addr;", "X-Real-IP 172.17.0.1;"]])
      for (const report of [ipv4, ipv6]) {
        expect(codes(report)).toEqual(["other-address"])
        expect(report.findings[0]?.message).toContain("172.17.0.1")
        expect(report.findings[0]?.change.join("\n")).toContain("userland-proxy")
      }
    })
  })

  withNginx("this machine is let in already, so that nothing can be proven", async () => {
    await gate.holding(["127.0.0.0/8"], async () => {
      const { ipv4, ipv6 } = await broken("nginx", [])
      expect([ipv4.code, codes(ipv4)]).toEqual([1, ["already-allowed"]])
      expect(ipv4.findings[0]?.message).toContain("127.0.0.1 is let in by permanent 127.0.0.0/8")
      expect([ipv6.code, codes(ipv6)]).toEqual([0, []])
    })
  })

  withNginx("the site itself refuses whom ipgate lets in", async () => {
    const { ipv4 } = await broken("nginx", [], { site: `127.0.0.1:${login.port}` })
    expect([ipv4.code, codes(ipv4)]).toEqual([1, ["yes-not-taken"]])
  })

  withNginx("nothing, while others visit at the same time", async () => {
    const program = programOf("nginx")
    if (program === undefined) throw new Error("nginx is not installed")
    await using proxy = await startProxy(program, {
      place,
      gate: formatListenAddress(gate.asked),
      site: site.address,
    })
    await gate.holding(["127.0.0.3"], async () => {
      let over = false
      const crowd = ["127.0.0.2", "127.0.0.3"].map(async (from) => {
        let visits = 0
        while (!over) {
          await visit(proxy.ipv4, { from })
          visits++
        }
        return visits
      })
      const report = await examine(proxy.ipv4)
      over = true
      expect(Math.min(...(await Promise.all(crowd)))).toBeGreaterThan(10)
      expect([report.code, report.findings]).toEqual([0, []])
    })
  })

  withNginx("the line to change is one of the shipped configuration", async () => {
    const { ipv4 } = await broken("nginx", [["X-Real-IP $remote_addr;", "X-Real-IP $http_x_real_ip;"]])
    const change = ipv4.findings.flatMap(({ change }) => change)
    expect(change[0]).toStartWith("nginx: proxy_set_header X-Real-IP $remote_addr;")
    expect(change.filter((line) => /^(caddy|haproxy|traefik|envoy):/.test(line))).toEqual([])
  })
})

describe("an interrupted doctor", () => {
  test.skipIf(programOf("nginx") === undefined).each(["SIGINT", "SIGTERM"] as const)(
    "takes its entries off the list on %s",
    async (signal) => {
      const program = programOf("nginx")
      if (program === undefined) throw new Error("nginx is not installed")
      await using proxy = await startProxy(program, {
        place,
        gate: formatListenAddress(gate.asked),
        site: site.address,
      })
      // So slow that it is still at work when its entry is seen.
      await using slow = await slowRelay(proxy.ipv4, 100)
      const child = Bun.spawn([builtBinary(), "doctor", "--via", `http://127.0.0.1:${slow.port}/`], {
        env: { ...place.env, IPGATE_SERVER: gate.managed },
        stdio: ["ignore", "pipe", "pipe"],
      })
      while ((await gate.entries()).length === 0) {
        if (child.exitCode !== null) throw new Error("the doctor has ended before its entry was seen")
        await Bun.sleep(5)
      }
      child.kill(signal)
      expect(await child.exited).toBe(1)
      expect(await new Response(child.stderr).text()).toContain(`stopped by ${signal}`)
      expect(await gate.entries()).toEqual([])
    },
  )
})

/** Passes bytes on after a while. */
async function slowRelay(to: Place, milliseconds: number): Promise<AsyncDisposable & { port: number }> {
  const server = createServer((visitor) => {
    const upstream = connect(to)
    visitor.on("data", (bytes) => setTimeout(() => upstream.write(bytes), milliseconds))
    upstream.pipe(visitor)
    for (const [one, other] of [
      [visitor, upstream],
      [upstream, visitor],
    ] as const) {
      one.on("error", () => other.destroy())
      one.on("close", () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new Error("no port")
  return {
    port: address.port,
    [Symbol.asyncDispose]: async () => {
      server.close()
    },
  }
}
