// The API in scenarios: a request, its answer in full, and the audit rows that it wrote, and none else.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { loadAllowlist } from "../../src/app/load-allowlist.ts"
import { assembleWritePath } from "../../src/app/write-path.ts"
import { decideBy } from "../../src/http/auth.ts"
import { BearerTokens } from "../../src/http/bearer.ts"
import { ClientAddresses } from "../../src/http/client-address.ts"
import { FailedSenders } from "../../src/http/failed-senders.ts"
import { routes } from "../../src/http/routes.ts"
import { listen } from "../../src/http/server.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { fault } from "../faults/fault.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { lineLog } from "../support/line-log.ts"
import { ask, headerOf, requestText } from "../support/raw-http.ts"
import { ANY_PORT, type AuditRow, type RunningServer, runServer, TOKEN } from "../support/running-server.ts"
import { DEFAULT_TRUSTED_PROXIES } from "../support/trusted-proxies.ts"

const PERM = "/api/whitelist/perm"
const TEMP = "/api/whitelist/temp"
const START = Date.UTC(2026, 0, 1)
const NOW = "2026-01-01T00:00:00.000Z"
const BEARER = `Authorization: Bearer ${TOKEN}`

/** A time of day after the start of the clock. */
const at = (seconds: number) => new Date(START + seconds * 1000).toISOString()

/** A row of the log as the clock stands. */
const row = (action: string, ip: string, more: Partial<AuditRow> = {}): AuditRow => ({
  timestamp: NOW,
  action,
  ip,
  ttl_seconds: null,
  reason: null,
  api_client_ip: "127.0.0.1",
  ...more,
})

type Request = readonly [method: string, path: string, body?: unknown]

type Scenario = {
  readonly name: string
  /** What was done before; each must succeed. */
  readonly given?: readonly Request[]
  readonly request: Request
  readonly status: number
  /** Every header of the answer that is not the same for all answers of its kind. */
  readonly headers?: Readonly<Record<string, string>>
  /** Text for an error, a value for JSON; nothing for a 204. */
  readonly body?: unknown
  /** What the request wrote to the log. */
  readonly audit?: readonly AuditRow[]
  /** Both lists afterwards, if they are not as before. */
  readonly permanent?: readonly string[]
  readonly temporary?: ReadonlyArray<{ ip: string; reason: string; expires: string }>
}

let server: RunningServer

beforeAll(async () => {
  server = await runServer({ clock: new FakeClock(START) })
})

afterAll(() => server.stop())

async function clear(): Promise<void> {
  const { permanent, temporary } = await server.lists()
  for (const ip of permanent) await server.api("DELETE", `${PERM}/${ip}`)
  for (const { ip } of temporary) await server.api("DELETE", `${TEMP}/${ip}`)
}

/** The headers that every answer of a status has, in lower case. */
function usualHeaders(status: number, body: string): Record<string, string> {
  const noStore = { "cache-control": "no-store" }
  if (status === 204) return noStore
  const sized = { ...noStore, "content-length": String(Buffer.byteLength(body)) }
  if (status === 200) return { ...sized, "content-type": "application/json" }
  return { ...sized, "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" }
}

async function expectAnswer(answer: Response, { status, headers, body }: Scenario): Promise<void> {
  const text = await answer.text()
  const { date, ...found } = Object.fromEntries(answer.headers)
  const wanted = status === 204 ? "" : status === 200 ? JSON.stringify(body) : `${body}\n`
  expect([answer.status, text]).toEqual([status, wanted])
  expect(found).toEqual({ ...usualHeaders(status, text), ...headers })
}

function scenarios(list: readonly Scenario[]): void {
  test.each(list.map((scenario) => [scenario.name, scenario] as const))("%s", async (_name, scenario) => {
    await clear()
    for (const [method, path, body] of scenario.given ?? []) {
      const answer = await server.api(method, path, body)
      expect([answer.status, await answer.text()]).toEqual([204, ""])
    }
    const before = await server.lists()
    const log = await server.audit()
    await expectAnswer(await server.api(...scenario.request), scenario)
    expect((await server.audit()).slice(log.length)).toEqual([...(scenario.audit ?? [])])
    expect(await server.lists()).toEqual({
      permanent: [...(scenario.permanent ?? before.permanent)],
      temporary: [...(scenario.temporary ?? before.temporary)],
    })
  })
}

describe("POST /api/whitelist/perm", () => {
  scenarios([
    {
      name: "adds an address",
      request: ["POST", PERM, { ip: "192.0.2.7" }],
      status: 204,
      headers: { "ipgate-result": "added" },
      audit: [row("add_perm", "192.0.2.7")],
      permanent: ["192.0.2.7"],
    },
    {
      name: "adds a network",
      request: ["POST", PERM, { ip: "10.0.0.0/8" }],
      status: 204,
      headers: { "ipgate-result": "added" },
      audit: [row("add_perm", "10.0.0.0/8")],
      permanent: ["10.0.0.0/8"],
    },
    {
      name: "adds the canonical form of what it is given",
      request: ["POST", PERM, { ip: "2001:0DB8:0:0::/64" }],
      status: 204,
      headers: { "ipgate-result": "added" },
      audit: [row("add_perm", "2001:db8::/64")],
      permanent: ["2001:db8::/64"],
    },
    ...["0.0.0.0/0", "::/0"].map((ip) => ({
      name: `adds everything if it is told to: ${ip}`,
      request: ["POST", PERM, { ip }] as const,
      status: 204,
      headers: { "ipgate-result": "added" },
      audit: [row("add_perm", ip)],
      permanent: [ip],
    })),
    {
      name: "does not look at members that it does not know",
      request: ["POST", PERM, { ip: "192.0.2.7", reason: 5, ttl_seconds: "x", entry: "192.0.2.8" }],
      status: 204,
      headers: { "ipgate-result": "added" },
      audit: [row("add_perm", "192.0.2.7")],
      permanent: ["192.0.2.7"],
    },
    {
      name: "refuses what is there",
      given: [["POST", PERM, { ip: "192.0.2.7" }]],
      request: ["POST", PERM, { ip: "192.0.2.7" }],
      status: 409,
      body: "192.0.2.7 is already on the permanent list",
    },
    ...["10.0.0.0/8", "::ffff:10.0.0.0/104", "::FFFF:a00:0/104"].map((ip) => ({
      name: `refuses it in another spelling: ${ip}`,
      given: [["POST", PERM, { ip: "10.0.0.0/8" }]] as const,
      request: ["POST", PERM, { ip }] as const,
      status: 409,
      body: "10.0.0.0/8 is already on the permanent list",
    })),
    {
      name: "takes the mapped block for all of IPv4",
      given: [["POST", PERM, { ip: "0.0.0.0/0" }]],
      request: ["POST", PERM, { ip: "::ffff:0:0/96" }],
      status: 409,
      body: "0.0.0.0/0 is already on the permanent list",
    },
    {
      name: "takes a network inside another for another",
      given: [["POST", PERM, { ip: "10.0.0.0/8" }]],
      request: ["POST", PERM, { ip: "10.0.0.0/9" }],
      status: 204,
      headers: { "ipgate-result": "added" },
      audit: [row("add_perm", "10.0.0.0/9")],
      permanent: ["10.0.0.0/8", "10.0.0.0/9"],
    },
    {
      name: "adds what is on the temporary list",
      given: [["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 60 }]],
      request: ["POST", PERM, { ip: "192.0.2.7" }],
      status: 204,
      headers: { "ipgate-result": "added" },
      audit: [row("add_perm", "192.0.2.7")],
      permanent: ["192.0.2.7"],
    },
    {
      name: "names both meanings of host bits",
      request: ["POST", PERM, { ip: "10.0.0.5/8" }],
      status: 400,
      body: '"10.0.0.5/8" has host bits set; did you mean 10.0.0.0/8 or 10.0.0.5?',
    },
    {
      name: "asks for ip",
      request: ["POST", PERM, {}],
      status: 400,
      body: "ip is missing",
    },
    {
      name: "knows the old name of ip",
      request: ["POST", PERM, { entry: "192.0.2.7" }],
      status: 400,
      body: 'ip is missing: the field "entry" is called "ip" now',
    },
    {
      name: "says what is wrong with an address",
      request: ["POST", PERM, { ip: "010.8.8.8" }],
      status: 400,
      body: '"010.8.8.8" is not an IP address or CIDR: IPv4 has four decimal numbers from 0 to 255, without leading zeros',
    },
  ])
})

describe("POST /api/whitelist/temp", () => {
  scenarios([
    {
      name: "adds an address for a while",
      request: ["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 60, reason: "on call" }],
      status: 204,
      headers: { "ipgate-result": "added", "ipgate-expires": at(60) },
      audit: [row("add_temp", "192.0.2.7", { ttl_seconds: 60, reason: "on call" })],
      temporary: [{ ip: "192.0.2.7", reason: "on call", expires: at(60) }],
    },
    {
      name: "adds a network, too",
      request: ["POST", TEMP, { ip: "2001:DB8::/64", ttl_seconds: 1 }],
      status: 204,
      headers: { "ipgate-result": "added", "ipgate-expires": at(1) },
      audit: [row("add_temp", "2001:db8::/64", { ttl_seconds: 1 })],
      temporary: [{ ip: "2001:db8::/64", reason: "", expires: at(1) }],
    },
    {
      name: "takes an empty reason for none",
      request: ["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 60, reason: "" }],
      status: 204,
      headers: { "ipgate-result": "added", "ipgate-expires": at(60) },
      audit: [row("add_temp", "192.0.2.7", { ttl_seconds: 60 })],
      temporary: [{ ip: "192.0.2.7", reason: "", expires: at(60) }],
    },
    {
      name: "gives ten years and no second more",
      request: ["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 315_360_000 }],
      status: 204,
      headers: { "ipgate-result": "added", "ipgate-expires": "2035-12-30T00:00:00.000Z" },
      audit: [row("add_temp", "192.0.2.7", { ttl_seconds: 315_360_000 })],
      temporary: [{ ip: "192.0.2.7", reason: "", expires: "2035-12-30T00:00:00.000Z" }],
    },
    {
      name: "replaces lifetime and reason of an active entry",
      given: [["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 600, reason: "first" }]],
      request: ["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 60, reason: "second" }],
      status: 204,
      headers: { "ipgate-result": "replaced", "ipgate-expires": at(60) },
      audit: [row("add_temp", "192.0.2.7", { ttl_seconds: 60, reason: "second" })],
      temporary: [{ ip: "192.0.2.7", reason: "second", expires: at(60) }],
    },
    {
      name: "replaces it in another spelling, and forgets the reason if none is given",
      given: [["POST", TEMP, { ip: "192.0.2.0/24", ttl_seconds: 600, reason: "first" }]],
      request: ["POST", TEMP, { ip: "::ffff:192.0.2.0/120", ttl_seconds: 60 }],
      status: 204,
      headers: { "ipgate-result": "replaced", "ipgate-expires": at(60) },
      audit: [row("add_temp", "192.0.2.0/24", { ttl_seconds: 60 })],
      temporary: [{ ip: "192.0.2.0/24", reason: "", expires: at(60) }],
    },
    {
      name: "adds what is on the permanent list",
      given: [["POST", PERM, { ip: "192.0.2.7" }]],
      request: ["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 60 }],
      status: 204,
      headers: { "ipgate-result": "added", "ipgate-expires": at(60) },
      audit: [row("add_temp", "192.0.2.7", { ttl_seconds: 60 })],
      temporary: [{ ip: "192.0.2.7", reason: "", expires: at(60) }],
    },
    {
      name: "keeps a reason as it is",
      request: [
        "POST",
        TEMP,
        { ip: "192.0.2.7", ttl_seconds: 60, reason: `'"; DROP -- é 👩\u200d💻 %s \\n` },
      ],
      status: 204,
      headers: { "ipgate-result": "added", "ipgate-expires": at(60) },
      audit: [row("add_temp", "192.0.2.7", { ttl_seconds: 60, reason: `'"; DROP -- é 👩\u200d💻 %s \\n` })],
      temporary: [{ ip: "192.0.2.7", reason: `'"; DROP -- é 👩\u200d💻 %s \\n`, expires: at(60) }],
    },
    { name: "asks for ip", request: ["POST", TEMP, { ttl_seconds: 60 }], status: 400, body: "ip is missing" },
    {
      name: "asks for ttl_seconds",
      request: ["POST", TEMP, { ip: "192.0.2.7" }],
      status: 400,
      body: "ttl_seconds is missing",
    },
    {
      name: "knows the old name of ip",
      request: ["POST", TEMP, { entry: "192.0.2.7", ttl_seconds: 60 }],
      status: 400,
      body: 'ip is missing: the field "entry" is called "ip" now',
    },
    {
      name: "names both meanings of host bits",
      request: ["POST", TEMP, { ip: "2001:db8::1/64", ttl_seconds: 60 }],
      status: 400,
      body: '"2001:db8::1/64" has host bits set; did you mean 2001:db8::/64 or 2001:db8::1?',
    },
    {
      name: "says how long a lifetime can be",
      request: ["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 315_360_001 }],
      status: 400,
      body: "ttl_seconds must be an integer from 1 to 315360000",
    },
    {
      name: "leaves an active entry alone when it refuses",
      given: [["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 600, reason: "first" }]],
      request: ["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 0 }],
      status: 400,
      body: "ttl_seconds must be an integer from 1 to 315360000",
    },
  ])
})

describe(
  fault(
    "J-13 J-14 J-15",
    "addresses in the path in every escaping, of entries that are there, covered or not there",
    "decoded once or 400; 204 without a record; still let in by a wider entry",
  ),
  () => {
    scenarios([
      {
        name: "removes a permanent one",
        given: [["POST", PERM, { ip: "192.0.2.7" }]],
        request: ["DELETE", `${PERM}/192.0.2.7`],
        status: 204,
        headers: { "ipgate-result": "removed" },
        audit: [row("delete_perm", "192.0.2.7")],
        permanent: [],
      },
      {
        name: "removes a temporary one, and records neither lifetime nor reason again",
        given: [["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 60, reason: "x" }]],
        request: ["DELETE", `${TEMP}/192.0.2.7`],
        status: 204,
        headers: { "ipgate-result": "removed" },
        audit: [row("delete_temp", "192.0.2.7")],
        temporary: [],
      },
      ...[PERM, TEMP].map((path) => ({
        name: `of an absent one changes and records nothing: ${path}`,
        request: ["DELETE", `${path}/192.0.2.7`] as const,
        status: 204,
        headers: { "ipgate-result": "absent" },
      })),
      {
        name: "does not touch the temporary list for the permanent one",
        given: [["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 60 }]],
        request: ["DELETE", `${PERM}/192.0.2.7`],
        status: 204,
        headers: { "ipgate-result": "absent" },
      },
      {
        name: "does not touch the permanent list for the temporary one",
        given: [["POST", PERM, { ip: "192.0.2.7" }]],
        request: ["DELETE", `${TEMP}/192.0.2.7`],
        status: 204,
        headers: { "ipgate-result": "absent" },
      },
      {
        name: "does not touch a network that holds the address",
        given: [["POST", PERM, { ip: "192.0.2.0/24" }]],
        request: ["DELETE", `${PERM}/192.0.2.7`],
        status: 204,
        headers: { "ipgate-result": "absent" },
      },
      {
        name: "does not touch what a network holds",
        given: [["POST", PERM, { ip: "192.0.2.7" }]],
        request: ["DELETE", `${PERM}/192.0.2.0/24`],
        status: 204,
        headers: { "ipgate-result": "absent" },
      },
      ...[
        "10.0.0.0/8",
        "10.0.0.0%2F8",
        "10.0.0.0%2f8",
        "::ffff:10.0.0.0/104",
        "%3A%3AFFFF%3Aa00%3A0%2F104",
      ].map((text) => ({
        name: `takes any spelling: ${text}`,
        given: [["POST", PERM, { ip: "10.0.0.0/8" }]] as const,
        request: ["DELETE", `${PERM}/${text}`] as const,
        status: 204,
        headers: { "ipgate-result": "removed" },
        audit: [row("delete_perm", "10.0.0.0/8")],
        permanent: [],
      })),
      ...["192.0.2.7/32", "::ffff:192.0.2.7", "0:0:0:0:0:FFFF:C000:207", "192%2E0%2e2.7"].map((text) => ({
        name: `takes any spelling of an address: ${text}`,
        given: [["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 60 }]] as const,
        request: ["DELETE", `${TEMP}/${text}`] as const,
        status: 204,
        headers: { "ipgate-result": "removed" },
        audit: [row("delete_temp", "192.0.2.7")],
        temporary: [],
      })),
      ...[PERM, TEMP].map((path) => ({
        name: `asks for an address: ${path}/`,
        request: ["DELETE", `${path}/`] as const,
        status: 400,
        body: "ip is missing: the address goes after the last slash",
      })),
      {
        name: "names both meanings of host bits",
        given: [["POST", PERM, { ip: "10.0.0.0/8" }]],
        request: ["DELETE", `${PERM}/10.0.0.5/8`],
        status: 400,
        body: '"10.0.0.5/8" has host bits set; did you mean 10.0.0.0/8 or 10.0.0.5?',
      },
    ])

    // As bytes, because a client would tidy some of these up.
    test.each([
      [
        "%252F",
        `${PERM}/10.0.0.0%252F8`,
        400,
        '"10.0.0.0%2F8" is not an IP address or CIDR: remove the zone id after the address\n',
      ],
      ["%zz", `${PERM}/%zz`, 400, "the path has a broken percent escape\n"],
      ["%zz behind an address", `${PERM}/192.0.2.7%zz`, 400, "the path has a broken percent escape\n"],
      ["%", `${PERM}/%`, 400, "the path has a broken percent escape\n"],
      ["%2", `${PERM}/192.0.2.7%2`, 400, "the path has a broken percent escape\n"],
      ["%ff", `${PERM}/192.0.2.7%ff`, 400, "the path has a broken percent escape\n"],
      ["%c0%af", `${PERM}/10.0.0.0%c0%af8`, 400, "the path has a broken percent escape\n"],
      ["%00", `${PERM}/192.0.2.7%00`, 400, '"192.0.2.7\\x00" is not an IP address or CIDR\n'],
      [
        "%0a",
        `${PERM}/192.0.2.7%0a`,
        400,
        '"192.0.2.7\\x0a" is not an IP address or CIDR: remove the white space around it\n',
      ],
      ["a plus", `${PERM}/192.0.2.7+`, 400, '"192.0.2.7+" is not an IP address or CIDR\n'],
      [
        "%20",
        `${PERM}/192.0.2.7%20`,
        400,
        '"192.0.2.7 " is not an IP address or CIDR: remove the white space around it\n',
      ],
      ["two slashes", `${PERM}/10.0.0.0//8`, 400, undefined],
      ["a slash at the end", `${PERM}/192.0.2.7/`, 400, undefined],
      ["a slash more", `${PERM}//192.0.2.7`, 400, undefined],
      ["a length too many", `${PERM}/10.0.0.0/8/8`, 400, undefined],
      ["a length too long", `${PERM}/10.0.0.0/33`, 400, undefined],
      ["a word", `${PERM}/nonsense`, 400, '"nonsense" is not an IP address or CIDR\n'],
      ["two addresses", `${PERM}/192.0.2.7,192.0.2.8`, 400, undefined],
      [
        "a query is not part of it",
        `${PERM}/?192.0.2.7`,
        400,
        "ip is missing: the address goes after the last slash\n",
      ],
      [
        "an address of the query",
        `${PERM}/?ip=192.0.2.7`,
        400,
        "ip is missing: the address goes after the last slash\n",
      ],
      ["two dots", `${PERM}/..`, 404, "not found\n"],
      ["two dots, escaped", `${PERM}/%2e%2e`, 404, "not found\n"],
      ["a way out", `${PERM}/../../logs`, 404, "not found\n"],
    ])("%s changes nothing", async (_what, path, status, body) => {
      await clear()
      await server.addPermanent("192.0.2.7", "10.0.0.0/8")
      const log = await server.audit()
      const answer = await ask(server.address, requestText(`DELETE ${path}`, [BEARER]))
      expect(answer.status).toBe(status)
      if (body !== undefined) expect(answer.body).toBe(body)
      expect(await server.audit()).toEqual(log)
      expect((await server.lists()).permanent).toEqual(["10.0.0.0/8", "192.0.2.7"])
    })

    test("a query behind the address is ignored", async () => {
      await clear()
      await server.addPermanent("10.0.0.0/8")
      const answer = await ask(server.address, requestText(`DELETE ${PERM}/10.0.0.0/8?x=/9`, [BEARER]))
      expect([answer.status, headerOf(answer, "Ipgate-Result")]).toEqual([204, "removed"])
    })

    test("a wider entry still lets the address in, and check says so", async () => {
      await clear()
      await server.addPermanent("192.0.2.7", "192.0.2.0/24")
      expect((await server.api("DELETE", `${PERM}/192.0.2.7`)).status).toBe(204)
      expect(await server.decision("192.0.2.7")).toBe(204)
      expect(await server.read("/api/check?ip=192.0.2.7")).toEqual({
        ip: "192.0.2.7",
        allowed: true,
        matched_by: { list: "perm", ip: "192.0.2.0/24", expires: null },
      })
    })
  },
)

describe("the lists", () => {
  beforeEach(clear)

  test("permanent: IPv4 before IPv6, then by address, then by length", async () => {
    const sorted = [
      "0.0.0.0/0",
      "9.255.255.255",
      "10.0.0.0/8",
      "10.0.0.0/16",
      "10.0.0.0",
      "10.0.0.1",
      "127.0.0.1",
      "128.0.0.0/1",
      "255.255.255.255",
      "::/0",
      "::",
      "::1",
      "2001:db8::/32",
      "2001:db8::",
      "fe80::/10",
    ]
    for (const [i, ip] of sorted.entries()) {
      await server.addPermanent(sorted[(i * 7) % sorted.length] ?? ip)
    }
    expect(await server.read(`${PERM}/list`)).toEqual(sorted.map((ip) => ({ ip })))
  })

  test("temporary: the soonest to end first, on both paths the same", async () => {
    for (const [ip, ttl_seconds] of [
      ["192.0.2.1", 300],
      ["192.0.2.2", 100],
      ["2001:db8::/64", 200],
    ] as const) {
      await server.api("POST", TEMP, { ip, ttl_seconds, reason: `for ${ttl_seconds}` })
    }
    const wanted = [
      { ip: "192.0.2.2", reason: "for 100", expires: at(100) },
      { ip: "2001:db8::/64", reason: "for 200", expires: at(200) },
      { ip: "192.0.2.1", reason: "for 300", expires: at(300) },
    ]
    for (const query of [
      "",
      "?limit=1000",
      "?limit=2",
      "?offset=1",
      "?limit=1&offset=2",
      "?offset=3",
      "?limit=0",
    ]) {
      const [one, other] = await Promise.all(
        [TEMP, `${TEMP}/list`].map(async (path) => {
          const answer = await server.api("GET", path + query)
          const { date, ...headers } = Object.fromEntries(answer.headers)
          return { status: answer.status, headers, text: await answer.text() }
        }),
      )
      expect(one).toEqual(other as NonNullable<typeof other>)
      if (query === "") expect(JSON.parse(one?.text ?? "")).toEqual(wanted)
    }
  })

  test("page by page, 200 where nothing is said", async () => {
    const ips = Array.from({ length: 205 }, (_, i) => `192.0.2.${i}`)
    await Promise.all(ips.map((ip) => server.addPermanent(ip)))
    const page = async (query: string) => {
      const entries = (await server.read(`${PERM}/list${query}`)) as Array<{ ip: string }>
      return entries.map(({ ip }) => ip)
    }
    expect(await page("")).toEqual(ips.slice(0, 200))
    expect(await page("?offset=200")).toEqual(ips.slice(200))
    expect(await page("?limit=3&offset=100")).toEqual(ips.slice(100, 103))
    expect(await page("?limit=1")).toEqual(ips.slice(0, 1))
    expect(await page("?limit=1000")).toEqual(ips)
    expect(await page("?offset=205")).toEqual([])
    expect(await page("?offset=9007199254740991")).toEqual([])
    expect(await page("?limit=2&unknown=1")).toEqual(ips.slice(0, 2))
    const logged = (await server.read("/api/logs?limit=205")) as AuditRow[]
    expect(logged.map(({ ip }) => ip).sort()).toEqual([...ips].sort())
    expect(((await server.read("/api/logs")) as AuditRow[]).length).toBe(200)
  })

  test("empty: an empty array", async () => {
    for (const path of [`${PERM}/list`, TEMP, `${TEMP}/list`]) {
      const answer = await server.api("GET", path)
      expect([answer.status, await answer.text()]).toEqual([200, "[]"])
    }
  })
})

describe("the log", () => {
  let clock: FakeClock
  let own: RunningServer

  beforeAll(async () => {
    clock = new FakeClock(START)
    own = await runServer({ clock })
    const steps: readonly Request[] = [
      ["POST", PERM, { ip: "192.0.2.7" }],
      ["POST", TEMP, { ip: "2001:db8::/64", ttl_seconds: 60, reason: "x" }],
      ["DELETE", `${PERM}/192.0.2.7`],
      ["POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 3600 }],
      ["DELETE", `${TEMP}/2001:db8::/64`],
      ["POST", PERM, { ip: "192.0.2.7" }],
    ]
    for (const step of steps) {
      clock.advance(1000)
      await own.api(...step)
    }
  })

  afterAll(() => own.stop())

  const ROWS = [
    row("add_perm", "192.0.2.7", { timestamp: at(6) }),
    row("delete_temp", "2001:db8::/64", { timestamp: at(5) }),
    row("add_temp", "192.0.2.7", { timestamp: at(4), ttl_seconds: 3600 }),
    row("delete_perm", "192.0.2.7", { timestamp: at(3) }),
    row("add_temp", "2001:db8::/64", { timestamp: at(2), ttl_seconds: 60, reason: "x" }),
    row("add_perm", "192.0.2.7", { timestamp: at(1) }),
  ]

  test("all of it, the newest first, its members in the order of the service document", async () => {
    const answer = await own.api("GET", "/api/logs")
    expect(await answer.text()).toBe(JSON.stringify(ROWS))
  })

  const only = (keep: (one: AuditRow) => boolean) => ROWS.filter(keep)

  test.each<readonly [string, readonly AuditRow[]]>([
    ["?action=add_perm", only(({ action }) => action === "add_perm")],
    ["?action=delete_perm", only(({ action }) => action === "delete_perm")],
    ["?action=add_temp", only(({ action }) => action === "add_temp")],
    ["?action=delete_temp", only(({ action }) => action === "delete_temp")],
    ["?action=expire_temp", []],
    ["?ip=192.0.2.7", only(({ ip }) => ip === "192.0.2.7")],
    ["?ip=192.0.2.7/32", only(({ ip }) => ip === "192.0.2.7")],
    ["?ip=::ffff:C000:0207", only(({ ip }) => ip === "192.0.2.7")],
    ["?ip=2001:DB8:0::%2F64", only(({ ip }) => ip === "2001:db8::/64")],
    ["?ip=2001:db8::", []],
    ["?ip=192.0.2.0/24", []],
    ["?action=add_temp&ip=192.0.2.7", ROWS.slice(2, 3)],
    ["?action=expire_temp&ip=192.0.2.7", []],
    ["?limit=2", ROWS.slice(0, 2)],
    ["?limit=2&offset=1", ROWS.slice(1, 3)],
    ["?offset=4", ROWS.slice(4)],
    ["?action=add_perm&offset=1", ROWS.slice(5)],
    ["?offset=6", []],
  ])("%s", async (query, rows) => {
    expect(await own.read(`/api/logs${query}`)).toEqual([...rows])
  })

  test("an entry that ends is recorded once, at the moment when it ended, by nobody", async () => {
    const before = (await own.audit()).length
    await own.api("POST", TEMP, { ip: "198.51.100.1", ttl_seconds: 2, reason: "short" })
    await own.api("POST", TEMP, { ip: "198.51.100.2", ttl_seconds: 2 })
    clock.advance(2500)
    // Both are gone for whoever asks, whether or not the sweeper has been there.
    expect((await own.lists()).temporary.map(({ ip }) => ip)).toEqual(["192.0.2.7"])
    expect(await own.read("/status")).toMatchObject({ temp_whitelist_count: 1 })

    const again = await own.api("POST", TEMP, { ip: "198.51.100.1", ttl_seconds: 60 })
    expect(again.headers.get("Ipgate-Result")).toBe("added")
    const gone = await own.api("DELETE", `${TEMP}/198.51.100.2`)
    expect(gone.headers.get("Ipgate-Result")).toBe("absent")

    const rows = (await own.audit()).slice(before)
    const ended = { timestamp: at(8), api_client_ip: null }
    const of = (ip: string) => rows.filter((one) => one.ip === ip)
    expect(of("198.51.100.1")).toEqual([
      row("add_temp", "198.51.100.1", { timestamp: at(6), ttl_seconds: 2, reason: "short" }),
      row("expire_temp", "198.51.100.1", ended),
      row("add_temp", "198.51.100.1", { timestamp: at(8.5), ttl_seconds: 60 }),
    ])
    expect(of("198.51.100.2")).toEqual([
      row("add_temp", "198.51.100.2", { timestamp: at(6), ttl_seconds: 2 }),
      row("expire_temp", "198.51.100.2", ended),
    ])
    expect(rows.length).toBe(5)
  })
})

describe("GET /api/check", () => {
  beforeAll(async () => {
    await clear()
    await server.addPermanent("192.0.2.0/24", "2001:db8::/32", "10.0.0.0/8", "10.1.0.0/16")
    for (const [ip, ttl_seconds] of [
      ["192.0.2.7", 60],
      ["192.0.0.0/16", 120],
      ["198.51.100.0/24", 180],
    ] as const) {
      await server.api("POST", TEMP, { ip, ttl_seconds })
    }
  })

  const perm = (ip: string) => ({ list: "perm", ip, expires: null })
  const temp = (ip: string, seconds: number) => ({ list: "temp", ip, expires: at(seconds) })

  test.each([
    ["192.0.2.7", "192.0.2.7", [perm("192.0.2.0/24"), temp("192.0.2.7", 60), temp("192.0.0.0/16", 120)]],
    [
      "::ffff:192.0.2.7",
      "192.0.2.7",
      [perm("192.0.2.0/24"), temp("192.0.2.7", 60), temp("192.0.0.0/16", 120)],
    ],
    ["192.0.2.8", "192.0.2.8", [perm("192.0.2.0/24"), temp("192.0.0.0/16", 120)]],
    ["192.0.3.1", "192.0.3.1", [temp("192.0.0.0/16", 120)]],
    ["10.1.2.3", "10.1.2.3", [perm("10.1.0.0/16"), perm("10.0.0.0/8")]],
    ["10.0.0.0/15", "10.0.0.0/15", [perm("10.0.0.0/8")]],
    ["10.0.0.0/8", "10.0.0.0/8", [perm("10.0.0.0/8")]],
    ["10.0.0.0/7", "10.0.0.0/7", []],
    ["198.51.100.9", "198.51.100.9", [temp("198.51.100.0/24", 180)]],
    ["2001:DB8:0::1", "2001:db8::1", [perm("2001:db8::/32")]],
    ["203.0.113.9", "203.0.113.9", []],
    ["::192.0.2.7", "::c000:207", []],
  ])("%s", async (asked, ip, matches) => {
    const short = { ip, allowed: matches.length > 0, matched_by: matches[0] ?? null }
    const one = await server.api("GET", `/api/check?ip=${encodeURIComponent(asked)}`)
    expect(await one.text()).toBe(JSON.stringify(short))
    const all = await server.api("GET", `/api/check?ip=${asked}&matches=all`)
    expect(await all.text()).toBe(JSON.stringify({ ...short, matches }))
    if (!ip.includes("/")) expect(await server.decision(ip)).toBe(short.allowed ? 204 : 401)
  })

  test.each([
    ["", "ip is missing"],
    ["?ip=", '"" is not an IP address or CIDR: it is empty'],
    ["?ip=nonsense", '"nonsense" is not an IP address or CIDR'],
    ["?ip=10.0.0.5/8", '"10.0.0.5/8" has host bits set; did you mean 10.0.0.0/8 or 10.0.0.5?'],
    ["?ip=192.0.2.7&ip=192.0.2.7", "ip occurs more than once"],
    ["?ip=192.0.2.7&matches=all&matches=all", "matches occurs more than once"],
    ["?IP=192.0.2.7", "ip is missing"],
  ])("%j: 400", async (query, message) => {
    const log = await server.audit()
    const answer = await server.api("GET", `/api/check${query}`)
    expect([answer.status, await answer.text()]).toEqual([400, `${message}\n`])
    expect(await server.audit()).toEqual(log)
  })
})

describe(fault("B-16 H-15", "every method on every route", "405 with what is allowed, 404 elsewhere"), () => {
  const ROUTES: ReadonlyArray<readonly [path: string, allow: string]> = [
    ["/auth", "GET"],
    ["/status", "GET, HEAD"],
    [PERM, "POST"],
    [`${PERM}/list`, "GET"],
    [`${PERM}/192.0.2.7`, "DELETE"],
    [`${PERM}/`, "DELETE"],
    [TEMP, "GET, POST"],
    [`${TEMP}/list`, "GET"],
    [`${TEMP}/192.0.2.7`, "DELETE"],
    ["/api/whitelist/import", "POST"],
    ["/api/whitelist/export", "GET"],
    ["/api/backup", "GET"],
    ["/api/events", "GET"],
    ["/api/denied", "GET"],
    ["/api/decisions", "GET"],
    ["/api/logs", "GET"],
    ["/api/check", "GET"],
  ]
  const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"]

  test.each(ROUTES)("%s: 405 and Allow: %s for every other one", async (path, allow) => {
    await clear()
    const log = await server.audit()
    for (const method of METHODS) {
      // The feed does not end by itself.
      if (path === "/api/events" && method === "GET") continue
      const answer = await ask(server.address, requestText(`${method} ${path}`, [BEARER]), { method })
      if (allow.split(", ").includes(method)) {
        expect([method, [405, 404].includes(answer.status)]).toEqual([method, false])
      } else {
        expect([method, answer.status, headerOf(answer, "Allow")]).toEqual([method, 405, allow])
        if (path !== "/auth" && method !== "HEAD") expect(answer.body).toBe("method not allowed\n")
      }
    }
    expect(await server.audit()).toEqual(log)
  })

  test.each(["/", "/nothing", "/api", "/api/", "/api/nothing", "/api/whitelist", "/api/whitelist/other"])(
    "%s: 404 for all of them",
    async (path) => {
      for (const method of METHODS) {
        const answer = await ask(server.address, requestText(`${method} ${path}`, [BEARER]), { method })
        expect([method, answer.status, headerOf(answer, "Allow")]).toEqual([method, 404, null])
      }
    },
  )
})

describe(fault("B-15", "/status with and without a token", "five fields and no word more"), () => {
  let clock: FakeClock
  let own: RunningServer

  beforeEach(async () => {
    clock = new FakeClock(START)
    own = await runServer({ clock })
  })

  afterEach(() => own.stop())

  test("has exactly five fields, in order, and no word more", async () => {
    const answer = await own.request("GET", "/status")
    expect(await answer.text()).toBe(
      '{"status":"ok","uptime":"0s","perm_whitelist_count":0,"temp_whitelist_count":0,"db_ok":true}',
    )
    const { date, ...headers } = Object.fromEntries(answer.headers)
    expect(headers).toEqual({
      "cache-control": "no-store",
      "content-length": "92",
      "content-type": "application/json",
    })
  })

  test("counts both lists and the time, with and without a token", async () => {
    await own.addPermanent("192.0.2.7", "10.0.0.0/8")
    await own.api("POST", TEMP, { ip: "192.0.2.7", ttl_seconds: 60 })
    await own.api("POST", TEMP, { ip: "192.0.2.8", ttl_seconds: 30 })
    clock.advance(45_000)
    const wanted = {
      status: "ok",
      uptime: "45s",
      perm_whitelist_count: 2,
      temp_whitelist_count: 1,
      db_ok: true,
    }
    expect(await own.read("/status")).toEqual(wanted)
    expect(await (await own.request("GET", "/status?x=1")).json()).toEqual(wanted)
    clock.advance(((3 * 24 + 4) * 60 + 12) * 60_000 - 40_000)
    expect(await own.read("/status")).toEqual({ ...wanted, uptime: "3d4h12m5s", temp_whitelist_count: 0 })
  })

  test("answers HEAD without a body", async () => {
    const answer = await ask(own.address, requestText("HEAD /status"), { method: "HEAD" })
    expect([answer.status, headerOf(answer, "Content-Length")]).toEqual([200, "92"])
  })
})

describe("with the database gone", () => {
  test("decisions go on, changes and lists are 500, and /status says degraded", async () => {
    const directory = mkdtempSync(join(tmpdir(), "ipgate-test-"))
    const clock = new FakeClock(START)
    const log: string[] = []
    const store = new LibsqlStore({ path: join(directory, "ipgate.db"), auditRows: 1000 })
    await store.open(clock.wall())
    const { allowlist } = await loadAllowlist(store, clock)
    const { gate, tokens, counters, refused } = await assembleWritePath(store, allowlist, clock, clock.mono())
    const clients = new ClientAddresses(DEFAULT_TRUSTED_PROXIES, "X-Real-IP")
    const listener = listen(
      ANY_PORT,
      routes({
        decide: decideBy(allowlist, clients, counters, refused),
        clients,
        tokens: new BearerTokens([TOKEN]),
        failures: new FailedSenders(clock),
        registry: tokens,
        gateFor: (by, principal) => gate.as(by, principal),
        log: lineLog((line) => log.push(line), clock),
      }),
    )
    const statusOf = async (line: string, headers: readonly string[], body = "") => {
      const lines = [...headers, ...(body === "" ? [] : [`Content-Length: ${body.length}`])]
      return ask(listener.address, requestText(line, lines, body))
    }
    const add = (list: string, ip: string) =>
      statusOf(`POST ${list}`, [BEARER], JSON.stringify({ ip, ttl_seconds: 60 }))
    const decision = async (ip: string) => (await statusOf("GET /auth", [`X-Real-IP: ${ip}`])).status
    const health = async () => JSON.parse((await statusOf("GET /status", [])).body)

    expect((await add(PERM, "192.0.2.7")).status).toBe(204)
    expect((await add(TEMP, "192.0.2.9")).status).toBe(204)
    expect(await health()).toMatchObject({ status: "ok", db_ok: true })

    await store.close()

    const questions = [
      await add(PERM, "192.0.2.8"),
      await add(TEMP, "192.0.2.8"),
      await statusOf(`DELETE ${PERM}/192.0.2.7`, [BEARER]),
      await statusOf(`DELETE ${TEMP}/192.0.2.9`, [BEARER]),
      await statusOf(`GET ${PERM}/list`, [BEARER]),
      await statusOf(`GET ${TEMP}`, [BEARER]),
      await statusOf("GET /api/logs", [BEARER]),
    ]
    for (const { status, body } of questions) {
      expect([status, body]).toEqual([500, "the database is not open\n"])
    }
    expect(log.length).toBe(questions.length)
    expect((await add(PERM, "nonsense")).status).toBe(400)

    expect(await decision("192.0.2.7")).toBe(204)
    expect(await decision("192.0.2.9")).toBe(204)
    expect(await decision("192.0.2.8")).toBe(401)
    expect((await statusOf("GET /api/check?ip=192.0.2.7", [BEARER])).status).toBe(200)
    expect(await health()).toEqual({
      status: "degraded",
      uptime: "0s",
      perm_whitelist_count: 1,
      temp_whitelist_count: 1,
      db_ok: false,
    })

    await listener.stop()
    rmSync(directory, { recursive: true, force: true })
  })
})

describe("many at once", () => {
  test(
    fault("J-16", "50 requests at once for one permanent entry", "one 204, 49 times 409, one record"),
    async () => {
      await clear()
      for (let round = 0; round < 5; round++) {
        const ip = `203.0.113.${round}`
        const before = (await server.audit()).length
        const answers = await Promise.all(Array.from({ length: 50 }, () => server.api("POST", PERM, { ip })))
        const statuses = answers.map(({ status }) => status).sort()
        expect(statuses).toEqual([204, ...Array.from({ length: 49 }, () => 409)])
        expect((await server.audit()).slice(before)).toEqual([row("add_perm", ip)])
      }
    },
  )
})
