// Who may ask for what: every endpoint of the route table, with a token of every scope, over the wire.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { TOKEN_SCOPES, type TokenScope } from "../../src/core/token.ts"
import { API_ENDPOINTS } from "../../src/http/api.ts"
import { endpointsWithScopes, mayAsk, scopesOf } from "../../src/http/scopes.ts"
import { fault } from "../faults/fault.ts"
import { type RunningServer, runServer } from "../support/running-server.ts"

/** What each scope may ask for, as the README says it. An endpoint without a line here is one that nobody has thought of. */
const EXPECTED: Readonly<Record<string, readonly TokenScope[]>> = {
  "GET /api/whitelist/perm/list": ["read", "write"],
  "POST /api/whitelist/perm": ["write"],
  "DELETE /api/whitelist/perm/{ip}": ["write"],
  "GET /api/whitelist/temp": ["read", "write"],
  "GET /api/whitelist/temp/list": ["read", "write"],
  "POST /api/whitelist/temp": ["write", "temp-only", "self"],
  "DELETE /api/whitelist/temp/{ip}": ["write", "temp-only"],
  "POST /api/whitelist/import": ["write"],
  "GET /api/whitelist/export": ["read", "write"],
  "GET /api/backup": [],
  "GET /api/logs": ["read", "write"],
  "GET /api/events": ["read", "write"],
  "GET /api/denied": ["read", "write"],
  "GET /api/decisions": ["read", "write"],
  "GET /api/check": ["read", "write", "temp-only", "self"],
  "GET /openapi.json": ["read", "write", "temp-only", "self"],
  "GET /api/tokens": [],
  "POST /api/tokens": [],
  "DELETE /api/tokens/{name}": [],
}

const OWN = "203.0.113.7"

let server: RunningServer
const secrets = new Map<TokenScope, string>()

beforeAll(async () => {
  server = await runServer()
  for (const scope of TOKEN_SCOPES) {
    const limit = scope === "temp-only" || scope === "self" ? { max_ttl_seconds: 60 } : {}
    const answer = await server.api("POST", "/api/tokens", { name: `a-${scope}`, scope, ...limit })
    secrets.set(scope, ((await answer.json()) as { token: string }).token)
  }
})
afterAll(() => server.stop())

test("every endpoint of the route table has a rule, and every rule an endpoint", () => {
  expect(API_ENDPOINTS.length).toBeGreaterThan(15)
  expect(API_ENDPOINTS.toSorted()).toEqual(endpointsWithScopes().toSorted())
  expect(API_ENDPOINTS.toSorted()).toEqual(Object.keys(EXPECTED).toSorted())
})

test("an endpoint without a rule is refused to every scope", () => {
  for (const name of ["GET /api/new", "constructor", "__proto__", "get /api/logs"]) {
    expect(scopesOf(name)).toBeNull()
    for (const scope of TOKEN_SCOPES) {
      expect(mayAsk({ name: "x", scope, maxTtlSeconds: null, within: null }, name)).toBe(false)
    }
  }
})

/** A request that makes sense for everybody who may ask at all. */
function ask(endpoint: string, secret: string): Promise<Response> {
  const [method = "", path = ""] = endpoint.split(" ")
  const target =
    path.replace("{ip}", OWN).replace("{name}", "nobody") + (path === "/api/check" ? `?ip=${OWN}` : "")
  const body =
    endpoint === "POST /api/whitelist/import"
      ? "198.51.100.99\n"
      : method === "POST"
        ? JSON.stringify({ ip: OWN, ttl_seconds: 60, name: "another", scope: "read" })
        : undefined
  return server.request(method, target, {
    headers: { Authorization: `Bearer ${secret}`, "X-Real-IP": OWN },
    ...(body === undefined ? {} : { body }),
  })
}

describe(
  fault(
    "B-11",
    "every endpoint of the route table with a token of every scope",
    "403 insufficient_scope where the scope does not name it, and nothing changed",
  ),
  () => {
    describe.each(API_ENDPOINTS)("%s", (endpoint) => {
      test.each(TOKEN_SCOPES)("%s", async (scope) => {
        const before = await server.audit()
        const answer = await ask(endpoint, secrets.get(scope) ?? "")
        if (EXPECTED[endpoint]?.includes(scope)) {
          expect([200, 204, 409]).toContain(answer.status)
          await answer.body?.cancel()
          return
        }
        expect([answer.status, answer.headers.get("WWW-Authenticate")]).toEqual([
          403,
          'Bearer error="insufficient_scope"',
        ])
        expect(answer.headers.get("Content-Type")).toBe("text/plain; charset=utf-8")
        expect(await answer.text()).toStartWith(`the token a-${scope} may `)
        expect(await server.audit()).toEqual(before)
      })

      test("and the token of the token file may", async () => {
        const answer = await ask(endpoint, server.token)
        expect(answer.status === 404 ? endpoint : answer.status).not.toBe(403)
        await answer.body?.cancel()
      })
    })
  },
)

test("a token without the scope is refused before its body is read, and after path and method", async () => {
  const headers = { Authorization: `Bearer ${secrets.get("read")}` }
  const status = async (method: string, path: string, body?: string) =>
    (await server.request(method, path, { headers, ...(body === undefined ? {} : { body }) })).status
  expect(await status("POST", "/api/whitelist/perm", "{ no json")).toBe(403)
  expect(await status("POST", "/api/whitelist/import", "no network\n")).toBe(403)
  expect(await status("PUT", "/api/whitelist/perm")).toBe(405)
  expect(await status("GET", "/api/unknown")).toBe(404)
})
