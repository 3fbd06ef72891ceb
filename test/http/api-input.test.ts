// What clients send by mistake or on purpose: refused with a reason, and nothing is stored or recorded for it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { fault } from "../faults/fault.ts"
import { ADDRESS_ROWS, ADDRESS_ROWS_GOOD_AS_NETWORKS, NETWORK_ROWS } from "../support/corpus.ts"
import { ask, requestText } from "../support/raw-http.ts"
import { type RunningServer, runServer, TOKEN } from "../support/running-server.ts"

const PERM = "/api/whitelist/perm"
const TEMP = "/api/whitelist/temp"
const BEARER = `Authorization: Bearer ${TOKEN}`

let server: RunningServer

beforeAll(async () => {
  server = await runServer()
})

afterAll(() => server.stop())

/** Sends a body as bytes; `Content-Type` only if it is given. */
function post(path: string, body: string | Uint8Array, ...lines: readonly string[]) {
  const head = requestText(`POST ${path}`, [BEARER, `Content-Length: ${Buffer.byteLength(body)}`, ...lines])
  return ask(server.address, Buffer.concat([Buffer.from(head), Buffer.from(body as string)]))
}

/** Nothing on either list, and nothing new in the log since `rows`. */
async function expectUntouched(rows: number): Promise<void> {
  expect(await server.lists()).toEqual({ permanent: [], temporary: [] })
  expect((await server.audit()).length).toBe(rows)
}

const textOf = (body: string) => Buffer.from(body, "latin1").toString()

const rowsNow = async () => (await server.audit()).length

/** Removes what a test has added. */
async function clear(): Promise<void> {
  const { permanent, temporary } = await server.lists()
  for (const ip of permanent) await server.api("DELETE", `${PERM}/${encodeURIComponent(ip)}`)
  for (const { ip } of temporary) await server.api("DELETE", `${TEMP}/${encodeURIComponent(ip)}`)
}

describe(
  fault(
    "A-01 A-09 A-10",
    "every network of the corpus to both lists, check and the log",
    "listed in canonical form, or 400 and nothing stored",
  ),
  () => {
    const asNetwork = (row: (typeof ADDRESS_ROWS)[number]) => {
      const canonical = ADDRESS_ROWS_GOOD_AS_NETWORKS.get(row.input)
      return canonical === undefined ? row : { ...row, valid: true, canonical }
    }
    const rows = [...NETWORK_ROWS, ...ADDRESS_ROWS.map(asNetwork)]
    const valid = rows.filter((row) => row.valid)
    const invalid = rows.filter((row) => !row.valid)

    test("there are enough of them", () => {
      expect([valid.length, invalid.length]).toEqual([19 + 50 + 2, 44 + 94 - 2])
    })

    test.each(valid.map(({ input, canonical }) => [input, canonical ?? ""] as const))(
      "%j is %s",
      async (input, canonical) => {
        const before = await rowsNow()
        expect((await post(PERM, JSON.stringify({ ip: input }))).status).toBe(204)
        expect((await post(TEMP, JSON.stringify({ ip: input, ttl_seconds: 60 }))).status).toBe(204)
        const { permanent, temporary } = await server.lists()
        expect([permanent, temporary.map(({ ip }) => ip)]).toEqual([[canonical], [canonical]])

        // The canonical form is the same entry, and so is every other spelling: the one that was sent removes it.
        expect((await post(PERM, JSON.stringify({ ip: canonical }))).status).toBe(409)
        const removed = [PERM, TEMP].map(async (path) => {
          const answer = await server.api("DELETE", `${path}/${encodeURIComponent(input)}`)
          return answer.headers.get("Ipgate-Result")
        })
        expect(await Promise.all(removed)).toEqual(["removed", "removed"])
        const actions = (await server.audit()).slice(before).map(({ action, ip }) => `${action} ${ip}`)
        expect(actions.sort()).toEqual(
          ["add_perm", "add_temp", "delete_perm", "delete_temp"].map((action) => `${action} ${canonical}`),
        )
        expect(await server.lists()).toEqual({ permanent: [], temporary: [] })
      },
    )

    test.each(invalid.map((row) => [row.input.slice(0, 60), row] as const))(
      "%j is refused",
      async (_name, row) => {
        const before = await rowsNow()
        const answers = [
          await post(PERM, JSON.stringify({ ip: row.input })),
          await post(TEMP, JSON.stringify({ ip: row.input, ttl_seconds: 60 })),
        ]
        for (const { status, body } of answers) {
          expect(status).toBe(400)
          // One line that can be shown to anybody, and that does not grow with the input.
          expect(textOf(body)).toMatch(/^[^\p{Cc}]{1,300}\n$/u)
          if (row.host_bits) {
            const bare = row.input.split("/")[0]
            expect(body).toContain(`did you mean ${row.masked} or ${bare?.replace("::ffff:0:0", "0.0.0.0")}?`)
          }
        }
        for (const query of [
          `/api/check?ip=${encodeURIComponent(row.input)}`,
          `/api/logs?ip=${encodeURIComponent(row.input)}`,
        ]) {
          expect((await server.api("GET", query)).status).toBe(400)
        }
        if (row.input !== "") {
          const text = requestText(`DELETE ${PERM}/${encodeURIComponent(row.input)}`, [BEARER])
          expect((await ask(server.address, text)).status).toBe(400)
        }
        await expectUntouched(before)
      },
    )
  },
)

describe(
  fault(
    "J-06 J-07 J-08 J-09",
    "bodies of other shapes, bad bytes, half surrogates, depth, __proto__",
    "400, nothing stored, no object changed",
  ),
  () => {
    const NOT_JSON = "the body is not valid JSON\n"
    const NOT_OBJECT = "the body is not a JSON object\n"
    const NOT_UTF8 = "the body is not valid UTF-8\n"
    const TWICE = "a member of the JSON object occurs twice\n"
    const MISSING = "ip is missing\n"
    const GOOD = '"ip":"192.0.2.7","ttl_seconds":60'

    const latin1 = (text: string) => Buffer.from(text, "latin1")

    test.each<readonly [string, string | Uint8Array, string]>([
      ["nothing", "", NOT_JSON],
      ["spaces", "  \r\n\t ", NOT_JSON],
      ["an array", "[]", NOT_OBJECT],
      ["an array of a good one", `[{${GOOD}}]`, NOT_OBJECT],
      ["text", '"192.0.2.7"', NOT_OBJECT],
      ["a number", "5", NOT_OBJECT],
      ["true", "true", NOT_OBJECT],
      ["null", "null", NOT_OBJECT],
      ["NaN", "NaN", NOT_JSON],
      ["an open brace", "{", NOT_JSON],
      ["a comma at the end", `{${GOOD},}`, NOT_JSON],
      ["a comment", `{${GOOD}/* x */}`, NOT_JSON],
      ["a line comment", `{${GOOD}} // x`, NOT_JSON],
      ["single quotes", "{'ip':'192.0.2.7'}", NOT_JSON],
      ["names without quotes", '{ip:"192.0.2.7"}', NOT_JSON],
      ["two objects", `{${GOOD}}{${GOOD}}`, NOT_JSON],
      ["two lines of objects", `{${GOOD}}\n{${GOOD}}`, NOT_JSON],
      ["text after it", `{${GOOD}}x`, NOT_JSON],
      ["a byte order mark", `\ufeff{${GOOD}}`, NOT_JSON],
      ["a NUL after it", `{${GOOD}}\0`, NOT_JSON],
      ["a line feed in a text", '{"ip":"192.0.2.7\n"}', NOT_JSON],
      ["a no-break space", `\u00a0{${GOOD}}`, NOT_JSON],
      ["a form", "ip=192.0.2.7&ttl_seconds=60", NOT_JSON],
      ["XML", "<ip>192.0.2.7</ip>", NOT_JSON],
      ["bytes that are no UTF-8", latin1(`{"ip":"192.0.2.7","ttl_seconds":60,"reason":"\xff"}`), NOT_UTF8],
      ["an overlong form", latin1(`{"ip":"192.0.2.7\xc0\x80","ttl_seconds":60}`), NOT_UTF8],
      ["a surrogate in UTF-8", latin1(`{${GOOD},"reason":"\xed\xa0\x80"}`), NOT_UTF8],
      ["a cut character", latin1(`{${GOOD},"reason":"\xe2\x82"}`), NOT_UTF8],
      ["Latin-1", latin1(`{${GOOD},"reason":"\xe9"}`), NOT_UTF8],
      ["UTF-16", Buffer.from(`\ufeff{${GOOD}}`, "utf16le"), NOT_UTF8],
      ["gzip", Bun.gzipSync(Buffer.from(`{${GOOD}}`)), NOT_UTF8],
      ["two ip", `{"ip":"192.0.2.8",${GOOD}}`, TWICE],
      ["two ip, the same", `{"ip":"192.0.2.7",${GOOD}}`, TWICE],
      ["two ip, one escaped", `{"\\u0069p":"192.0.2.8",${GOOD}}`, TWICE],
      ["two ttl_seconds", `{${GOOD},"ttl_seconds":61}`, TWICE],
      ["two of an unknown member", `{${GOOD},"x":1,"x":2}`, TWICE],
      ["two members far inside", `{${GOOD},"x":[{"y":{"z":1,"z":1}}]}`, TWICE],
      ["no ip", '{"ttl_seconds":60}', MISSING],
      ["IP in upper case", '{"IP":"192.0.2.7","ttl_seconds":60}', MISSING],
      ["ip inside another object", '{"data":{"ip":"192.0.2.7"},"ttl_seconds":60}', MISSING],
      ["ip of the prototype", `{"__proto__":{${GOOD}}}`, MISSING],
      ["ip of the constructor", `{"constructor":{"prototype":{${GOOD}}}}`, MISSING],
      ["64 KiB of brackets", "[".repeat(65_536), NOT_JSON],
      ["64 KiB of braces", '{"a":'.repeat(13_107), NOT_JSON],
      ["64 KiB of colons", ":".repeat(65_536), NOT_JSON],
      ["64 KiB of quotes", '"'.repeat(65_536), NOT_JSON],
      ["64 KiB of backslashes", `"${"\\".repeat(65_530)}"`, NOT_OBJECT],
    ])("%s", async (_what, body, message) => {
      const before = await rowsNow()
      for (const path of [PERM, TEMP]) {
        const answer = await post(path, body, "Content-Type: application/json")
        expect([path, answer.status, answer.body]).toEqual([path, 400, message])
      }
      expect(({} as { ip?: unknown }).ip).toBeUndefined()
      await expectUntouched(before)
    })

    test.each([
      ["brackets", `{"ip":${"[".repeat(30_000)}${"]".repeat(30_000)}}`],
      ["braces", `{"ip":${'{"a":'.repeat(9000)}1${"}".repeat(9000)}}`],
    ])("a tower of %s that is good JSON is refused, too", async (_what, body) => {
      const before = await rowsNow()
      for (const path of [PERM, TEMP]) expect((await post(path, body)).status).toBe(400)
      await expectUntouched(before)
    })
  },
)

describe("whatever the content type says, the body decides", () => {
  test.each([
    [],
    ["Content-Type: application/json"],
    ["Content-Type: application/json; charset=iso-8859-1"],
    ["Content-Type: text/plain"],
    ["Content-Type: application/x-www-form-urlencoded"],
    ["Content-Type: multipart/form-data; boundary=x"],
    ["Content-Type: application/xml"],
    ["Content-Type: nonsense"],
    ["Content-Type:"],
    ["Content-Encoding: gzip"],
  ])("%s", async (...lines) => {
    const answer = await post(PERM, '{"ip":"192.0.2.7"}', ...lines)
    expect(answer.status).toBe(204)
    expect((await post(PERM, "{", ...lines)).status).toBe(400)
    await clear()
  })
})

describe(fault("A-20", "an ip of every other type", "400"), () => {
  test.each([
    "5",
    "3232235521",
    "-1",
    "1e9",
    "true",
    "null",
    "[]",
    '["192.0.2.7"]',
    '[["192.0.2.7"]]',
    "{}",
    '{"toString":"192.0.2.7"}',
    '{"ip":"192.0.2.7"}',
    '{"length":9,"0":"1"}',
  ])("%s", async (value) => {
    const before = await rowsNow()
    for (const path of [PERM, TEMP]) {
      const answer = await post(path, `{"ip":${value},"ttl_seconds":60}`)
      expect([path, answer.status, answer.body]).toEqual([path, 400, "ip must be a string\n"])
    }
    await expectUntouched(before)
  })
})

describe(fault("J-01 J-02", "lifetimes of every type and out of range", "400, nothing stored"), () => {
  test.each([
    '"5"',
    '"60"',
    '""',
    "true",
    "false",
    "null",
    "[5]",
    "[]",
    "{}",
    '{"valueOf":5}',
    "0.5",
    "60.5",
    "1e-1",
    "0",
    "-0",
    "0.0",
    "-1",
    "-315360000",
    "315360001",
    "315360000.5",
    "2147483648000",
    "9007199254740992",
    "9007199254740993",
    "18446744073709551617",
    "1e308",
    "1e400",
    "-1e400",
  ])("%s is refused", async (value) => {
    const before = await rowsNow()
    const answer = await post(TEMP, `{"ip":"192.0.2.7","ttl_seconds":${value}}`)
    expect([answer.status, answer.body]).toEqual([
      400,
      "ttl_seconds must be an integer from 1 to 315360000\n",
    ])
    await expectUntouched(before)
  })

  test.each([
    ["1", 1],
    ["1.0", 1],
    ["60.000", 60],
    ["1e3", 1000],
    ["1E+3", 1000],
    ["10e-1", 1],
    ["2147483", 2_147_483],
    ["2147484", 2_147_484],
    ["3.1536e8", 315_360_000],
    ["315360000", 315_360_000],
  ])("%s is %i", async (value, seconds) => {
    expect((await post(TEMP, `{"ip":"192.0.2.7","ttl_seconds":${value}}`)).status).toBe(204)
    expect((await server.audit()).at(-1)?.ttl_seconds).toBe(seconds)
    await clear()
  })
})

describe(
  fault("J-10", "reasons that are too long or have control characters", "400; 500 characters are kept"),
  () => {
    const LONG = "reason is longer than 500 characters\n"
    const CONTROLS = "reason contains "
    const TYPE = "reason must be a string\n"

    test.each([
      ["501 characters", JSON.stringify("x".repeat(501)), LONG],
      ["501 characters outside the BMP", JSON.stringify("😀".repeat(501)), LONG],
      ["NUL", '"a\\u0000b"', CONTROLS],
      ["tab", '"a\\tb"', CONTROLS],
      ["line feed", '"a\\nb"', CONTROLS],
      ["carriage return", '"a\\rb"', CONTROLS],
      ["ESC", '"\\u001b[31m"', CONTROLS],
      ["DEL", '"a\\u007fb"', CONTROLS],
      ["C1", '"a\\u009bb"', CONTROLS],
      ["C1 as it is", '"a\u009bb"', CONTROLS],
      ["line separator", '"a\\u2028b"', CONTROLS],
      ["paragraph separator as it is", '"a\u2029b"', CONTROLS],
      ["right-to-left override", '"a\\u202eb"', CONTROLS],
      ["isolate", '"a\\u2066b"', CONTROLS],
      ["lone high surrogate", '"a\\ud800"', CONTROLS],
      ["lone low surrogate", '"\\udc00a"', CONTROLS],
      ["null", "null", TYPE],
      ["a number", "5", TYPE],
      ["true", "true", TYPE],
      ["an array", '["x"]', TYPE],
      ["an object", "{}", TYPE],
    ])("%s is refused", async (_what, value, message) => {
      const before = await rowsNow()
      const answer = await post(TEMP, `{"ip":"192.0.2.7","ttl_seconds":60,"reason":${value}}`)
      expect(answer.status).toBe(400)
      expect(answer.body).toStartWith(message)
      await expectUntouched(before)
    })

    test.each([
      ["500 characters", "x".repeat(500)],
      ["500 characters outside the BMP", "😀".repeat(500)],
      ["quotes and braces", '"},{"ip":"0.0.0.0/0'],
      ["SQL", "'); DELETE FROM permanent; --"],
      ["a space", " "],
    ])("%s come back as they were", async (_what, reason) => {
      expect((await post(TEMP, JSON.stringify({ ip: "192.0.2.7", ttl_seconds: 60, reason }))).status).toBe(
        204,
      )
      expect((await server.lists()).temporary).toEqual([
        { ip: "192.0.2.7", reason, expires: "2026-01-01T00:01:00.000Z" },
      ])
      expect((await server.audit()).at(-1)?.reason).toBe(reason)
      await clear()
    })
  },
)

describe(fault("J-11", "texts as limit and offset, and each twice", "400"), () => {
  const LISTS = [`${PERM}/list`, TEMP, `${TEMP}/list`, "/api/logs"]
  const LIMIT = "limit must be an integer from 1 to 1000\n"
  const OFFSET = "offset must be an integer of 0 or more\n"
  const NO_NUMBERS = [
    "-1",
    "abc",
    "",
    "1e3",
    "0x10",
    "%205",
    "5%20",
    "+5",
    "%2B5",
    "5.0",
    "5,",
    "1_0",
    "٥",
    "５",
    "NaN",
    "Infinity",
    "null",
    "5;",
    "5%00",
    "9223372036854775808",
    "18446744073709551617",
    "99999999999999999999999999",
  ]

  test.each([...NO_NUMBERS, "0", "1001", "4294967297"])("limit=%s is refused", async (value) => {
    for (const path of LISTS) {
      const answer = await server.api("GET", `${path}?limit=${value}`)
      expect([path, answer.status, await answer.text()]).toEqual([path, 400, LIMIT])
    }
  })

  test.each(NO_NUMBERS)("offset=%s is refused", async (value) => {
    for (const path of LISTS) {
      const answer = await server.api("GET", `${path}?limit=5&offset=${value}`)
      expect([path, answer.status, await answer.text()]).toEqual([path, 400, OFFSET])
    }
  })

  test.each([
    ["limit=5&limit=5", "limit occurs more than once\n"],
    ["limit=5&offset=0&limit=6", "limit occurs more than once\n"],
    ["offset=5&offset=6", "offset occurs more than once\n"],
    ["limit=5&%6Cimit=5", "limit occurs more than once\n"],
  ])("%s is refused", async (query, message) => {
    for (const path of LISTS) {
      const answer = await server.api("GET", `${path}?${query}`)
      expect([path, answer.status, await answer.text()]).toEqual([path, 400, message])
    }
  })

  test.each([
    "",
    "limit=1",
    "limit=1000",
    "offset=0",
    "offset=1001",
    "offset=9007199254740991",
    "LIMIT=0",
    "x=1",
  ])("%j is fine", async (query) => {
    for (const path of LISTS) {
      expect([path, (await server.api("GET", `${path}?${query}`)).status]).toEqual([path, 200])
    }
  })
})

describe(
  fault("J-12", "actions and addresses with wildcards, quotes and other spellings", "400, or the rows meant"),
  () => {
    test.each([
      "ADD_PERM",
      "add_perm%20",
      "add",
      "login",
      "add_perm,add_temp",
      "'",
      "%25",
      "_",
      "__proto__",
      "toString",
    ])("action=%s is refused", async (value) => {
      const answer = await server.api("GET", `/api/logs?action=${value}`)
      const text = `"${decodeURIComponent(value)}" is not an action: use add_temp, delete_temp, add_perm, delete_perm or expire_temp\n`
      expect([answer.status, await answer.text()]).toEqual([400, text])
    })

    test.each([
      ["action=", '"" is not an action: use add_temp, delete_temp, add_perm, delete_perm or expire_temp\n'],
      ["action=add_perm&action=add_perm", "action occurs more than once\n"],
      ["ip=192.0.2.7&ip=192.0.2.7", "ip occurs more than once\n"],
      ["ip=", '"" is not an IP address or CIDR: it is empty\n'],
      ["ip=%25", '"%" is not an IP address or CIDR: remove the zone id after the address\n'],
      ["ip=192.0.2._", '"192.0.2._" is not an IP address or CIDR\n'],
      ["ip=192.0.2.7'%20OR%20'1'='1", undefined],
      ["ip=192.0.2.7;DROP%20TABLE%20audit", undefined],
      ["ip=10.0.0.5/8", '"10.0.0.5/8" has host bits set; did you mean 10.0.0.0/8 or 10.0.0.5?\n'],
      ["ip=%ff", undefined],
    ])("%s is refused", async (query, message) => {
      const before = await rowsNow()
      const answer = await server.api("GET", `/api/logs?${query}`)
      expect(answer.status).toBe(400)
      if (message !== undefined) expect(await answer.text()).toBe(message)
      expect(await rowsNow()).toBe(before)
    })
  },
)

describe(
  fault("T-09", "markup, line breaks and escape sequences as an address", "plain text, escaped and cut"),
  () => {
    test.each([
      ["markup", "<script>alert(1)</script>", '"<script>alert(1)</script>" is not an IP address or CIDR\n'],
      ["line ends", "192.0.2.7\r\nSet-Cookie: x=y", undefined],
      ["ESC", "\x1b[2J\x07", '"\\x1b[2J\\x07" is not an IP address or CIDR\n'],
      ["C1", "\u009b31m", '"\\x9b31m" is not an IP address or CIDR\n'],
      ["bidi", "\u202e7.2.0.291", '"\\u202e7.2.0.291" is not an IP address or CIDR\n'],
      ["a lone surrogate", "\ud800", '"\\ud800" is not an IP address or CIDR\n'],
      ["too much", "x".repeat(60_000), `"${"x".repeat(64)}…" is not an IP address or CIDR\n`],
    ])("%s: plain text, escaped, cut to 64 characters", async (_what, ip, message) => {
      const answer = await post(PERM, JSON.stringify({ ip }))
      expect(answer.status).toBe(400)
      const text = textOf(answer.body)
      if (message !== undefined) expect(text).toBe(message)
      expect(text).toMatch(/^[^\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e]+\n$/u)
      expect(answer.headers).toContainEqual(["Content-Type", "text/plain; charset=utf-8"])
      expect(answer.headers).toContainEqual(["X-Content-Type-Options", "nosniff"])
      expect(answer.headers.map(([name]) => name)).not.toContain("Set-Cookie")
    })
  },
)
