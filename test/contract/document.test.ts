// The document itself: valid, whole, and of the same operations as the server, in both directions.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Validator } from "@seriousme/openapi-schema-validator"
import Ajv2020 from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { BearerTokens } from "../../src/http/bearer.ts"
import { ClientAddresses } from "../../src/http/client-address.ts"
import { FailedSenders } from "../../src/http/failed-senders.ts"
import { routes } from "../../src/http/routes.ts"
import { openApiText } from "../../src/openapi/document.ts"
import { API_PREFIX } from "../../src/wire/paths.ts"
import { fault } from "../faults/fault.ts"
import { Workplace } from "../support/binary.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { silentLog } from "../support/gate-openers.ts"
import { type RunningServer, runServer } from "../support/running-server.ts"
import { DEFAULT_TRUSTED_PROXIES } from "../support/trusted-proxies.ts"
import { DOCUMENT } from "./contract.ts"

const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
)

let server: RunningServer
beforeAll(async () => {
  server = await runServer()
  await server.api("POST", "/api/tokens", { name: "ci", scope: "read" })
})
afterAll(() => server.stop())

describe("the document", () => {
  test("is one of OpenAPI 3.1, by its meta-schema", async () => {
    const validator = new Validator()
    expect(await validator.validate(JSON.parse(openApiText()))).toMatchObject({ valid: true })
    expect(validator.version).toBe("3.1")
    const { info: _, ...broken } = JSON.parse(openApiText())
    expect((await new Validator().validate(broken)).valid).toBe(false)
  })

  test("refers to nothing that it does not have, and has nothing that nobody refers to", () => {
    const references = new Set(
      [...openApiText().matchAll(/"\$ref": "#\/components\/([^"]+)"/g)].map(([, to]) => to),
    )
    const { securitySchemes: _, ...components } = DOCUMENT.components as Record<string, object>
    const there = Object.entries(components).flatMap(([kind, items]) =>
      Object.keys(items).map((name) => `${kind}/${name}`),
    )
    expect([...references].toSorted()).toEqual(there.toSorted())
  })

  test("has schemas without a word that JSON Schema does not know", () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })
    addFormats(ajv)
    const { schemas } = DOCUMENT.components as { schemas: Record<string, object> }
    const bodies = OPERATIONS.flatMap(({ operation }) => Object.values(operation.requestBody?.content ?? {}))
    const parameters = OPERATIONS.flatMap(({ operation }) => operation.parameters ?? [])
    ajv.addSchema({ $id: "all", $defs: schemas })
    const local = (schema: object) =>
      JSON.parse(JSON.stringify(schema).replaceAll("#/components/schemas/", "all#/$defs/"))
    for (const name of Object.keys(schemas))
      expect(() => ajv.compile(local(schemas[name] ?? {}))).not.toThrow()
    for (const { schema } of [...bodies, ...parameters])
      expect(() => ajv.compile(local(schema))).not.toThrow()
  })

  test("gives each operation a name of its own, and declares what stands in braces", () => {
    const names = OPERATIONS.map(({ operation }) => operation.operationId)
    expect(new Set(names).size).toBe(names.length)
    for (const { path, operation } of OPERATIONS) {
      const declared = operation.parameters?.filter((one) => one.in === "path").map(({ name }) => name) ?? []
      expect(declared).toEqual([...path.matchAll(/\{(.+?)\}/g)].map(([, name]) => name as string))
    }
  })
})

describe(
  fault(
    "B-16 J-20",
    "every operation of the document asked for, and every other method",
    "server and document have the same",
  ),
  () => {
    test("routes", () => {
      const { paths } = routes({
        decide: () => false,
        clients: new ClientAddresses(DEFAULT_TRUSTED_PROXIES, "X-Real-IP"),
        tokens: new BearerTokens([]),
        failures: new FailedSenders(new FakeClock()),
        registry: { as: () => expect.unreachable() },
        gateFor: () => expect.unreachable(),
        log: silentLog,
      })
      const served = Object.keys(paths).filter((path) => path !== "/api" && path !== `${API_PREFIX}*`)
      const documented = Object.keys(DOCUMENT.paths).map((path) => path.replace(/\{[a-z]+\}$/, "*"))
      expect(documented.toSorted()).toEqual(served.toSorted())
    })

    test.each(OPERATIONS.map((one) => [`${one.method} ${one.path}`, one] as const))(
      "%s",
      async (_name, { method, path }) => {
        const target = path.replace("{ip}", "192.0.2.7").replace("{name}", "ci").replace("{path}", "a/b")
        const control = new AbortController()
        // fetch sends no TRACE. The watch over answers compares the methods of each path with Allow.
        const answer = await server.request(method === "TRACE" ? "PUT" : method, target, {
          headers: { Authorization: `Bearer ${server.token}` },
          signal: control.signal,
        })
        const { status } = answer
        control.abort()
        expect(status).not.toBe(404)
        expect(status).not.toBe(405)
      },
    )

    test.each(Object.keys(DOCUMENT.paths).filter((path) => !path.startsWith("/authz")))(
      "methods of %s, and no other",
      async (path) => {
        const target = path.replace("{ip}", "192.0.2.7").replace("{name}", "ci")
        const documented = Object.keys(DOCUMENT.paths[path] ?? {}).map((method) => method.toUpperCase())
        for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
          if (documented.includes(method)) continue
          const { status, headers } = await server.api(method, target)
          expect([method, status, headers.get("Allow")?.split(", ").toSorted()]).toEqual([
            method,
            405,
            documented.toSorted(),
          ])
        }
      },
    )
  },
)

describe("/openapi.json", () => {
  test("is the document, and the binary prints the same bytes", async () => {
    const answer = await server.api("GET", "/openapi.json")
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, "application/json"])
    const text = await answer.text()
    expect(text).toBe(openApiText())
    await using place = await Workplace.make()
    expect(await place.ipgate(["openapi"])).toEqual({ code: 0, stdout: text, stderr: "" })
    expect((await place.ipgate(["openapi", "--json", "--quiet"])).stdout).toBe(text)
  })

  test("says no to who has no token: a proxy that asks there lets nobody in", async () => {
    await server.addPermanent("192.0.2.7")
    for (const method of ["GET", "HEAD", "POST"]) {
      const headers = { "X-Real-IP": "192.0.2.7" }
      expect((await server.request(method, "/openapi.json", { headers })).status).toBe(401)
    }
  })
})
