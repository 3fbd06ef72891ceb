// The token of the API: who has it may do everything, who has not learns nothing, and it is asked for first.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { BearerTokens } from "../../src/http/bearer.ts"
import { fault } from "../faults/fault.ts"
import { ask, headerOf, type RawAnswer, requestText } from "../support/raw-http.ts"
import { type RunningServer, runServer } from "../support/running-server.ts"

const TOKEN = "first-token-0123456789-0123456789-abcdef"
const SECOND = "second-token/with+other=characters.~-_!#"

const REFUSED = [
  "HTTP/1.1 401 Unauthorized",
  "Cache-Control: no-store",
  "Content-Type: text/plain; charset=utf-8",
  "X-Content-Type-Options: nosniff",
  "WWW-Authenticate: Bearer",
  "Date: *",
  "Content-Length: 25",
  "",
  "missing or invalid token\n",
].join("\r\n")

let server: RunningServer

beforeAll(async () => {
  server = await runServer({ tokens: [TOKEN, SECOND] })
})

afterAll(() => server.stop())

const askLogs = (...lines: readonly string[]) => ask(server.address, requestText("GET /api/logs", lines))

const bytesOf = ({ head, body }: RawAnswer) => head.replace(/^Date: [^\r]*/m, "Date: *") + body

describe(fault("B-03", "spellings of the scheme", "accepted in any case"), () => {
  test.each([
    ["the token", `Bearer ${TOKEN}`],
    ["the other token, while one replaces the other", `Bearer ${SECOND}`],
    ["the scheme in lower case", `bearer ${TOKEN}`],
    ["the scheme in upper case", `BEARER ${TOKEN}`],
    ["the scheme in any case", `bEaReR ${TOKEN}`],
    ["two spaces", `Bearer  ${TOKEN}`],
    ["many spaces", `Bearer ${" ".repeat(50)}${TOKEN}`],
    ["white space around the value, which Bun trims", ` \tBearer ${TOKEN}\t `],
  ])("%s", async (_what, value) => {
    expect((await askLogs(`Authorization: ${value}`)).status).toBe(200)
  })
})

describe(
  fault(
    "B-01 B-02 B-03 B-04 B-05 B-07",
    "no token, wrong ones, two, in the query, in the body, of every length",
    "401 with the same bytes, nothing logged",
  ),
  () => {
    const ROWS: ReadonlyArray<readonly [what: string, lines: readonly string[]]> = [
      ["no header", []],
      ["an empty header", ["Authorization:"]],
      ["the scheme alone", ["Authorization: Bearer"]],
      ["the scheme and a space", ["Authorization: Bearer "]],
      ["the token alone", [`Authorization: ${TOKEN}`]],
      ["no space", [`Authorization: Bearer${TOKEN}`]],
      ["a tab for the space", [`Authorization: Bearer\t${TOKEN}`]],
      ["a space and a tab", [`Authorization: Bearer \t${TOKEN}`]],
      ["a no-break space", [`Authorization: Bearer\u00a0${TOKEN}`]],
      ["a colon", [`Authorization: Bearer: ${TOKEN}`]],
      ["an equals sign", [`Authorization: Bearer=${TOKEN}`]],
      ["quotes", [`Authorization: Bearer "${TOKEN}"`]],
      ["text after it", [`Authorization: Bearer ${TOKEN} x`]],
      ["a comma after it", [`Authorization: Bearer ${TOKEN},`]],
      ["it twice in one header", [`Authorization: Bearer ${TOKEN}, Bearer ${TOKEN}`]],
      ["two headers, both right", [`Authorization: Bearer ${TOKEN}`, `Authorization: Bearer ${TOKEN}`]],
      ["two headers, both tokens", [`Authorization: Bearer ${TOKEN}`, `Authorization: Bearer ${SECOND}`]],
      ["two headers, one empty", [`Authorization: Bearer ${TOKEN}`, "Authorization:"]],
      ["Basic", [`Authorization: Basic ${btoa(`user:${TOKEN}`)}`]],
      ["Basic with the token", [`Authorization: Basic ${TOKEN}`]],
      ["Token", [`Authorization: Token ${TOKEN}`]],
      ["Proxy-Authorization", [`Proxy-Authorization: Bearer ${TOKEN}`]],
      ["X-Authorization", [`X-Authorization: Bearer ${TOKEN}`]],
      ["X-API-Token", [`X-API-Token: ${TOKEN}`]],
      ["a cookie", [`Cookie: token=${TOKEN}; Authorization=Bearer ${TOKEN}`]],
      ["another token", [`Authorization: Bearer ${"x".repeat(TOKEN.length)}`]],
      ["the first character wrong", [`Authorization: Bearer X${TOKEN.slice(1)}`]],
      ["the last character wrong", [`Authorization: Bearer ${TOKEN.slice(0, -1)}X`]],
      ["the last character missing", [`Authorization: Bearer ${TOKEN.slice(0, -1)}`]],
      ["a character more", [`Authorization: Bearer ${TOKEN}X`]],
      ["in upper case", [`Authorization: Bearer ${TOKEN.toUpperCase()}`]],
      ["both tokens in one", [`Authorization: Bearer ${TOKEN}${SECOND}`]],
      ["undefined", ["Authorization: Bearer undefined"]],
      ["null", ["Authorization: Bearer null"]],
      ["[object Object]", ["Authorization: Bearer [object Object]"]],
      ["an asterisk", ["Authorization: Bearer *"]],
      ["bytes beyond ASCII", [`Authorization: Bearer ${TOKEN}\u00e9`]],
      ["DEL", [`Authorization: Bearer ${TOKEN}\x7f`]],
      ["percent escapes", [`Authorization: Bearer ${TOKEN.replaceAll("-", "%2D")}`]],
    ]

    test.each(ROWS)("%s", async (_what, lines) => {
      expect(bytesOf(await askLogs(...lines))).toBe(REFUSED)
    })

    test("in the query or in the body", async () => {
      const query = await ask(
        server.address,
        requestText(`GET /api/logs?access_token=${TOKEN}&token=${TOKEN}&Authorization=Bearer%20${TOKEN}`),
      )
      expect(bytesOf(query)).toBe(REFUSED)
      const body = `access_token=${TOKEN}`
      const form = requestText(
        "POST /api/whitelist/perm",
        ["Content-Type: application/x-www-form-urlencoded", `Content-Length: ${body.length}`],
        body,
      )
      expect(bytesOf(await ask(server.address, form))).toBe(REFUSED)
    })

    test("of any length from 0 to 10,000", async () => {
      const lengths = [0, 1, 2, 31, 32, 33, 39, 40, 41, 63, 64, 65, 255, 256, 1000, 4096, 10_000]
      // Together, because somebody who keeps showing wrong tokens waits for each answer.
      const answers = lengths.map((length) => askLogs(`Authorization: Bearer ${"a".repeat(length)}`))
      for (const answer of await Promise.all(answers)) expect(bytesOf(answer)).toBe(REFUSED)
    })

    test("of any length, asked of the object itself", () => {
      const tokens = new BearerTokens([TOKEN, SECOND])
      for (let length = 0; length <= 10_000; length += length < 200 ? 1 : 97) {
        const headers = { Authorization: `Bearer ${"a".repeat(length)}` }
        const shown = tokens.verify(new Request("http://gate.test/api/logs", { headers }))
        expect(shown).toBe(length === 0 ? "absent" : "unknown")
      }
    })

    test("and never a word of it in the log", () => {
      expect(server.log.join("")).not.toContain(TOKEN)
      expect(server.log.join("")).not.toContain("Bearer")
    })
  },
)

describe(
  fault(
    "B-06",
    "no token in the configuration, and credentials that such a server might take",
    "nothing is accepted",
  ),
  () => {
    test.each([
      ["no token", []],
      ["an empty one", [""]],
    ])("%s: nothing is accepted", (_what, known) => {
      const tokens = new BearerTokens(known)
      for (const value of [
        "Bearer",
        "Bearer ",
        "Bearer  ",
        "Bearer undefined",
        "Bearer null",
        "",
        `Bearer ${TOKEN}`,
      ]) {
        const request = new Request("http://gate.test/api/logs", { headers: { Authorization: value } })
        const isToken = /^Bearer +[\x21-\x7e]+$/.test(value)
        expect([value, tokens.verify(request)]).toEqual([value, isToken ? "unknown" : "absent"])
      }
      expect(tokens.verify(new Request("http://gate.test/api/logs"))).toBe("absent")
    })
  },
)

test("tokens of the file that are replaced: the new ones count at once, the old ones and what they have open end", () => {
  const tokens = new BearerTokens([TOKEN, SECOND])
  const shown = (token: string) =>
    tokens.verify(new Request("http://gate.test/api/logs", { headers: { Authorization: `Bearer ${token}` } }))
  const [first, second] = [shown(TOKEN), shown(SECOND)]
  if (typeof first === "string" || typeof second === "string") throw new Error("both are good")
  const ended: string[] = []
  first.onEnd(() => ended.push("first"))
  second.onEnd(() => ended.push("second"))
  const third = "third-token-0123456789-0123456789-abcdef"
  expect(shown(third)).toBe("unknown")
  tokens.replaceFileTokens([SECOND, third])
  expect([shown(TOKEN), shown(SECOND), typeof shown(third)]).toEqual(["unknown", second, "object"])
  expect([ended, first.counts, second.counts]).toEqual([["first"], false, true])
  tokens.replaceFileTokens([])
  expect([shown(SECOND), shown(third), ended]).toEqual(["unknown", "unknown", ["first", "second"]])
})

describe(
  fault(
    "B-13",
    "every path below /api with every method and bad bodies, without a token",
    "401 before anything else",
  ),
  () => {
    const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND"]
    const PATHS = [
      "/api",
      "/api/",
      "/api/x",
      "/api/logs",
      "/api/logs?limit=0",
      "/api/check",
      "/api/events",
      "/api/denied",
      "/api/decisions",
      "/api/whitelist/import",
      "/api/whitelist/export",
      "/api/backup",
      "/api/whitelist/perm",
      "/api/whitelist/perm/",
      "/api/whitelist/perm/nonsense",
      "/api/whitelist/perm/%zz",
      "/api/whitelist/perm/list",
      "/api/whitelist/temp",
      "/api/whitelist/temp/list",
      "/api/whitelist/temp/192.0.2.7",
      "/api/tokens",
      "/api/tokens/ci",
    ]

    test.each(PATHS)("%s is 401 for every method without it", async (path) => {
      for (const method of METHODS) {
        const answer = await ask(server.address, requestText(`${method} ${path}`), { method })
        expect([method, answer.status, headerOf(answer, "WWW-Authenticate")]).toEqual([method, 401, "Bearer"])
        expect(headerOf(answer, "Allow")).toBeNull()
      }
    })

    test.each(["{", '{"ip":"192.0.2.7"}', '{"ip":1}', "", "\xff"])(
      "before the body %j is read",
      async (body) => {
        for (const path of ["/api/whitelist/perm", "/api/whitelist/temp"]) {
          const text = requestText(`POST ${path}`, [`Content-Length: ${Buffer.byteLength(body)}`], body)
          expect(bytesOf(await ask(server.address, text))).toBe(REFUSED)
        }
        expect(await server.lists()).toEqual({ permanent: [], temporary: [] })
        expect(await server.audit()).toEqual([])
      },
    )
  },
)

describe(
  fault("B-14", "preflights and requests of other origins on every route", "no permission, no cookie"),
  () => {
    test("no answer allows another origin, and a preflight is refused", async () => {
      const lines = ["Origin: http://evil.test", "Access-Control-Request-Method: POST"]
      const bearer = `Authorization: Bearer ${TOKEN}`
      const rows = [
        ["OPTIONS /auth", lines, 405],
        ["OPTIONS /status", lines, 405],
        ["OPTIONS /api/whitelist/perm", lines, 401],
        ["OPTIONS /api/whitelist/perm", [...lines, bearer], 405],
        ["OPTIONS /nothing", lines, 404],
        ["GET /status", lines, 200],
        ["GET /api/logs", [...lines, bearer], 200],
      ] as const
      for (const [line, headers, status] of rows) {
        const answer = await ask(server.address, requestText(line, headers))
        expect([line, answer.status]).toEqual([line, status])
        const names = answer.headers.map(([name]) => name.toLowerCase())
        expect(
          names.filter((name) => /^(access-control|set-cookie|vary|etag|server$|x-powered)/.test(name)),
        ).toEqual([])
      }
    })
  },
)
