// Requests that are hostile in their method, target, headers, body and framing, and what each of them may get.

import fc from "fast-check"
import { codeIn, rowsUnder } from "../docs/markdown.ts"
import { readPage } from "../docs/pages.ts"
import { requestText } from "../support/raw-http.ts"

export const LISTED = "192.0.2.7"
export const OTHER = "192.0.2.8"

/** What docs/api.md says of a request: the statuses by method and path, `{ip}` and `…` standing for anything. */
export const DOCUMENTED = documented()

/** Refusals that any request may get: what is no HTTP, no token, no route, no method, too large. */
export const REFUSALS = [400, 401, 403, 404, 405, 413, 431, 505]

/** A request in the parts that matter for what it may get. */
export type Hostile = {
  readonly method: string
  readonly target: string
  readonly client: string | null
  readonly token: "good" | "bad" | null
  readonly headers: readonly string[]
  readonly framing: readonly [lines: readonly string[], body: string]
}

const PATHS = [
  ...["/auth", "/auth", "/auth", "/auth"],
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
    fc.oneof(
      fc.constant([]),
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
        { minLength: 1, maxLength: 2 },
      ),
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

/** Header lines that are hostile, or would mean something to another server. */
export const HOSTILE_HEADERS = [
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
  { weight: 6, arbitrary: fc.constant([[], ""] as const) },
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

export const anyHostile: fc.Arbitrary<Hostile> = fc.record({
  method: fc.constantFrom(...METHODS),
  target: anyTarget,
  client: fc.constantFrom(LISTED, LISTED, LISTED, OTHER, OTHER, "010.8.8.8", "", null),
  token: fc.constantFrom("good", "bad", null),
  headers: fc.oneof(
    fc.constant([]),
    fc.array(fc.constantFrom(...HOSTILE_HEADERS), { minLength: 1, maxLength: 3 }),
  ),
  framing: anyFraming,
})

/** What goes out for it. */
export function bytesOf(
  { method, target, client, token, headers, framing }: Hostile,
  goodToken: string,
): Uint8Array {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    "Host: gate.test",
    ...(client === null ? [] : [`X-Real-IP: ${client}`]),
    ...(token === null ? [] : [`Authorization: Bearer ${token === "good" ? goodToken : "x".repeat(48)}`]),
    ...headers,
    ...framing[0],
  ]
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${framing[1]}`, "latin1")
}

/** The statuses that the first answer may have: a 2xx only by this list. */
export function allowedFor({ method, target, client, token, headers }: Hostile): readonly number[] {
  // As Bun's router cuts it: the authority of an absolute target ends at its first slash.
  const raw = (/^https?:\/\/[^/]*(.*)$/i.exec(target)?.[1] ?? target).split("?")[0] ?? ""
  // Below /api, and with a token only, `a/../b` is `b`: Bun tells a handler no other path.
  const path = raw.startsWith("/api/") ? new URL(`http://gate.test${raw}`).pathname : raw
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

function documented(): Map<string, readonly number[]> {
  const answers = new Map<string, readonly number[]>()
  for (const [request = "", , cell = ""] of rowsUnder(readPage("docs/api.md"), "request")) {
    const statuses = [...cell.matchAll(/(?:^|· )([2-5][0-9]{2})\b/g)].map(([, status]) => Number(status))
    const previous = [...answers.values()].at(-1) ?? []
    for (const code of codeIn(request).filter((code) => /^[A-Z]+ \//.test(code))) {
      answers.set(code, cell.includes("the same") ? previous : statuses)
    }
  }
  return answers
}
