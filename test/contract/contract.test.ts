// The watch over answers sees what is wrong: each row is an answer that the document does not promise.

import { describe, expect, test } from "bun:test"
import { fault } from "../faults/fault.ts"
import { type Answered, type Asked, faultsOf } from "./contract.ts"

const NO_STORE = { "Cache-Control": "no-store" }
const JSON_HEADERS = { ...NO_STORE, "Content-Type": "application/json" }
const TEXT_HEADERS = {
  ...NO_STORE,
  "Content-Type": "text/plain; charset=utf-8",
  "X-Content-Type-Options": "nosniff",
}
const ADDED = { ...NO_STORE, "Ipgate-Result": "added", "Ipgate-Expires": "2026-11-21T12:00:00.000Z" }
const STATUS = { status: "ok", uptime: "1s", perm_whitelist_count: 0, temp_whitelist_count: 0, db_ok: true }
const ENTRY = { ip: "192.0.2.0/28", reason: "", expires: "2026-11-21T12:00:00.000Z" }

function asked(request: string, body: string | null = null, headers: Record<string, string> = {}): Asked {
  const [method = "", target = ""] = request.split(" ")
  return { method, target, body, headers: new Headers({ Authorization: "Bearer x", ...headers }) }
}

function answered(status: number, headers: Record<string, string>, body: unknown = ""): Answered {
  return {
    status,
    headers: new Headers(headers),
    body: typeof body === "string" ? body : JSON.stringify(body),
  }
}

const GOOD: ReadonlyArray<readonly [request: Asked, answer: Answered]> = [
  [asked("GET /auth"), answered(204, NO_STORE)],
  [asked("GET /auth?x=1"), answered(401, NO_STORE)],
  [asked("PUT /auth"), answered(405, { ...NO_STORE, Allow: "GET" })],
  [asked("PROPFIND /authz/a/b"), answered(403, NO_STORE)],
  [asked("GET /status"), answered(200, JSON_HEADERS, STATUS)],
  [asked("HEAD /status"), answered(200, JSON_HEADERS)],
  [asked("GET /other"), answered(404, TEXT_HEADERS, "not found\n")],
  [asked("GET /api/whitelist/temp"), answered(200, JSON_HEADERS, [ENTRY])],
  [asked("DELETE /api/whitelist/perm/10.0.0.0/8"), answered(204, { ...NO_STORE, "Ipgate-Result": "absent" })],
  [asked("POST /api/whitelist/temp", '{"ip":"192.0.2.7","ttl_seconds":60}'), answered(204, ADDED)],
  [
    asked("GET /api/nothing", null, { Authorization: "x" }),
    answered(401, { ...TEXT_HEADERS, "WWW-Authenticate": "Bearer" }, "no\n"),
  ],
]

const BAD: ReadonlyArray<readonly [fault: string, request: Asked, answer: Answered]> = [
  ["has no such answer", asked("GET /auth"), answered(200, NO_STORE)],
  ["has no such answer", asked("GET /auth"), answered(403, NO_STORE)],
  ["does not have this method", asked("POST /auth"), answered(204, NO_STORE)],
  ["Allow says GET, POST", asked("POST /auth"), answered(405, { ...NO_STORE, Allow: "GET, POST" })],
  ["Cache-Control is missing", asked("GET /auth"), answered(204, {})],
  ["a body that is not documented", asked("GET /auth"), answered(204, NO_STORE, "yes")],
  ["does not have this path", asked("GET /other"), answered(200, NO_STORE)],
  ["does not have this path", asked("GET /other"), answered(401, NO_STORE)],
  ["does not have this path", asked("GET /api/nothing"), answered(204, NO_STORE)],
  ["it may be cached", asked("GET /other"), answered(404, {})],
  ["does not have the header server", asked("GET /auth"), answered(204, { ...NO_STORE, Server: "x" })],
  ["additional properties", asked("GET /status"), answered(200, JSON_HEADERS, { ...STATUS, version: "1" })],
  ["db_ok", asked("GET /status"), answered(200, JSON_HEADERS, { ...STATUS, db_ok: "true" })],
  [
    "content type text/html",
    asked("GET /status"),
    answered(200, { ...NO_STORE, "Content-Type": "text/html" }, "x"),
  ],
  ["HEAD has a body", asked("HEAD /status"), answered(200, JSON_HEADERS, STATUS)],
  [
    "date-time",
    asked("GET /api/whitelist/temp"),
    answered(200, JSON_HEADERS, [{ ...ENTRY, expires: "soon" }]),
  ],
  ["ip", asked("GET /api/whitelist/temp"), answered(200, JSON_HEADERS, [{ ...ENTRY, ip: "localhost" }])],
  ["no such answer", asked("GET /api/decisions"), answered(400, TEXT_HEADERS, "no\n")],
  [
    "Ipgate-Expires is missing",
    asked("POST /api/whitelist/temp", '{"ip":"192.0.2.7","ttl_seconds":60}'),
    answered(204, { ...NO_STORE, "Ipgate-Result": "added" }),
  ],
  [
    "allowed values",
    asked("DELETE /api/whitelist/perm/192.0.2.7"),
    answered(204, { ...NO_STORE, "Ipgate-Result": "added" }),
  ],
  ["WWW-Authenticate is missing", asked("GET /api/decisions"), answered(401, TEXT_HEADERS, "no\n")],
  ["fewer than 1", asked("GET /api/decisions"), answered(500, TEXT_HEADERS, "")],
  [
    "it wants no token",
    asked("GET /api/whitelist/temp", null, { Authorization: "" }),
    answered(200, JSON_HEADERS, []),
  ],
  ["limit=1001", asked("GET /api/whitelist/temp?limit=1001"), answered(200, JSON_HEADERS, [])],
  [
    "without ip",
    asked("GET /api/check"),
    answered(200, JSON_HEADERS, { ip: "::1", allowed: false, matched_by: null }),
  ],
  ["that was taken", asked("POST /api/whitelist/temp", '{"ip":"192.0.2.7"}'), answered(204, ADDED)],
]

describe(
  fault(
    "J-20",
    "answers that the document does not promise, before the watch that sees all answers of the tests",
    "each is found",
  ),
  () => {
    test.each(
      GOOD.map(
        ([request, answer]) => [request.method, request.target, answer.status, request, answer] as const,
      ),
    )("%s %s %i is as the document says", (_method, _target, _status, request, answer) => {
      expect(faultsOf(request, answer)).toEqual([])
    })

    test.each(
      BAD.map(
        ([fault, request, answer]) => [request.method, request.target, fault, request, answer] as const,
      ),
    )("%s %s: %s", (_method, _target, fault, request, answer) => {
      expect(faultsOf(request, answer).join()).toContain(fault)
    })
  },
)
