// ipgate proxy: each configuration, filled in for an installation, and what it refuses.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { PROXIES } from "../../cli/proxy/proxies.ts"
import { CliMachine } from "../support/cli.ts"

let machine: CliMachine
beforeAll(() => {
  machine = new CliMachine()
})
afterAll(() => machine.remove())

const print = async (...args: readonly string[]) => {
  const { code, out, err } = await machine.run(["proxy", ...args])
  expect({ code, err }).toEqual({ code: 0, err: "" })
  return out
}

const NAMES = ["nginx", "caddy", "haproxy", "traefik", "envoy"]

test("the proxies are those of the issue's readers", () => {
  expect(PROXIES.map(({ name }) => name)).toEqual(NAMES)
})

test("nginx, where nothing is changed, is the published configuration", async () => {
  const published = readFileSync(join(import.meta.dir, "../../docs/nginx.conf"), "utf8")
  expect(await print("nginx")).toBe(published)
})

/** What names the gate in each configuration, and in the script if there is one. */
const PLACES = {
  nginx: {
    tcp: "server 192.0.2.1:9000;",
    ipv6: "server [2001:db8::1]:9000;",
    unix: "server unix:/run/ipgate/a.sock;",
  },
  caddy: {
    tcp: "forward_auth 192.0.2.1:9000 {",
    ipv6: "forward_auth [2001:db8::1]:9000 {",
    unix: "forward_auth unix//run/ipgate/a.sock {",
  },
  haproxy: {
    tcp: 'url = "http://192.0.2.1:9000/auth"',
    ipv6: 'url = "http://[2001:db8::1]:9000/auth"',
    unix: 'dst = "unix@/run/ipgate/a.sock"',
  },
  traefik: {
    tcp: 'address: "http://192.0.2.1:9000/auth"',
    ipv6: 'address: "http://[2001:db8::1]:9000/auth"',
    unix: null,
  },
  envoy: {
    tcp: 'socket_address: { address: "192.0.2.1", port_value: 9000 }',
    ipv6: 'socket_address: { address: "2001:db8::1", port_value: 9000 }',
    unix: "pipe: { path: /run/ipgate/a.sock }",
  },
} as const

const environment = (listen: string) => ({
  IPGATE_LISTEN: listen,
  IPGATE_TRUSTED_PROXIES: "192.0.2.1, 2001:db8::1, 127.0.0.1, ::1, unix",
})

describe.each(Object.entries(PLACES))("%s", (name, { tcp, ipv6, unix }) => {
  const more = name === "haproxy" ? ["--lua"] : []

  test.each([
    ["192.0.2.1:9000", tcp],
    ["[2001:db8::1]:9000", ipv6],
    ...(unix === null ? [] : [["unix:/run/ipgate/a.sock", unix] as const]),
  ])("asks where the installation listens: %s", async (listen, text) => {
    for (const environment_ of [environment(listen), {}]) {
      const options =
        Object.keys(environment_).length === 0 ? ["--listen", listen, "--config", file(listen)] : []
      const { code, out, err } = await machine.run(["proxy", name, ...more, ...options], {
        environment: environment_,
      })
      expect({ code, err }).toEqual({ code: 0, err: "" })
      expect(out).toContain(text)
      expect(out).not.toContain("8765")
    }
  })

  test("names the client in the header of the installation, and in no other", async () => {
    for (const [header, other] of [
      ["X-Real-IP", "X-Forwarded-For"],
      ["X-Forwarded-For", "X-Real-IP"],
    ] as const) {
      const text = await print(name, ...more, "--client-ip-header", header)
      const live = text.replace(/(^|\s)(#|--) .*$/gm, "").toLowerCase()
      expect(live).toContain(header.toLowerCase())
      expect(live).not.toContain(other.toLowerCase())
    }
  })

  test("begins with what it is, and holds the line that each correction names", async () => {
    const template = PROXIES.find((one) => one.name === name)
    const text = (await print(name)) + (name === "haproxy" ? await print(name, "--lua") : "")
    expect(text).toMatch(/^# \S+ in front of a site, with ipgate deciding who gets in\./)
    const identity = template?.correction("identity", "X-Real-IP") ?? ""
    const words = identity.split(/ {2}|, and |: x-real-ip with /)[0] ?? ""
    for (const part of words.split(", auth"))
      expect(text).toContain(part.replace("headers_to_add", "headers_to_add:"))
    for (const what of ["endpoint", "cache", "error-page"] as const) {
      expect(template?.correction(what, "X-Real-IP")).not.toBe("")
    }
  })
})

describe("with several listeners", () => {
  const listen = "unix:/run/ipgate/a.sock, 127.0.0.1:9000"

  test("the first one that the proxy can ask is taken", async () => {
    const nginx = await machine.run("proxy nginx", { environment: environment(listen) })
    expect(nginx.out).toContain("server unix:/run/ipgate/a.sock;")
    const traefik = await machine.run("proxy traefik", { environment: environment(listen) })
    expect(traefik.out).toContain("http://127.0.0.1:9000/auth")
  })
})

describe("says on stderr what the configuration does not show", () => {
  test("a listener on every address is asked on loopback", async () => {
    for (const [listen, found] of [
      ["0.0.0.0:9000", "server 127.0.0.1:9000;"],
      ["[::]:9000", "server [::1]:9000;"],
    ] as const) {
      const { code, out, err } = await machine.run("proxy nginx", { environment: environment(listen) })
      expect(code).toBe(0)
      expect(out).toContain(found)
      expect(err).toContain("from another machine or a container")
    }
  })

  test("a proxy that ipgate would not believe", async () => {
    for (const [listen, trusted, said] of [
      ["unix:/run/a.sock", "127.0.0.1", 'does not hold "unix"'],
      ["192.0.2.1:9000", "192.0.2.10", "does not hold 192.0.2.1"],
      ["127.0.0.1:9000", "192.0.2.10", "does not hold 127.0.0.1"],
    ] as const) {
      const { code, err } = await machine.run("proxy nginx", {
        environment: { IPGATE_LISTEN: listen, IPGATE_TRUSTED_PROXIES: trusted },
      })
      expect([code, err]).toEqual([0, expect.stringContaining(said)])
    }
  })
})

describe("refuses, and says what would be right:", () => {
  test.each<readonly [string, string, ReadonlyArray<string>]>([
    ["an unknown name", "proxy apache", ["apache", "nginx, caddy, haproxy, traefik, envoy"]],
    ["a path for a name", "proxy ../nginx", ["nginx, caddy"]],
    ["the name of a property", "proxy constructor", ["nginx, caddy"]],
    ["no name", "proxy", ["name"]],
    ["Traefik over a unix socket", "proxy traefik --listen unix:/run/a.sock", ["TCP", "listen = "]],
    ["a script where there is none", "proxy nginx --lua", ["haproxy"]],
    [
      "a header of another name",
      "proxy nginx --client-ip-header CF-Connecting-IP",
      ["X-Real-IP or X-Forwarded-For"],
    ],
    ["a port that is chosen later", "proxy nginx --listen 127.0.0.1:0", ["--listen"]],
    ["no address at all", "proxy nginx --listen everywhere", ["127.0.0.1:8765"]],
    ["an address that others reach", "proxy nginx --listen 0.0.0.0:8765", ["trusted_proxies"]],
  ])("%s", async (_, command, said) => {
    const { code, out, err } = await machine.run(command)
    expect([code, out]).toEqual([2, ""])
    for (const text of said) expect(err).toContain(text)
  })

  test("a socket whose path would mean something else in a configuration", async () => {
    for (const path of ["/run/a b", "/run/a;include", '/run/a"', "/run/{a}", "/run/a\nb", "/run/$a"]) {
      const { code, out } = await machine.run(["proxy", "nginx", "--listen", `unix:${path}`])
      expect([path, code, out]).toEqual([path, 2, ""])
    }
  })
})

/** A configuration file that trusts whoever listens there. */
function file(listen: string): string {
  const trusted = '["192.0.2.1", "2001:db8::1", "unix"]'
  return machine.file(
    `${listen.replace(/\W/g, "-")}.toml`,
    `[server]\nlisten = ["${listen}"]\n[auth]\ntrusted_proxies = ${trusted}\n`,
  )
}
