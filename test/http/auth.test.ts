// The decision over a socket: every answer byte for byte, every header text of the corpus, and one header only.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Allowlist } from "../../src/core/allowlist.ts"
import { DecisionCounters } from "../../src/core/decision-counters.ts"
import { RefusedClients } from "../../src/core/refused-clients.ts"
import { authorize, authorizeAny, decideBy } from "../../src/http/auth.ts"
import { CLIENT_IP_HEADERS, ClientAddresses, type ClientIpHeader } from "../../src/http/client-address.ts"
import type { Peer } from "../../src/http/guard.ts"
import { fault } from "../faults/fault.ts"
import { ADDRESS_ROWS } from "../support/corpus.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { network } from "../support/parsed.ts"
import { seeded } from "../support/prng.ts"
import { allBytes, ask, type RawAnswer, RawConnection, requestText } from "../support/raw-http.ts"
import { type RunningServer, runServer } from "../support/running-server.ts"
import { DEFAULT_TRUSTED_PROXIES } from "../support/trusted-proxies.ts"

const LISTED = "192.0.2.7"
const OTHER = "192.0.2.8"
/** Stands for a request without the header. */
const NOBODY = "nobody"

/** Everything that leaves the two decision endpoints, but for the time of day. */
const EXACT = {
  "204": "HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\nDate: *\r\n\r\n",
  "401": "HTTP/1.1 401 Unauthorized\r\nCache-Control: no-store\r\nDate: *\r\nContent-Length: 0\r\n\r\n",
  "405":
    "HTTP/1.1 405 Method Not Allowed\r\nCache-Control: no-store\r\nAllow: GET\r\nDate: *\r\nContent-Length: 0\r\n\r\n",
  "405 to HEAD":
    "HTTP/1.1 405 Method Not Allowed\r\nCache-Control: no-store\r\nAllow: GET\r\ncontent-length: 0\r\n\r\n",
  "200": "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nDate: *\r\nContent-Length: 0\r\n\r\n",
  "200 to HEAD": "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\ncontent-length: 0\r\n\r\n",
  "403": "HTTP/1.1 403 Forbidden\r\nCache-Control: no-store\r\nDate: *\r\nContent-Length: 0\r\n\r\n",
  "403 to HEAD": "HTTP/1.1 403 Forbidden\r\nCache-Control: no-store\r\ncontent-length: 0\r\n\r\n",
} as const

type Exact = keyof typeof EXACT

/** What Bun itself says to a request that is no HTTP. */
const BAD_REQUEST = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"

const timeless = (bytes: string) => bytes.replace(/^Date: [^\r]* GMT\r\n/gm, "Date: *\r\n")

const from = (text: string) => `X-Real-IP: ${text}`

let server: RunningServer

beforeAll(async () => {
  server = await runServer()
  await server.addPermanent(LISTED)
})

afterAll(() => server.stop())

const EXCHANGES: ReadonlyArray<readonly [line: string, client: string, exact: Exact]> = [
  ["GET /auth", LISTED, "204"],
  ["GET /auth", OTHER, "401"],
  ["GET /auth", NOBODY, "401"],
  ["POST /auth", LISTED, "405"],
  ["HEAD /auth", LISTED, "405 to HEAD"],
  ["GET /authz", LISTED, "200"],
  ["GET /authz/any/path?x", LISTED, "200"],
  ["POST /authz/any", LISTED, "200"],
  ["HEAD /authz", LISTED, "200 to HEAD"],
  ["GET /authz", OTHER, "403"],
  ["DELETE /authz/x", OTHER, "403"],
  ["HEAD /authz/x", OTHER, "403 to HEAD"],
]

const exchangeText = (line: string, client: string, ...more: string[]) =>
  requestText(line, [...(client === NOBODY ? [] : [from(client)]), ...more])

describe(
  fault(
    "H-22 H-23 H-24 H-28 H-30",
    "every answer of /auth and /authz byte for byte, and 3,200 pipelined ones",
    "no body, no challenge, no validator, no identity, in order",
  ),
  () => {
    test.each(EXCHANGES)("%s for %s: %s", async (line, client, exact) => {
      const method = line.split(" ")[0]
      using connection = await RawConnection.open(server.address)
      // A second one, and a third: the first answer of a process proves little.
      for (let i = 0; i < 3; i++) {
        const { head, body } = await connection.ask(exchangeText(line, client), method)
        expect(timeless(head)).toBe(EXACT[exact])
        expect(body).toBe("")
      }
      // Until the server closes, so that a byte too many would show.
      const all = await allBytes(server.address, exchangeText(line, client, "Connection: close"))
      expect(timeless(all)).toBe(EXACT[exact])
    })

    test("tell nothing else: no challenge, no validator, no identity, no cookie", async () => {
      const allowed = new Set(["cache-control", "date", "content-length", "allow"])
      for (const [line, client] of EXCHANGES) {
        const { headers } = await ask(server.address, exchangeText(line, client), {
          method: line.split(" ")[0] ?? "",
        })
        expect(headers.filter(([name]) => !allowed.has(name.toLowerCase()))).toEqual([])
      }
    })

    test("come in the order of the questions, thousands of them, over several connections at once", async () => {
      const script: Array<(typeof EXCHANGES)[number]> = []
      seeded((random) => {
        for (let i = 0; i < 400; i++) script.push(random.pick(EXCHANGES))
      })()
      const wanted = script.map(([, , exact]) => EXACT[exact])
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          using connection = await RawConnection.open(server.address)
          connection.send(script.map(([line, client]) => exchangeText(line, client)).join(""))
          const heads: string[] = []
          for (const [line] of script) {
            const answer = await connection.answer(line.split(" ")[0])
            heads.push(timeless(answer.head) + answer.body)
          }
          expect(heads).toEqual(wanted)
          expect(connection.unread).toBe("")
        }),
      )
    })
  },
)

describe(
  fault(
    "H-15 H-16",
    "every method of Bun, and some that are none, to /auth and /authz",
    "405 with Allow, or no answer; /authz decides",
  ),
  () => {
    const KNOWN = [
      "POST",
      "PUT",
      "PATCH",
      "DELETE",
      "OPTIONS",
      "TRACE",
      "CONNECT",
      "PROPFIND",
      "SEARCH",
      "QUERY",
    ]

    test.each(KNOWN)("%s /auth is 405 for a listed client too", async (method) => {
      const { head } = await ask(server.address, requestText(`${method} /auth`, [from(LISTED)]), { method })
      expect(timeless(head)).toBe(EXACT["405"])
    })

    test.each(KNOWN)("%s /authz/x is decided", async (method) => {
      for (const [client, exact] of [
        [LISTED, "200"],
        [OTHER, "403"],
      ] as const) {
        const text = requestText(`${method} /authz/x`, [from(client)])
        expect(timeless((await ask(server.address, text, { method })).head)).toBe(EXACT[exact])
      }
    })

    test.each(["FOO", "get", "Get", "GETT"])("%s, which is none, gets no answer at all", async (method) => {
      for (const path of ["/auth", "/authz"]) {
        expect(await allBytes(server.address, requestText(`${method} ${path}`, [from(LISTED)]))).toBe("")
      }
    })
  },
)

describe("the text of X-Real-IP", () => {
  /** The answers of both endpoints to the same header line, `/authz` translated to the statuses of `/auth`. */
  async function statuses(line: string): Promise<number[]> {
    const auth = await ask(server.address, requestText("GET /auth", [line]))
    const authz = await ask(server.address, requestText("GET /authz/", [line]))
    const same = new Map([
      [200, 204],
      [403, 401],
    ])
    return [auth.status, same.get(authz.status) ?? authz.status]
  }

  const valid = ADDRESS_ROWS.filter((row) => row.valid)
  const invalid = ADDRESS_ROWS.filter((row) => !row.valid)

  test.each(valid.map(({ input, canonical }) => [input, canonical ?? ""]))(
    "%j is %s",
    async (input, canonical) => {
      expect(await statuses(from(input))).toEqual([401, 401])
      await server.addPermanent(canonical)
      expect(await statuses(from(input))).toEqual([204, 204])
      await server.api("DELETE", `/api/whitelist/perm/${encodeURIComponent(canonical)}`)
      expect(await statuses(from(input))).toEqual([401, 401])
    },
  )

  describe(
    fault(
      "A-01 A-05 A-06 A-07 A-08 H-13",
      "the bad texts of the corpus and every byte around an address as X-Real-IP, while everybody is listed",
      "401 and 403, or 400 from Bun",
    ),
    () => {
      // With every address of both families listed, each reading of the text is a listed one.
      beforeAll(() => server.addPermanent("0.0.0.0/0", "::/0"))
      afterAll(async () => {
        for (const everything of ["0.0.0.0/0", "::/0"]) {
          await server.api("DELETE", `/api/whitelist/perm/${encodeURIComponent(everything)}`)
        }
      })

      // Bun trims a space or tab around a value, and takes no control character in one.
      const BY_BUN: ReadonlyMap<string, number> = new Map([
        ["1.2.3.4\t", 204],
        ["1.2.3.4\n", 400],
        ["::1\n", 400],
        ["1.2.3.4\u001b[2J", 400],
      ])

      test("the listed networks hold everybody", async () => {
        expect(await statuses(from("8.8.8.8"))).toEqual([204, 204])
        expect(await statuses(from("2001:db8::1"))).toEqual([204, 204])
      })

      test.each(invalid.map(({ input }) => [input.slice(0, 60), input]))("%j", async (_name, input) => {
        const wanted = BY_BUN.get(input) ?? 401
        expect(await statuses(from(input))).toEqual([wanted, wanted])
      })

      test.each([
        ["unix:", "nginx on a unix socket"],
        ["unknown", "RFC 7239"],
        ["localhost", "a name"],
        ["127.1", "a short form"],
        ["8.8.8.8 ; 1.1.1.1", "a list"],
        ['"8.8.8.8"', "quotes"],
      ])("%j (%s)", async (text) => {
        expect(await statuses(from(text))).toEqual([401, 401])
      })

      const AT: ReadonlyArray<readonly [where: string, before: string, after: string]> = [
        ["before", "", "1.2.3.4"],
        ["within", "1.2.", "3.4"],
        ["after", "1.2.3.4", ""],
      ]

      test.each(AT)("any byte %s an address", async (where, before, after) => {
        const digits = where === "after" ? "0123456789" : "123456789"
        const trimmed = where === "within" ? "" : " \t"
        for (let byte = 0; byte < 256; byte++) {
          const character = String.fromCharCode(byte)
          const wanted =
            digits.includes(character) || trimmed.includes(character)
              ? 204
              : byte < 0x20 && character !== "\t"
                ? 400
                : 401
          const bytes = Buffer.concat([
            Buffer.from(`GET /auth HTTP/1.1\r\nHost: gate.test\r\n${from(before)}`),
            Buffer.from([byte]),
            Buffer.from(`${after}\r\n\r\n`),
          ])
          const { head } = await ask(server.address, bytes)
          const exact = wanted === 400 ? BAD_REQUEST : EXACT[wanted === 204 ? "204" : "401"]
          expect([byte, timeless(head)]).toEqual([byte, exact])
        }
      })
    },
  )

  test.each([
    ["nothing", []],
    ["an empty header", ["X-Real-IP:"]],
    ["white space", ["X-Real-IP: \t "]],
    ["two listed ones", [from(LISTED), from(LISTED)]],
    ["a listed one, then another", [from(LISTED), from(OTHER)]],
    ["another, then a listed one", [from(OTHER), from(LISTED)]],
    ["a listed one, then an empty one", [from(LISTED), "X-Real-IP:"]],
    ["an underscore for the hyphen", [`X_Real_IP: ${LISTED}`]],
    ["another name", [`Real-IP: ${LISTED}`]],
  ])(
    `${fault("H-04 H-05 H-06", "no address header, an empty one, two, one with an underscore", "401 and 403")} (%s: 401)`,
    async (_what, lines) => {
      const answer = await ask(server.address, requestText("GET /auth", lines))
      expect(timeless(answer.head)).toBe(EXACT["401"])
      expect((await ask(server.address, requestText("GET /authz", lines))).status).toBe(403)
    },
  )

  test.each([
    ["a space before the colon", `X-Real-IP : ${LISTED}`],
    ["a tab before the colon", `X-Real-IP\t: ${LISTED}`],
    ["a folded line", `X-Real-IP:\r\n ${LISTED}`],
  ])(
    `${fault("H-06", "an address header with white space before its colon, or folded", "400 and the end of the connection")} (%s: 400 from Bun, and closed)`,
    async (_what, line) => {
      expect(await allBytes(server.address, requestText("GET /auth", [line]))).toBe(BAD_REQUEST)
    },
  )

  test.each(["x-real-ip", "X-REAL-IP", "X-Real-Ip"])("the name is read in any case: %s", async (name) => {
    const { status } = await ask(server.address, requestText("GET /auth", [`${name}: ${LISTED}`]))
    expect(status).toBe(204)
  })
})

describe(
  fault(
    "H-07 H-27 H-31",
    "fifteen other headers that name a listed client, a health check or another method; and a record of what is read",
    "401; one header is read, and nothing else of the request",
  ),
  () => {
    const LURES = [
      `X-Forwarded-For: ${LISTED}`,
      `Forwarded: for=${LISTED}`,
      `CF-Connecting-IP: ${LISTED}`,
      `True-Client-IP: ${LISTED}`,
      `X-Client-IP: ${LISTED}`,
      `X-Cluster-Client-IP: ${LISTED}`,
      `X-Original-Forwarded-For: ${LISTED}`,
      `X-Original-URL: /status`,
      `X-Original-Method: GET`,
      `X-HTTP-Method-Override: GET`,
      `Remote-Addr: ${LISTED}`,
      `Via: 1.1 ${LISTED}`,
      `Authorization: Basic ${btoa(LISTED)}`,
      "User-Agent: GoogleHC/1.0 kube-probe/1.30 ELB-HealthChecker/2.0",
      "X-Health-Check: 1",
    ]

    test.each([
      ["with no X-Real-IP", []],
      ["beside another address", [from(OTHER)]],
      ["beside a malformed one", [from("010.8.8.8")]],
    ])("whatever other headers say %s: 401", async (_what, lines) => {
      for (const more of [LURES, ...LURES.map((one) => [one])]) {
        const { head } = await ask(server.address, requestText("GET /auth", [...more, ...lines]))
        expect(timeless(head)).toBe(EXACT["401"])
      }
    })

    test("and they take nothing from a listed client", async () => {
      const lines = [...LURES.map((line) => line.replaceAll(LISTED, OTHER)), from(LISTED)]
      expect((await ask(server.address, requestText("GET /auth", lines))).status).toBe(204)
    })

    test.each(CLIENT_IP_HEADERS)("only %s is looked at, and nothing else of the request", (header) => {
      const { decide, trusts } = deciding(LISTED, header)
      for (const client of [LISTED, OTHER]) {
        const watched = watch(new Request("http://gate.test/auth", { headers: { [header]: client } }))
        expect(authorize(watched.request, "127.0.0.1", decide, trusts).status).toBe(
          client === LISTED ? 204 : 401,
        )
        expect(watched.read).toEqual(["method", "headers", `headers.get(${header})`])

        const any = watch(new Request("http://gate.test/authz", { headers: { [header]: client } }))
        expect(authorizeAny(any.request, "127.0.0.1", decide, trusts).status).toBe(
          client === LISTED ? 200 : 403,
        )
        expect(any.read).toEqual(["headers", `headers.get(${header})`])
      }
    })

    test("an untrusted peer has one answer a connection, and a trusted one as many as it likes", async () => {
      const closed = await runServer({ trustedProxies: { networks: [], unixSocket: false } })
      for (const line of ["GET /auth", "POST /auth", "GET /authz/x"]) {
        for (const [to, answers] of [
          [closed, 1],
          [server, 3],
        ] as const) {
          using connection = await RawConnection.open(to.address)
          const asked = requestText(line, [from(OTHER)])
          connection.send(asked + asked + requestText(line, [from(OTHER), "Connection: close"]))
          const all = await connection.rest()
          expect([line, all.split("HTTP/1.1 ").length - 1]).toEqual([line, answers])
        }
      }
      await closed.stop()
    })

    test("of an untrusted peer nothing at all is looked at", () => {
      const { decide, trusts, counters, refused } = deciding("0.0.0.0/0", "X-Real-IP")
      const watched = watch(new Request("http://gate.test/auth", { headers: { "X-Real-IP": LISTED } }))
      expect(authorize(watched.request, "198.51.100.1", decide, trusts).status).toBe(401)
      expect(watched.read).toEqual(["method"])
      expect({ ...counters }).toEqual({ allowed: 0, denied: 1, unidentified: 1 })
      expect(refused.list()).toEqual([])
    })

    /** A request that keeps a record of what is asked of it. */
    function watch(request: Request): { request: Request; read: string[] } {
      const read: string[] = []
      const headers = new Proxy(request.headers, {
        get(target, property) {
          const value: unknown = Reflect.get(target, property, target)
          if (typeof value !== "function") read.push(`headers.${String(property)}`)
          return typeof value === "function"
            ? (...values: unknown[]) => {
                read.push(`headers.${String(property)}(${values.join(", ")})`)
                return value.apply(target, values)
              }
            : value
        },
      })
      const proxy = new Proxy(request, {
        get(target, property) {
          read.push(String(property))
          return property === "headers" ? headers : Reflect.get(target, property, target)
        },
      })
      return { request: proxy, read }
    }
  },
)

describe("the decision is counted, and who is refused is remembered", () => {
  test.each<readonly [string, Record<string, string>, object, readonly string[]]>([
    ["a listed client", { "X-Real-IP": LISTED }, { allowed: 1, denied: 0, unidentified: 0 }, []],
    ["another client", { "X-Real-IP": OTHER }, { allowed: 0, denied: 1, unidentified: 0 }, [OTHER]],
    ["no header", {}, { allowed: 0, denied: 1, unidentified: 1 }, []],
    ["a malformed header", { "X-Real-IP": "010.8.8.8" }, { allowed: 0, denied: 1, unidentified: 1 }, []],
  ])("%s", (_what, headers, counted, remembered) => {
    const { decide, counters, refused } = deciding(LISTED, "X-Real-IP")
    decide(new Request("http://gate.test/auth", { headers }), "127.0.0.1")
    expect({ ...counters }).toEqual(counted as typeof counters)
    expect(refused.list().map(({ address }) => String(address))).toEqual([...remembered])
  })
})

/** What decides, with one entry on its list, and what it leaves behind. */
function deciding(entry: string, header: ClientIpHeader) {
  const clock = new FakeClock()
  const allowlist = new Allowlist(clock)
  allowlist.addPermanent(network(entry))
  const counters = new DecisionCounters()
  const refused = new RefusedClients(clock)
  const clients = new ClientAddresses(DEFAULT_TRUSTED_PROXIES, header)
  const decide = decideBy(allowlist, clients, counters, refused)
  return { decide, trusts: (peer: Peer) => clients.trusts(peer), counters, refused }
}

describe(
  fault(
    "J-18",
    "entries of both lists that are added and removed over the API",
    "the very next /auth and /authz know it",
  ),
  () => {
    async function decisions(client: string): Promise<number[]> {
      const answers: RawAnswer[] = []
      for (const path of ["/auth", "/authz"]) {
        answers.push(await ask(server.address, requestText(`GET ${path}`, [from(client)])))
      }
      return answers.map(({ status }) => status)
    }

    const LETS = [204, 200]
    const DENIES = [401, 403]

    test("an entry of either list lets in, and its removal keeps out", async () => {
      const client = "198.51.100.20"
      for (const [list, body] of [
        ["perm", { ip: client }],
        ["temp", { ip: client, ttl_seconds: 60 }],
      ] as const) {
        expect(await decisions(client)).toEqual(DENIES)
        expect((await server.api("POST", `/api/whitelist/${list}`, body)).status).toBe(204)
        expect(await decisions(client)).toEqual(LETS)
        expect((await server.api("DELETE", `/api/whitelist/${list}/${client}`)).status).toBe(204)
        expect(await decisions(client)).toEqual(DENIES)
      }
    })

    test("a network lets in what it holds and nothing beside it", async () => {
      await server.addPermanent("198.51.100.64/30", "2001:db8:7::/64")
      for (const client of ["198.51.100.64", "198.51.100.67", "::ffff:198.51.100.65", "2001:db8:7::ffff"]) {
        expect([client, ...(await decisions(client))]).toEqual([client, ...LETS])
      }
      for (const client of ["198.51.100.63", "198.51.100.68", "::198.51.100.65", "2001:db8:7:1::"]) {
        expect([client, ...(await decisions(client))]).toEqual([client, ...DENIES])
      }
    })
  },
)

describe(
  fault(
    "C-05 C-07",
    "the clock passes the end of an entry while nothing sweeps",
    "let in until the millisecond, never after it",
  ),
  () => {
    test("at the millisecond", async () => {
      const clock = new FakeClock()
      const own = await runServer({ clock })
      try {
        const client = "198.51.100.21"
        await own.api("POST", "/api/whitelist/temp", { ip: client, ttl_seconds: 2 })
        clock.advance(1999)
        expect(await own.decision(client)).toBe(204)
        clock.advance(1)
        expect(await own.decision(client)).toBe(401)
        clock.stepWall(-3_600_000)
        expect(await own.decision(client)).toBe(401)
      } finally {
        await own.stop()
      }
    })
  },
)
