// What only bytes on a socket can say: odd paths, hosts, bodies and framing, and what is no HTTP at all.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { fault } from "../faults/fault.ts"
import { allBytes, ask, headerOf, RawConnection, requestText } from "../support/raw-http.ts"
import { type RunningServer, runServer } from "../support/running-server.ts"

const LISTED = "192.0.2.7"
const OTHER = "192.0.2.8"
const LISTED_LINE = `X-Real-IP: ${LISTED}`

let server: RunningServer
let bearer: string

beforeAll(async () => {
  server = await runServer()
  bearer = `Authorization: Bearer ${server.token}`
  await server.addPermanent(LISTED)
})

afterAll(() => server.stop())

/** The statuses of all responses until the server closes. */
async function statusesUntilClose(data: string | Uint8Array): Promise<number[]> {
  const all = await allBytes(server.address, data)
  return [...all.matchAll(/^HTTP\/1\.1 ([0-9]{3}) /gm)].map(([, status]) => Number(status))
}

describe(
  fault(
    "H-14 H-17",
    "90 spellings of paths by a listed client",
    "/auth alone is /auth; the rest is 404, 400 or 401",
  ),
  () => {
    async function status(target: string): Promise<number> {
      const { status } = await ask(server.address, requestText(`GET ${target}`, [LISTED_LINE]))
      return status
    }

    test.each([
      "/auth",
      "/auth?",
      "/auth?x=1",
      "/auth?/../status",
      "/auth?http://other.test/status",
      "http://gate.test/auth",
      "http://other.test:99/auth?x",
      "https://gate.test/auth",
    ])("%s is /auth: 204", async (target) => {
      expect(await status(target)).toBe(204)
    })

    test.each([
      "/",
      "/auth/",
      "//auth",
      "/AUTH",
      "/Auth",
      "/%61uth",
      "/auth%20",
      "/auth%00",
      "/auth%2f",
      "/auth%3fx",
      "/auth%23",
      "/./auth",
      "/x/../auth",
      "/x\\..\\auth",
      "/\\auth",
      "/auth/.",
      "/auth/..",
      "/auth/../auth",
      "/auth;x",
      "/auth#f",
      "/auth.",
      "/auth\u00a0",
      "/\uff41uth",
      "/auths",
      "/x/auth",
      "/status/../auth",
      "/AUTHZ",
      "/authzz",
      "/authz%2fx",
      "//authz",
      "/%61uthz",
      "/./authz",
      "/x/../authz/y",
      "/status/",
      "/STATUS",
      "/Api/logs",
      "//api/logs",
      "/metrics",
      "/docs",
      "/index.html",
      "/favicon.ico",
      "/.well-known/x",
      "http://gate.test/auth/",
      "http://gate.test//auth",
      "http://gate.test/",
      "http://gate.test",
    ])("%j is nothing: 404", async (target) => {
      expect(await status(target)).toBe(404)
    })

    test.each(["auth", "*", "?/auth", "gate.test/auth", ""])("%j is no target: 400", async (target) => {
      const [status] = await statusesUntilClose(requestText(`GET ${target}`, [LISTED_LINE]))
      expect(status).toBe(400)
    })

    // The proxy's own path is below /authz, whatever it is: the decision is by address only.
    test.each(["/authz", "/authz/", "/authz?x", "/authz/a/b", "/authz/../auth", "/authz//", "/authz/%zz"])(
      "%s is /authz: 200 for a listed client, 403 for another",
      async (target) => {
        expect(await status(target)).toBe(200)
        const denied = await ask(server.address, requestText(`GET ${target}`, [`X-Real-IP: ${OTHER}`]))
        expect(denied.status).toBe(403)
      },
    )

    test.each(["/api", "/api/", "/api?x", "/api/x", "/api/../auth", "/api/%2e%2e/auth", "/api//logs"])(
      "%s is under /api: 401 without a token",
      async (target) => {
        const answer = await ask(server.address, requestText(`GET ${target}`, [LISTED_LINE]))
        expect([answer.status, headerOf(answer, "WWW-Authenticate")]).toEqual([401, "Bearer"])
      },
    )

    test.each([
      "/api",
      "/api/",
      "/api?x",
      "/api/x",
      "/api/../auth",
      "/api/%2e%2e/auth",
      "/api//logs",
      "/api/logs/",
      "/api/Logs",
      "/api/whitelist",
      "/api/whitelist/",
      "/api/whitelist/perms",
      "/api/whitelist/constructor",
      "/api/check/x",
      "/api/__proto__",
      "/api/whitelist/perm%2flist",
      "/api/whitelist/perm;list",
      // Bun resolves these in the address of a request: a proxy that lets only some paths through must not be passed by.
      "/api/./logs",
      "/api/x/../logs",
      "/api/x/%2e%2e/logs",
      "/api/whitelist/temp\\..\\..\\logs",
      "/api/whitelist/temp/..\\..\\logs",
      "/api/whitelist/temp/../perm/list",
      "/openapi.json/../api/logs",
    ])("%s is nothing with a token: 404", async (target) => {
      expect((await ask(server.address, requestText(`GET ${target}`, [bearer]))).status).toBe(404)
    })

    test("nothing leads out of the path of an entry either", async () => {
      const target = "/api/whitelist/temp/..\\perm/192.0.2.7"
      expect((await ask(server.address, requestText(`DELETE ${target}`, [bearer]))).status).toBe(404)
      expect(await status("/auth")).toBe(204)
    })

    test("a proxy that was pointed at the wrong path lets somebody in only by /status", async () => {
      const open: string[] = []
      for (const path of [
        "/",
        "/auth",
        "/authz",
        "/authz/x",
        "/status",
        "/api",
        "/api/logs",
        "/metrics",
        "/docs",
      ]) {
        const { status } = await ask(server.address, requestText(`GET ${path}`, [`X-Real-IP: ${OTHER}`]))
        if (status >= 200 && status < 300) open.push(path)
      }
      expect(open).toEqual(["/status"])
    })
  },
)

describe(
  fault(
    "H-18",
    "31 hostile Host headers, and two at once, on every route",
    "the answer to a good one, to the byte",
  ),
  () => {
    const HOSTS = [
      "a b",
      "user@h",
      "[",
      "[::1",
      "[::1]:80",
      "]",
      "%",
      "%zz",
      "h:99999",
      "h:80:80",
      "h:",
      ":80",
      "",
      "\u00ff",
      "a/b",
      "a/auth",
      "/status",
      "h#x",
      "h?q",
      "h?/auth",
      "..",
      "a\tb",
      "<x>",
      "xn--",
      "h,h",
      "http://x",
      "x://y/z",
      "-",
      "a".repeat(300),
      "a\\b",
      "'\"",
    ]

    const QUESTIONS: ReadonlyArray<readonly [line: string, lines: () => string[]]> = [
      ["GET /auth", () => [LISTED_LINE]],
      ["GET /auth", () => [`X-Real-IP: ${OTHER}`]],
      ["POST /auth", () => [LISTED_LINE]],
      ["GET /authz/x", () => [LISTED_LINE]],
      ["GET /authz/x", () => [`X-Real-IP: ${OTHER}`]],
      ["GET /status", () => []],
      ["GET /nothing", () => []],
      ["GET /api/logs?limit=1", () => []],
      ["GET /api/logs?limit=1", () => [bearer]],
      ["GET /api/logs?limit=0", () => [bearer]],
      ["GET /api/logs?limit=1&action=a://b/c", () => [bearer]],
      [`GET /api/check?ip=${LISTED}&x=://y`, () => [bearer]],
      ["GET /api/nothing", () => [bearer]],
      ["DELETE /api/whitelist/perm/198.51.100.0/24", () => [bearer]],
      ["DELETE /api/whitelist/perm/a://b/198.51.100.0", () => [bearer]],
    ]

    async function answers(hostLines: readonly string[]) {
      using connection = await RawConnection.open(server.address)
      const all = []
      for (const [line, lines] of QUESTIONS) {
        const head = [`${line} HTTP/1.1`, ...hostLines, ...lines()].join("\r\n")
        const answer = await connection.ask(Buffer.from(`${head}\r\n\r\n`, "latin1"))
        all.push([line, answer.status, answer.body])
      }
      return all
    }

    test.each(HOSTS)("Host: %j", async (host) => {
      expect(await answers([`Host: ${host}`])).toEqual(await answers(["Host: gate.test"]))
    })

    test("two of them", async () => {
      expect(await answers(["Host: a", "Host: b"])).toEqual(await answers(["Host: gate.test"]))
    })

    test("the questions are not all refused", async () => {
      const statuses = (await answers(["Host: gate.test"])).map(([, status]) => status)
      expect(statuses).toEqual([204, 401, 405, 200, 403, 200, 404, 401, 200, 400, 400, 200, 404, 204, 400])
    })

    test("none at all: 400", async () => {
      expect(await statusesUntilClose(`GET /auth HTTP/1.1\r\n${LISTED_LINE}\r\n\r\n`)).toEqual([400])
    })
  },
)

describe(
  fault(
    "H-19 H-21",
    "bodies that hold a request, and a gigabyte that never comes, on every route",
    "answered at once, the body is never a request",
  ),
  () => {
    const SMUGGLED = requestText("GET /auth", [LISTED_LINE])

    test.each(["/auth", "/authz", "/status", "/nothing", "/api/logs"])(
      "GET %s is answered before a gigabyte comes",
      async (path) => {
        const head = (more: string[]) => requestText(`GET ${path}`, [LISTED_LINE, ...more])
        const plain = await ask(server.address, head([]))
        const announced = await ask(server.address, head(["Content-Length: 1000000000"]))
        expect(announced.status).toBe(plain.status)
      },
    )

    test("is not taken for a request", async () => {
      using connection = await RawConnection.open(server.address)
      for (const path of ["/auth", "/authz", "/nothing", "/status", "/api/logs"]) {
        const plain = await connection.ask(requestText(`GET ${path}`))
        const length = `Content-Length: ${SMUGGLED.length}`
        const sized = await connection.ask(requestText(`GET ${path}`, [length], SMUGGLED))
        const chunks = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`
        const chunked = await connection.ask(
          requestText(`GET ${path}`, ["Transfer-Encoding: chunked"], chunks),
        )
        expect([path, sized.status, chunked.status]).toEqual([path, plain.status, plain.status])
        // A smuggled request would have been answered by now, with a 204.
        expect((await connection.ask(requestText("GET /nothing"))).status).toBe(404)
        expect(connection.unread).toBe("")
      }
    })
  },
)

describe(
  fault("H-23", "six kinds of answers, five times each on one connection", "the connection lives"),
  () => {
    test.each([
      ["204", "GET /auth", LISTED, 204],
      ["401", "GET /auth", OTHER, 401],
      ["405", "POST /auth", LISTED, 405],
      ["405 to HEAD", "HEAD /auth", LISTED, 405],
      ["200 of /authz", "PUT /authz/x", LISTED, 200],
      ["403 of /authz", "PUT /authz/x", OTHER, 403],
    ])("after %s", async (_what, line, client, status) => {
      using connection = await RawConnection.open(server.address)
      const text = requestText(line, [`X-Real-IP: ${client}`])
      for (let i = 0; i < 5; i++) {
        expect((await connection.ask(text, line.split(" ")[0])).status).toBe(status)
      }
    })

    test("in HTTP/1.0 only if asked for", async () => {
      const text = `GET /auth HTTP/1.0\r\n${LISTED_LINE}\r\n`
      expect(await statusesUntilClose(`${text}\r\n`)).toEqual([204])
      using connection = await RawConnection.open(server.address)
      const first = await connection.ask(`${text}Connection: close\r\n\r\n`)
      expect(first.status).toBe(204)
      expect(await connection.rest()).toBe("")
    })
  },
)

describe(
  fault(
    "H-21",
    "42 requests whose end is unclear, with a second one behind",
    "400, the second one is not served",
  ),
  () => {
    const POST = "POST /api/x HTTP/1.1\r\nHost: gate.test\r\n"
    /** If a server misread where the first request ends, this one would be answered, with a 204. */
    const NEXT = requestText("GET /auth", [LISTED_LINE])

    test.each([
      ["length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
      ["chunks and length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"],
      ["two lengths", "Content-Length: 0\r\nContent-Length: 5\r\n\r\n"],
      ["a list of lengths", "Content-Length: 5, 5\r\n\r\nabcde"],
      ["a length with a sign", "Content-Length: +5\r\n\r\nabcde"],
      ["a negative length", "Content-Length: -1\r\n\r\n"],
      ["a hexadecimal length", "Content-Length: 0x5\r\n\r\nabcde"],
      ["a length with an exponent", "Content-Length: 1e1\r\n\r\nabcde"],
      ["a length with a space inside", "Content-Length: 5 5\r\n\r\nabcde"],
      ["an empty length", "Content-Length:\r\n\r\n"],
      ["a length beyond 64 bits", "Content-Length: 99999999999999999999999\r\n\r\n"],
      ["a space before the colon", "Content-Length : 5\r\n\r\nabcde"],
      ["an unknown coding", "Transfer-Encoding: x\r\n\r\n"],
      ["a coding that ends like chunked", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
      ["two codings", "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
      ["chunked twice", "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"],
      ["chunked not last", "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"],
      ["identity", "Transfer-Encoding: identity\r\n\r\n"],
      ["two coding headers", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"],
      ["two chunked headers", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
      ["a vertical tab", "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n"],
      ["a folded coding", "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"],
      ["an empty coding", "Transfer-Encoding:\r\n\r\n"],
      ["a bare line feed", "X: y\nZ: w\r\n\r\n"],
      ["a bare carriage return", "X: y\rZ: w\r\n\r\n"],
      ["a folded header", "X: y\r\n z\r\n\r\n"],
      ["a line without a colon", "x\r\n\r\n"],
      ["a header without a name", ": x\r\n\r\n"],
      ["a NUL in a value", "X: y\0z\r\n\r\n"],
    ])("%s: 400, and the next request is not served", async (_what, rest) => {
      expect(await statusesUntilClose(POST + rest + NEXT)).toEqual([400])
    })

    test("chunks in HTTP/1.0: 400", async () => {
      const head = "POST /api/x HTTP/1.0\r\nHost: gate.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
      expect(await statusesUntilClose(head + NEXT)).toEqual([400])
    })

    // The head was good, so the handler has answered (with a 401) before the chunks turn out to be broken.
    test.each([
      ["a size that is no number", "zz\r\n\r\n"],
      ["a size with a prefix", "0x5\r\nabcde\r\n0\r\n\r\n"],
      ["a negative size", "-1\r\n\r\n"],
      ["a size beyond 64 bits", "ffffffffffffffff1\r\nabcde\r\n0\r\n\r\n"],
      ["a chunk longer than its size", "5\r\nabcdeXX0\r\n\r\n"],
      ["a bare line feed after a size", "5\nabcde\r\n0\r\n\r\n"],
      ["a line feed in an extension", "5;a=\nb\r\nabcde\r\n0\r\n\r\n"],
      ["text after the last chunk", "0\r\nXX"],
      ["a trailer", "0\r\nX: y\r\n\r\n"],
    ])("%s: 400 after the answer, and the next request is not served", async (_what, chunks) => {
      const text = `${POST}Transfer-Encoding: chunked\r\n\r\n${chunks}${NEXT}`
      expect(await statusesUntilClose(text)).toEqual([401, 400])
    })

    test.each([
      ["a trailer", "X: y\r\n\r\n"],
      ["text after the last chunk", "XX"],
    ])("a change whose chunks end in %s: 400, and nothing is changed", async (_what, end) => {
      const [first, second, later] = ["192.0.2.101", "192.0.2.102", "192.0.2.103"]
      for (const [path, body] of [
        ["/api/whitelist/perm", JSON.stringify({ ip: first })],
        ["/api/whitelist/import", `${second}\n`],
      ] as const) {
        const head = requestText(`POST ${path}`, [bearer, "Transfer-Encoding: chunked"])
        const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n`
        expect(await statusesUntilClose(head + chunks + end)).toEqual([400])
      }
      // Changes are written in their order: one that came later is there only when those before it would be.
      await server.addPermanent(later)
      const asked = [first, second, later].map((client) => server.decision(client))
      expect(await Promise.all(asked)).toEqual([401, 401, 204])
      await server.api("DELETE", `/api/whitelist/perm/${later}`)
    })

    test.each([
      ["two equal lengths", "Content-Length: 0\r\nContent-Length: 0\r\n\r\n"],
      ["chunked in another case", "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n"],
      ["an extension", "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nabcde\r\n0\r\n\r\n"],
    ])("%s is clear enough: both requests are served", async (_what, rest) => {
      using connection = await RawConnection.open(server.address)
      connection.send(POST + rest + NEXT)
      expect((await connection.answer()).status).toBe(401)
      expect((await connection.answer()).status).toBe(204)
      expect(connection.unread).toBe("")
    })
  },
)

describe(
  fault(
    "T-08",
    "TLS, HTTP/2, HTTP/0.9, the PROXY protocol, zeros and noise",
    "400 or 505 and the end of the connection",
  ),
  () => {
    const bytes = (...parts: ReadonlyArray<string | readonly number[]>) =>
      Buffer.concat(parts.map((part) => Buffer.from(part as string)))
    const V2_PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    const PROXY_V2 = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, 0x21, 0x11, 0, 12]
    const LISTED_BYTES = LISTED.split(".").map(Number)

    test.each<readonly [string, string | Uint8Array, number]>([
      ["a TLS hello", bytes([22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3], "x".repeat(192)), 400],
      ["an HTTP/2 preface", V2_PREFACE, 400],
      ["an HTTP/2 preface with settings", bytes(V2_PREFACE, [0, 0, 0, 4, 0, 0, 0, 0, 0]), 400],
      ["HTTP/0.9", "GET /auth\r\n\r\n", 505],
      ["HTTP/1.2", `GET /auth HTTP/1.2\r\nHost: h\r\n${LISTED_LINE}\r\n\r\n`, 505],
      ["HTTP/2.0 in text", `GET /auth HTTP/2.0\r\nHost: h\r\n${LISTED_LINE}\r\n\r\n`, 505],
      ["a version in lower case", `GET /auth http/1.1\r\nHost: h\r\n${LISTED_LINE}\r\n\r\n`, 505],
      ["two spaces in the request line", `GET  /auth HTTP/1.1\r\nHost: h\r\n${LISTED_LINE}\r\n\r\n`, 400],
      ["a tab in the request line", `GET\t/auth HTTP/1.1\r\nHost: h\r\n${LISTED_LINE}\r\n\r\n`, 505],
      ["line feeds only", `GET /auth HTTP/1.1\nHost: h\n${LISTED_LINE}\n\n`, 505],
      ["an empty line first", `\r\n${requestText("GET /auth", [LISTED_LINE])}`, 400],
      ["the PROXY protocol", `PROXY TCP4 ${LISTED} ${LISTED} 1 2\r\n${requestText("GET /auth")}`, 400],
      ["the PROXY protocol, binary", bytes(PROXY_V2, LISTED_BYTES, LISTED_BYTES, [0, 1, 0, 2]), 400],
      ["zeros", new Uint8Array(64), 400],
      ["noise", Uint8Array.from({ length: 512 }, (_, i) => (i * 73 + 41) % 256), 400],
    ])("%s", async (_what, data, status) => {
      expect(await statusesUntilClose(data)).toEqual([status])
    })

    test.each([
      ["HTTP/2", ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQ"]],
      [
        "a web socket",
        [
          "Connection: Upgrade",
          "Upgrade: websocket",
          "Sec-WebSocket-Version: 13",
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ],
      ],
    ])("a wish for %s is not heard: the decision is the answer", async (_what, lines) => {
      for (const [client, status] of [
        [LISTED, 204],
        [OTHER, 401],
      ] as const) {
        const text = requestText("GET /auth", [`X-Real-IP: ${client}`, ...lines])
        expect((await ask(server.address, text)).status).toBe(status)
      }
    })
  },
)

describe(fault("H-20 S-01", "heads around the limits of Bun", "decided below, 431 above"), () => {
  test.each([
    ["a cookie of 15,000 bytes", [`Cookie: ${"a".repeat(15_000)}`], 204],
    ["180 more fields", Array.from({ length: 180 }, () => "a: b"), 204],
    ["a cookie of 17,000 bytes", [`Cookie: ${"a".repeat(17_000)}`], 431],
    ["250 more fields", Array.from({ length: 250 }, () => "a: b"), 431],
  ])("%s", async (_what, lines, status) => {
    const answer = await ask(server.address, requestText("GET /auth", [LISTED_LINE, ...lines]))
    expect(answer.status).toBe(status)
  })

  test("a target of 17,000 bytes", async () => {
    const text = requestText(`GET /auth?${"a".repeat(17_000)}`, [LISTED_LINE])
    expect(await statusesUntilClose(text)).toEqual([431])
  })
})

describe(
  fault(
    "T-04 T-05",
    "bodies at the limit and beyond it in every framing, and Expect: 100-continue with and without a token",
    "taken, 413 and the end of the connection, or 401",
  ),
  () => {
    const LARGEST = 65_536
    const PATH = "/api/whitelist/perm"

    /** A good body of this many bytes. */
    const bodyOf = (ip: string, length: number) => JSON.stringify({ ip }).padEnd(length)

    const FRAMINGS: ReadonlyArray<readonly [name: string, frame: (body: string) => [string[], string]]> = [
      ["Content-Length", (body) => [[`Content-Length: ${body.length}`], body]],
      [
        "one chunk",
        (body) => [["Transfer-Encoding: chunked"], `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
      ],
      [
        "many chunks",
        (body) => [
          ["Transfer-Encoding: chunked"],
          `${(body.match(/.{1,1000}/gs) ?? []).map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("")}0\r\n\r\n`,
        ],
      ],
    ]

    const post = (
      ip: string,
      length: number,
      frame: (body: string) => [string[], string],
      lines: string[],
    ) => {
      const [framing, body] = frame(bodyOf(ip, length))
      return requestText(`POST ${PATH}`, [...lines, ...framing], body)
    }

    test.each(FRAMINGS)("of %p: 65,536 bytes are taken", async (_name, frame) => {
      const answer = await ask(server.address, post("198.51.100.1", LARGEST, frame, [bearer]))
      expect([answer.status, headerOf(answer, "Ipgate-Result")]).toEqual([204, "added"])
      expect((await server.api("DELETE", `${PATH}/198.51.100.1`)).headers.get("Ipgate-Result")).toBe(
        "removed",
      )
    })

    test.each(FRAMINGS)("of %p: 65,537 bytes are 413, and the connection ends", async (_name, frame) => {
      using connection = await RawConnection.open(server.address)
      const answer = await connection.ask(post("198.51.100.2", LARGEST + 1, frame, [bearer]))
      expect([answer.status, answer.body]).toEqual([413, "the body is larger than 65536 bytes\n"])
      expect(headerOf(answer, "Content-Type")).toBe("text/plain; charset=utf-8")
      expect(await connection.rest()).toBe("")
      expect((await server.lists()).permanent).not.toContain("198.51.100.2")
    })

    test("that is announced as larger is refused before it comes", async () => {
      const text = requestText(`POST ${PATH}`, [bearer, `Content-Length: ${LARGEST + 1}`])
      expect(await statusesUntilClose(text)).toEqual([413])
    })

    test.each(FRAMINGS)("of %p: two megabytes are cut off", async (_name, frame) => {
      expect(await statusesUntilClose(post("198.51.100.3", 2 * 2 ** 20, frame, [bearer]))).toContain(413)
    })

    test.each(FRAMINGS)("of %p: too large without a token is 401", async (_name, frame) => {
      const answer = await ask(server.address, post("198.51.100.4", LARGEST + 1, frame, []))
      expect(answer.status).toBe(401)
    })

    test("Expect: 100-continue gets its 100, and then the answer that it would have got", async () => {
      const body = bodyOf("198.51.100.5", 30)
      for (const [lines, status] of [
        [[bearer], 204],
        [[], 401],
      ] as const) {
        using connection = await RawConnection.open(server.address)
        const head = requestText(`POST ${PATH}`, [...lines, "Expect: 100-continue", "Content-Length: 30"])
        expect((await connection.ask(head)).status).toBe(100)
        expect((await connection.ask(body)).status).toBe(status)
        expect((await connection.ask(requestText("GET /nothing"))).status).toBe(404)
      }
      await server.api("DELETE", `${PATH}/198.51.100.5`)
    })

    test("that ends too soon changes nothing", async () => {
      const head = requestText(`POST ${PATH}`, [bearer, "Content-Length: 100"])
      {
        using connection = await RawConnection.open(server.address)
        connection.send(head + JSON.stringify({ ip: "198.51.100.6" }))
        // Something later on another connection, so that the server has seen the bytes before the end.
        expect(await server.decision(LISTED)).toBe(204)
      }
      expect(await server.decision("198.51.100.6")).toBe(401)
      expect((await server.lists()).permanent).toEqual([LISTED])
    })
  },
)
