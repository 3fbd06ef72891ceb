// What Traefik and Envoy ask, word for word in each of their modes, replayed against the server without the proxies.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Network } from "../../../src/core/network.ts"
import { ask, headerOf } from "../../support/raw-http.ts"
import { type RunningServer, runServer } from "../../support/running-server.ts"

const LISTED = "203.0.113.7"
const STRANGER = "198.51.100.4"
/** The hop in front of the proxy, where there is one. */
const HOP = "192.0.2.10"

let byRealIp: RunningServer
let byForwardedFor: RunningServer
beforeAll(async () => {
  const networks = ["127.0.0.1", HOP].flatMap((text) => Network.parse(text) ?? [])
  const trustedProxies = { networks, unixSocket: true }
  byRealIp = await runServer()
  byForwardedFor = await runServer({ clientIpHeader: "X-Forwarded-For", trustedProxies })
  for (const server of [byRealIp, byForwardedFor]) await server.addPermanent(LISTED)
})
afterAll(async () => {
  await byRealIp.stop()
  await byForwardedFor.stop()
})

type Mode = {
  readonly mode: string
  readonly server: () => RunningServer
  /** The request for a visitor of this address, as Traefik or Envoy writes it. */
  readonly request: (client: string) => string
  readonly yes: number
  readonly no: number
}

const lines = (...all: readonly string[]) => `${all.join("\r\n")}\r\n\r\n`

const traefik = (method: string, path: string, ...headers: readonly string[]) =>
  lines(
    `${method} ${path} HTTP/1.1`,
    "Host: 127.0.0.1:8765",
    "User-Agent: Go-http-client/1.1",
    ...headers,
    "Accept-Encoding: gzip",
  )

const forwarded = (list: string, method = "GET") => [
  `X-Forwarded-For: ${list}`,
  "X-Forwarded-Host: example.org",
  `X-Forwarded-Method: ${method}`,
  "X-Forwarded-Port: 80",
  "X-Forwarded-Proto: http",
  "X-Forwarded-Server: edge",
  "X-Forwarded-Uri: /page?x=1",
]

const TRAEFIK: readonly Mode[] = [
  {
    mode: "trustForwardHeader true, authRequestHeaders X-Real-Ip (the template)",
    server: () => byRealIp,
    request: (client) => traefik("GET", "/auth", ...forwarded(client), `X-Real-Ip: ${client}`),
    yes: 204,
    no: 401,
  },
  {
    mode: "trustForwardHeader true, for a POST",
    server: () => byRealIp,
    request: (client) => traefik("GET", "/auth", ...forwarded(client, "POST"), `X-Real-Ip: ${client}`),
    yes: 204,
    no: 401,
  },
  {
    mode: "trustForwardHeader unset: every header of the client goes along",
    server: () => byRealIp,
    request: (client) =>
      traefik(
        "GET",
        "/auth",
        ...forwarded(client),
        `X-Real-Ip: ${client}`,
        "Cookie: a=1; b=2",
        "Authorization: Basic dXNlcjpwYXNz",
        "Accept: text/html",
        "Cf-Connecting-Ip: 203.0.113.7",
        "Forwarded: for=203.0.113.7",
      ),
    yes: 204,
    no: 401,
  },
  {
    mode: "trustForwardHeader false: X-Real-Ip is deleted, so everybody is refused",
    server: () => byRealIp,
    request: (client) => traefik("GET", "/auth", ...forwarded(client)),
    yes: 401,
    no: 401,
  },
  {
    mode: "trustForwardHeader false, and ipgate reads X-Forwarded-For (the template)",
    server: () => byForwardedFor,
    request: (client) => traefik("GET", "/auth", ...forwarded(client)),
    yes: 204,
    no: 401,
  },
  {
    mode: "trustForwardHeader true behind a hop: a list, and X-Real-Ip is the hop",
    server: () => byForwardedFor,
    request: (client) =>
      traefik("GET", "/auth", ...forwarded(`203.0.113.7, ${client}, ${HOP}`), `X-Real-Ip: ${HOP}`),
    yes: 204,
    no: 401,
  },
  {
    mode: "preserveRequestMethod, on /auth: refused",
    server: () => byRealIp,
    request: (client) => traefik("PUT", "/auth", ...forwarded(client, "PUT"), `X-Real-Ip: ${client}`),
    yes: 405,
    no: 405,
  },
  {
    mode: "preserveRequestMethod, on /authz/",
    server: () => byRealIp,
    request: (client) => traefik("PUT", "/authz/", ...forwarded(client, "PUT"), `X-Real-Ip: ${client}`),
    yes: 200,
    no: 403,
  },
  {
    mode: "preserveRequestMethod and forwardBody, on /authz/",
    server: () => byRealIp,
    request: (client) =>
      `${traefik("POST", "/authz/", ...forwarded(client, "POST"), `X-Real-Ip: ${client}`, "Content-Length: 5")}hello`,
    yes: 200,
    no: 403,
  },
]

const envoy = (method: string, path: string, ...headers: readonly string[]) =>
  lines(
    `${method} ${path} HTTP/1.1`,
    "host: example.org",
    "content-length: 0",
    ...headers,
    "x-envoy-internal: true",
    "x-envoy-expected-rq-timeout-ms: 5000",
  )

const ENVOY: readonly Mode[] = [
  ...["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"].map((method) => ({
    mode: `path_prefix /authz, ${method} (the template)`,
    server: () => byRealIp,
    request: (client: string) => envoy(method, "/authz/page?x=1", `x-real-ip: ${client}`),
    yes: 200,
    no: 403,
  })),
  ...[
    "/authz",
    "/authz/",
    "/authz//",
    "/authz/../status",
    "/authz/%2e%2e/status",
    "/authz/a b".replace(" ", "%20"),
  ].map((path) => ({
    mode: `the path ${path}`,
    server: () => byRealIp,
    request: (client: string) => envoy("GET", path, `x-real-ip: ${client}`),
    yes: 200,
    no: 403,
  })),
  {
    mode: "x-forwarded-for in place of x-real-ip (the template)",
    server: () => byForwardedFor,
    request: (client) => envoy("GET", "/authz/page", `x-forwarded-for: ${client}`),
    yes: 200,
    no: 403,
  },
  {
    mode: "allowed_headers that let the client's own through beside the added one",
    server: () => byRealIp,
    request: (client) =>
      envoy("GET", "/authz/page", `x-real-ip: ${client}`, "x-forwarded-for: 203.0.113.7", "cookie: a=1"),
    yes: 200,
    no: 403,
  },
  {
    mode: "headers_to_add that appends, after the client's own: refused",
    server: () => byRealIp,
    request: (client) => envoy("GET", "/authz/page", "x-real-ip: 203.0.113.7", `x-real-ip: ${client}`),
    yes: 403,
    no: 403,
  },
  {
    mode: "with_request_body",
    server: () => byRealIp,
    request: (client) =>
      `${lines("POST /authz/page HTTP/1.1", "host: example.org", "content-length: 5", `x-real-ip: ${client}`)}hello`,
    yes: 200,
    no: 403,
  },
  {
    mode: "path_prefix /auth: an unknown path, so everybody is refused",
    server: () => byRealIp,
    request: (client) => envoy("GET", "/auth/page", `x-real-ip: ${client}`),
    yes: 404,
    no: 404,
  },
]

describe.each([
  ["Traefik", TRAEFIK],
  ["Envoy", ENVOY],
] as const)("%s", (_, modes) => {
  test.each(modes.map((mode) => [mode.mode, mode] as const))(
    "%s",
    async (_, { server, request, yes, no }) => {
      const method = (text: string) => text.slice(0, text.indexOf(" "))
      for (const [client, status] of [
        [LISTED, yes],
        [STRANGER, no],
        [`::ffff:${LISTED}`, yes],
        ["2001:db8::1", no],
        ["", no],
        [`${LISTED}:4711`, no],
        [`[2001:db8::1]`, no],
      ] as const) {
        const text = request(client)
        const answer = await ask(server().address, text, { method: method(text) })
        expect({ client, status: answer.status }).toEqual({ client, status })
        expect(headerOf(answer, "Cache-Control")).toBe("no-store")
      }
    },
  )
})
