// Requests that are hostile in their method, path, headers, body and framing, to every route, at random and by table.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { codeIn, rowsUnder } from "../docs/markdown.ts"
import { requestText } from "../support/raw-http.ts"
import { type RunningServer, runServer } from "../support/running-server.ts"
import { exchange } from "./exchange.ts"
import { fault } from "./fault.ts"
import { rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(600_000)

const LISTED = "192.0.2.7"
const OTHER = "192.0.2.8"

let server: RunningServer
let to: { kind: "tcp"; hostname: string; port: number }

beforeAll(async () => {
  server = await runServer()
  if (server.address.kind !== "tcp") throw new Error("the server listens elsewhere")
  to = server.address
  await server.addPermanent(LISTED)
})
afterAll(() => server.stop())

/** What the README says of a request: the statuses by method and path, `{ip}` and `…` standing for anything. */
const DOCUMENTED = documented()

/** Refusals that any request may get: what is no HTTP, no token, no route, no method, too large. */
const REFUSALS = [400, 401, 403, 404, 405, 413, 431, 505]

/** A request in the parts that matter for what it may get. */
type Hostile = {
  readonly method: string
  readonly target: string
  readonly client: string | null
  readonly token: "good" | "bad" | null
  readonly headers: readonly string[]
  readonly framing: readonly [lines: readonly string[], body: string]
}

const PATHS = [
  "/auth",
  "/authz",
  "/authz/x",
  "/status",
  ...[...DOCUMENTED.keys()].flatMap(
    (request) => (request.includes(" /api") ? request.split(" ")[1] : []) ?? [],
  ),
].map((path) => (path ?? "").replace("{ip}", "198.51.100.1"))

const METHODS = [
  "GET",
  "GET",
  "GET",
  "POST",
  "DELETE",
  "HEAD",
  "PUT",
  "PATCH",
  "OPTIONS",
  "TRACE",
  "CONNECT",
  "PROPFIND",
  "QUERY",
  "FOO",
  "get",
  "GE T",
  "",
]
const SMUGGLED = requestText("GET /auth", [`X-Real-IP: ${LISTED}`])

const anyTarget = fc
  .tuple(
    fc.constantFrom(...PATHS),
    fc.constantFrom(
      "",
      "",
      "",
      "?limit=1",
      "?ip=192.0.2.7",
      "?x=/auth",
      "?",
      "#f",
      "?limit=%00",
      "?ip=a&ip=b",
    ),
    fc.array(
      fc.tuple(
        fc.nat({ max: 30 }),
        fc.constantFrom(
          "/",
          "//",
          "/./",
          "/../",
          "%2f",
          "%2e%2e",
          "%61",
          "%00",
          "%zz",
          ";",
          "\\",
          ".",
          "a",
          "\u00e9",
          "..",
          "?",
          "#",
          " ",
          "\t",
          "http://h",
        ),
      ),
      { maxLength: 2 },
    ),
    fc.constantFrom("", "", "", "", "http://gate.test", "http://other.test:99", "//other.test", "HTTP://x"),
  )
  .map(([path, query, edits, prefix]) => {
    const edited = edits.reduce((text, [at, piece]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + piece + text.slice(place)
    }, path)
    return prefix + edited + query
  })

const HEADERS = [
  "Host: a b",
  "Host: user@h",
  "Host: h:99999",
  `X-Forwarded-For: ${LISTED}`,
  `X-Real-Ip: ${LISTED}`,
  `X_Real_IP: ${LISTED}`,
  `X-Real-IP : ${LISTED}`,
  `Forwarded: for=${LISTED}`,
  "X-Original-URL: /status",
  "X-HTTP-Method-Override: GET",
  "Authorization: Basic eDp5",
  "Authorization: Bearer",
  "Connection: close",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Upgrade: h2c",
  "Expect: 100-continue",
  "Expect: 200-ok",
  "Content-Type: application/x-www-form-urlencoded",
  "Content-Encoding: gzip",
  "Accept: text/event-stream",
  "Range: bytes=0-0",
  "If-None-Match: *",
  "If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT",
  "Last-Event-ID: 99999999999999999999",
  "Cookie: a=b",
  "TE: trailers",
  "Origin: http://evil.example",
  "X: y\r\n folded",
  "no colon",
  ": no name",
  "X: \x00",
  "X: \x7f\u00ff",
  `X: ${"a".repeat(9_000)}`,
]

const BODIES = [
  "",
  "{}",
  `{"ip":"198.51.100.2"}`,
  `{"ip":"198.51.100.3","ttl_seconds":1}`,
  `{"ip":"0.0.0.0/0x0"}`,
  "192.0.2.99x\n",
  "[",
  SMUGGLED,
]

const anyFraming: fc.Arbitrary<Hostile["framing"]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant([[], ""] as const) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(...BODIES).map((body) => [[`Content-Length: ${body.length}`], body] as const),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(...BODIES.filter(Boolean))
      .map(
        (body) =>
          [["Transfer-Encoding: chunked"], `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`] as const,
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          ["Content-Length: 5", "Transfer-Encoding: chunked"],
          ["Content-Length: 0", "Content-Length: 7"],
          ["Content-Length: +5"],
          ["Content-Length: 0x5"],
          ["Content-Length: 1e1"],
          ["Transfer-Encoding: xchunked"],
          ["Transfer-Encoding: chunked, chunked"],
          ["Transfer-Encoding : chunked"],
          ["Transfer-Encoding:\x0bchunked"],
        ),
        fc.constantFrom(`0\r\n\r\n${SMUGGLED}`, SMUGGLED, `5\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`),
      )
      .map(([lines, body]) => [lines, body] as const),
  },
)

const anyHostile: fc.Arbitrary<Hostile> = fc.record({
  method: fc.constantFrom(...METHODS),
  target: anyTarget,
  client: fc.constantFrom(LISTED, OTHER, OTHER, "010.8.8.8", "", null),
  token: fc.constantFrom("good", "bad", null),
  headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 3 }),
  framing: anyFraming,
})

function bytesOf({ method, target, client, token, headers, framing }: Hostile): Uint8Array {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    "Host: gate.test",
    ...(client === null ? [] : [`X-Real-IP: ${client}`]),
    ...(token === null ? [] : [`Authorization: Bearer ${token === "good" ? server.token : "x".repeat(48)}`]),
    ...headers,
    ...framing[0],
  ]
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${framing[1]}`, "latin1")
}

/** The statuses that the first answer may have: a 2xx only by this list. */
function allowedFor({ method, target, client, token, headers }: Hostile): readonly number[] {
  const path = (/^https?:\/\/[^/?#]*(.*)$/i.exec(target)?.[1] ?? target).split("?")[0] ?? ""
  // Two of the hostile lines name a listed client as well: joined with another they are nobody, alone they are he.
  const named = [
    ...(client === null ? [] : [client]),
    ...headers.filter((line) => line.startsWith("X-Real-Ip:")).map(() => LISTED),
  ]
  const isListed = named.length === 1 && named[0] === LISTED
  if (path === "/auth") return method === "GET" && isListed ? [204] : []
  if (path === "/authz" || path.startsWith("/authz/")) return isListed ? [200] : []
  if (path === "/status") return method === "GET" || method === "HEAD" ? [200] : []
  if (token !== "good" || headers.some((line) => line.startsWith("Authorization:"))) return []
  for (const [request, statuses] of DOCUMENTED) {
    const [known, pattern = ""] = request.split(" ")
    const base = pattern.replace("{ip}", "")
    if (known === method && (path === pattern || (base !== pattern && path.startsWith(base)))) return statuses
  }
  return []
}

test(
  fault(
    "H-14 H-15 H-17 H-18 H-21 J-20 B-16 T-08",
    "requests of random methods, targets, headers, bodies and framings to every route, each with a probe behind it",
    "a documented answer or a refusal; no 2xx but the documented ones, no second answer, no 500, and the lists as they should be",
  ),
  async () => {
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
    const requests = fc.sample(anyHostile, { numRuns: rounds(4_000, 200_000), seed })
    const seen = new Map<number, number>()
    let letIn = 0
    const faults: unknown[] = []
    // Sixteen at a time: most of the time of an exchange is waiting.
    const next = requests[Symbol.iterator]()
    const worker = async () => {
      for (const hostile of next) {
        const data = bytesOf(hostile)
        const isEndless = hostile.target.includes("/api/events")
        const { statuses, text } = await exchange(to, data, !isEndless)
        const [first = 0, ...more] = statuses
        const allowed = allowedFor(hostile)
        const isRight = statuses.length === 0 || REFUSALS.includes(first) || allowed.includes(first)
        const extra = more.filter((status) => status < 400 || status === 500)
        if (!isRight || extra.length > 0) {
          if ([first, ...extra].some((status) => status >= 200 && status < 300)) letIn++
          faults.push({
            request: Buffer.from(data).toString("latin1").slice(0, 600),
            statuses,
            text: text.slice(0, 200),
          })
        }
        seen.set(first, (seen.get(first) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: 16 }, worker))
    tally("requestsFuzzed", requests.length)
    tally("letIn", letIn)
    expect({ seed, faults: faults.slice(0, 5) }).toEqual({ seed, faults: [] })
    // Not everything was refused for its framing before it reached a route.
    for (const status of [200, 204, 400, 401, 403, 404, 405])
      expect([status, (seen.get(status) ?? 0) > 3]).toEqual([status, true])
    expect(server.log.filter((line) => line.includes("should not happen"))).toEqual([])
    expect(await server.decision(OTHER)).toBe(401)
    expect(await server.decision(LISTED)).toBe(204)
  },
)

describe(
  fault(
    "H-07 H-18 H-31 B-13 J-20",
    "each route with each hostile header beside a good request, with and without the token, for a listed client and for another",
    "the status of the same request without that header, or 400 or 431",
  ),
  () => {
    const REQUESTS = [
      "GET /auth",
      "POST /auth",
      "GET /authz/x",
      "POST /authz",
      "GET /status",
      "GET /",
      ...[...DOCUMENTED.keys()].filter(
        (request) => request.includes(" /api/") && !request.includes("events"),
      ),
    ].map((request) => request.replace("{ip}", "198.51.100.9"))

    test.each(HEADERS.map((header) => [header.slice(0, 60), header]))("%j", async (_, header) => {
      for (const line of REQUESTS) {
        for (const client of [LISTED, OTHER]) {
          for (const token of [server.token, null]) {
            const lines = [
              `X-Real-IP: ${client}`,
              ...(token === null ? [] : [`Authorization: Bearer ${token}`]),
            ]
            const plain = await exchange(to, Buffer.from(requestText(line, lines), "latin1"), false)
            const odd = await exchange(
              to,
              Buffer.from(requestText(line, [...lines, header]), "latin1"),
              false,
            )
            const refused = line.includes("/auth")
              ? line.includes("authz")
                ? 403
                : line.startsWith("GET")
                  ? 401
                  : 405
              : 401
            const may = [
              ...plain.statuses,
              400,
              431,
              ...(/^(X-Real-Ip|Authorization)/.test(header) ? [refused] : []),
            ]
            expect({ line, client, token: token !== null, may, status: odd.statuses[0] }).toEqual({
              line,
              client,
              token: token !== null,
              may,
              status: may.find((status) => status === odd.statuses[0]) as number,
            })
          }
        }
      }
      tally("requestsFuzzed", REQUESTS.length * 4)
    })
  },
)

function documented(): Map<string, readonly number[]> {
  const readme = readFileSync(join(import.meta.dir, "../../README.md"), "utf8")
  const answers = new Map<string, readonly number[]>()
  for (const [request = "", , cell = ""] of rowsUnder(readme, "request")) {
    const statuses = [...cell.matchAll(/(?:^|· )([2-5][0-9]{2})\b/g)].map(([, status]) => Number(status))
    const previous = [...answers.values()].at(-1) ?? []
    for (const code of codeIn(request).filter((code) => /^[A-Z]+ \//.test(code))) {
      answers.set(code, cell.includes("the same") ? previous : statuses)
    }
  }
  return answers
}
