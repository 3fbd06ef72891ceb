// Requests that are hostile in their method, path, headers, body and framing, to every route, at random and by table.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { requestText } from "../support/raw-http.ts"
import { type RunningServer, runServer } from "../support/running-server.ts"
import { exchange } from "./exchange.ts"
import { fault } from "./fault.ts"
import {
  allowedFor,
  anyHostile,
  bytesOf,
  DOCUMENTED,
  HOSTILE_HEADERS,
  LISTED,
  OTHER,
  REFUSALS,
} from "./hostile-request.ts"
import { rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(600_000)

let server: RunningServer
let to: { kind: "tcp"; hostname: string; port: number }

beforeAll(async () => {
  server = await runServer()
  if (server.address.kind !== "tcp") throw new Error("the server listens elsewhere")
  to = server.address
  await server.addPermanent(LISTED)
})
afterAll(() => server.stop())

test(
  fault(
    "H-14 H-15 H-17 H-18 H-21 J-20 B-16 T-08",
    "requests of random methods, targets, headers, bodies and framings to every route, each with a probe behind it",
    "a documented answer or a refusal; no 2xx but the documented ones, no second answer, no 500, and the lists as they should be",
  ),
  async () => {
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
    const requests = fc.sample(anyHostile, { numRuns: rounds(4_000, 60_000), seed })
    const seen = new Map<number, number>()
    let letIn = 0
    const faults: unknown[] = []
    // Forty-eight at a time: most of the time of an exchange is waiting.
    const next = requests[Symbol.iterator]()
    const worker = async () => {
      for (const hostile of next) {
        const data = bytesOf(hostile, server.token)
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
    await Promise.all(Array.from({ length: 48 }, worker))
    tally("requestsFuzzed", requests.length)
    tally("letIn", letIn)
    expect({ seed, faults: faults.slice(0, 5) }).toEqual({ seed, faults: [] })
    // Not everything was refused for its framing before it reached a route.
    for (const status of [200, 204, 400, 401, 403, 404, 405])
      expect([status, (seen.get(status) ?? 0) > 0]).toEqual([status, true])

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

    test.each(HOSTILE_HEADERS.map((header) => [header.slice(0, 60), header]))("%j", async (_, header) => {
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
