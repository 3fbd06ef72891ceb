// Bodies and queries of the API by their shape, against what the README says of each member, read slowly.

import { expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { ipv4Spelling, ipv6Spelling, mutatedText } from "../support/address-text.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { runServer } from "../support/running-server.ts"
import { slowParseNetwork, slowText } from "../support/slow-address.ts"
import { fault } from "./fault.ts"
import { rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(600_000)

/** A value as it stands in JSON, and the value that a reader gets; `undefined` for a member that is left out. */
type Raw = { readonly json: string; readonly value: unknown } | undefined

const raw = (value: unknown): Raw => ({ json: JSON.stringify(value), value })
const text = (json: string): Raw => ({ json, value: JSON.parse(json) as unknown })

const wrongTypes = fc.constantFrom<Raw>(
  undefined,
  raw(null),
  raw(true),
  raw(5),
  raw([]),
  raw(["192.0.2.7"]),
  raw({}),
  raw({ ip: "192.0.2.7" }),
  raw(""),
)

const spelled = fc.oneof(ipv4Spelling, ipv6Spelling).map((one) => one.text)
// Few first bytes, so that the same entry comes again.
const repeated = fc
  .tuple(fc.nat({ max: 3 }), fc.constantFrom("", "/32", "/24", "/8"))
  .map(([n, length]) => `10.0.${n}.0${length}`)
const anyIp = fc.oneof(
  { weight: 3, arbitrary: spelled.map(raw) },
  { weight: 3, arbitrary: repeated.map(raw) },
  { weight: 2, arbitrary: mutatedText.map(raw) },
  {
    weight: 1,
    arbitrary: fc.tuple(spelled, fc.nat({ max: 130 })).map(([base, length]) => raw(`${base}/${length}`)),
  },
  { weight: 2, arbitrary: wrongTypes },
)

const anyTtl = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 315_360_000 }).map(raw) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        "1.0",
        "1e3",
        "315360000",
        "315360001",
        "0",
        "-0",
        "-1",
        "0.5",
        "1e400",
        "9007199254740993",
        "2147483648",
        '"5"',
        "60.0000001",
      )
      .map(text),
  },
  { weight: 1, arbitrary: wrongTypes },
)

const GOOD = ["on call", "é", "漢", "🙂", "=1", "'", '"', "\\", "%", " "]
const BAD = ["\n", "\r", "\t", "\0", "\x1b", "\x7f", "\x9b", "\u2028", "\u202e", "\u200b", "\ufeff", "\u2066"]
const anyReason = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Raw>(undefined) },
  {
    weight: 4,
    arbitrary: fc.array(fc.constantFrom(...GOOD), { maxLength: 8 }).map((parts) => raw(parts.join(""))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...GOOD), fc.constantFrom(...BAD), fc.constantFrom(...GOOD))
      .map((parts) => raw(parts.join(""))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("x", "é", "🙂"), fc.integer({ min: 498, max: 503 }))
      .map(([letter, count]) => raw(letter.repeat(count))),
  },
  { weight: 1, arbitrary: fc.constantFrom('"\\ud800"', '"\\udfff x"').map(text) },
  { weight: 1, arbitrary: wrongTypes },
)

const anyBody = fc.record({
  list: fc.constantFrom("perm" as const, "temp" as const),
  ip: anyIp,
  ttl_seconds: anyTtl,
  reason: anyReason,
  more: fc.constantFrom(
    "",
    "",
    "",
    ',"x":1',
    ',"__proto__":{"ip":"192.0.2.1"}',
    ',"entry":"192.0.2.1"',
    ',"ip":"192.0.2.1"',
    ',"":[]',
    ",",
    "}{",
  ),
})

type Body = typeof anyBody extends fc.Arbitrary<infer One> ? One : never

function jsonOf({ ip, ttl_seconds, reason, more }: Body): string {
  const members = Object.entries({ ip, ttl_seconds, reason }).flatMap(([name, one]) =>
    one === undefined ? [] : [`"${name}":${one.json}`],
  )
  return `{${members.join(",")}${members.length === 0 ? more.replace(/^,(?=")/, "") : more}}`
}

/** The canonical network that the body adds, or `null` if it is to be refused. */
function wanted({ list, ip, ttl_seconds, reason, more }: Body): string | null {
  if (more === "," || more === "}{") return null
  // A second ip is refused; where there is no first, it is the only one.
  if (more.startsWith(',"ip"') && ip !== undefined) return null
  const value = more.startsWith(',"ip"') ? "192.0.2.1" : ip?.value
  const network = typeof value === "string" ? slowParseNetwork(value) : null
  if (network === null) return null
  if (list === "temp") {
    const ttl = ttl_seconds?.value
    if (typeof ttl !== "number" || !Number.isInteger(ttl) || ttl < 1 || ttl > 315_360_000) return null
    if (reason !== undefined) {
      if (typeof reason.value !== "string") return null
      if ([...reason.value].length > 500 || BAD.some((bad) => (reason.value as string).includes(bad)))
        return null
      if (!reason.value.isWellFormed()) return null
    }
  }
  const bits = network.family === 4 ? 32 : 128
  return network.length === bits ? slowText(network) : `${slowText(network)}/${network.length}`
}

test(
  fault(
    "A-20 J-01 J-05 J-06 J-07 J-08 J-10 J-14 J-20",
    "bodies of random shape to both lists: members of every type, left out, twice, and with others beside them",
    "204, 409 or 400 as the README says it of each member; lists and log hold exactly what was acknowledged",
  ),
  async () => {
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
    const server = await runServer({ clock: new FakeClock() })
    const permanent = new Set<string>()
    const temporary = new Set<string>()
    try {
      const bodies = fc.sample(anyBody, { numRuns: rounds(1_500, 60_000), seed })
      const seen = new Map<number, number>()
      let acknowledged = 0
      for (const body of bodies) {
        const json = jsonOf(body)
        const network = wanted(body)
        const own = body.list === "perm" ? permanent : temporary
        const expected = network === null ? 400 : body.list === "perm" && own.has(network) ? 409 : 204
        const answer = await server.api("POST", `/api/whitelist/${body.list}`, json)
        expect({ seed, json, list: body.list, status: answer.status }).toEqual({
          seed,
          json,
          list: body.list,
          status: expected,
        })
        seen.set(expected, (seen.get(expected) ?? 0) + 1)
        if (expected !== 204 || network === null) continue
        acknowledged++
        const result = answer.headers.get("Ipgate-Result")
        expect([json, result]).toEqual([json, own.has(network) ? "replaced" : "added"])
        own.add(network)
        if (acknowledged % 3 !== 0) continue
        const removed = await server.api(
          "DELETE",
          `/api/whitelist/${body.list}/${encodeURIComponent(network)}`,
        )
        expect([removed.status, removed.headers.get("Ipgate-Result")]).toEqual([204, "removed"])
        own.delete(network)
        acknowledged++
      }
      tally("requestsFuzzed", bodies.length)
      for (const status of [204, 400, 409])
        expect([status, (seen.get(status) ?? 0) > 10]).toEqual([status, true])
      const all = async (path: string) => {
        const ips: string[] = []
        for (let offset = 0; offset <= ips.length; offset += 1000) {
          ips.push(
            ...((await server.read(`${path}?limit=1000&offset=${offset}`)) as Array<{ ip: string }>).map(
              ({ ip }) => ip,
            ),
          )
        }
        return ips
      }
      const lists = [await all("/api/whitelist/perm/list"), await all("/api/whitelist/temp/list")] as const
      const lost = permanent.difference(new Set(lists[0])).size + temporary.difference(new Set(lists[1])).size
      tally("lost", lost)
      expect(lists[0].toSorted()).toEqual([...permanent].toSorted())
      expect(lists[1].toSorted()).toEqual([...temporary].toSorted())
      expect((await all("/api/logs")).length).toBe(acknowledged)
      expect(Object.hasOwn({}, "ip") || "ip" in {}).toBe(false)
    } finally {
      await server.stop()
    }
  },
)

const DIGITS = [
  "",
  "0",
  "1",
  "2",
  "999",
  "1000",
  "1001",
  "-1",
  "1e3",
  "0x1",
  "01",
  " 1",
  "1.0",
  "٣",
  "9007199254740993",
  "99999999999999999999",
]
const anyQuery = fc.record({
  path: fc.constantFrom("/api/whitelist/temp", "/api/whitelist/perm/list", "/api/logs", "/api/denied"),
  limit: fc.option(fc.constantFrom(...DIGITS), { nil: undefined }),
  offset: fc.option(fc.constantFrom(...DIGITS), { nil: undefined }),
  action: fc.option(fc.constantFrom("add_temp", "add_perm", "expire_temp", "ADD_PERM", "", "%", "toString"), {
    nil: undefined,
  }),
  ip: fc.option(fc.oneof(repeated, mutatedText), { nil: undefined }),
  twice: fc.constantFrom("", "", "", "limit", "offset", "ip", "action"),
})

test(
  fault(
    "J-11 J-12 J-20",
    "queries of random shape to every list and the log: numbers, filters, each left out, bad, or twice",
    "200 with no more rows than were asked for, or 400 as the README says",
  ),
  async () => {
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
    const server = await runServer()
    try {
      for (let n = 0; n < 4; n++) await server.addPermanent(`10.0.${n}.0`, `10.0.${n}.0/24`)
      for (let n = 0; n < 4; n++) await server.decision(`192.0.2.${n}`)
      const queries = fc.sample(anyQuery, { numRuns: rounds(1_500, 60_000), seed })
      const seen = new Map<number, number>()
      for (const { path, twice, ...members } of queries) {
        const given = Object.entries(members).filter(
          (pair): pair is [string, string] => pair[1] !== undefined,
        )
        const doubled = given.filter(([name]) => name === twice)
        const query = new URLSearchParams([...given, ...doubled]).toString()
        const { limit, offset, action, ip } = members
        const isNumber = (digits: string, least: number, most: number) =>
          /^[0-9]{1,16}$/.test(digits) && Number(digits) >= least && Number(digits) <= most
        const hasFilters = path === "/api/logs"
        const isRight =
          (limit === undefined || isNumber(limit, 1, 1000)) &&
          (offset === undefined || isNumber(offset, 0, Number.MAX_SAFE_INTEGER)) &&
          (!hasFilters || action === undefined || /^(add|delete|expire)_(temp|perm)$/.test(action)) &&
          (!hasFilters || ip === undefined || slowParseNetwork(ip) !== null) &&
          doubled.every(([name]) => !hasFilters && (name === "ip" || name === "action"))
        const answer = await server.api("GET", `${path}?${query}`)
        const expected = isRight ? 200 : 400
        expect({ seed, path, query, status: answer.status }).toEqual({ seed, path, query, status: expected })
        seen.set(expected, (seen.get(expected) ?? 0) + 1)
        if (!isRight) continue
        const rows = (await answer.json()) as Array<{ ip: string; action: string }>
        expect(rows.length).toBeLessThanOrEqual(limit === undefined ? 200 : Number(limit))
        if (hasFilters && action !== undefined)
          expect(rows.filter((row) => row.action !== action)).toEqual([])
      }
      tally("requestsFuzzed", queries.length)
      for (const status of [200, 400]) expect([status, (seen.get(status) ?? 0) > 10]).toEqual([status, true])
    } finally {
      await server.stop()
    }
  },
)
