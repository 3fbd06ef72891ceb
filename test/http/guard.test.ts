// The guard, through a real server: whatever goes wrong in a handler, nothing that looks like "let in" comes out.

import { beforeAll, describe, expect, test } from "bun:test"
import { GateError, type GateErrorCode } from "../../src/core/errors.ts"
import type { Gate } from "../../src/core/gate.ts"
import type { TokenRegistry } from "../../src/core/token.ts"
import { BearerTokens } from "../../src/http/bearer.ts"
import { ClientAddresses } from "../../src/http/client-address.ts"
import { FailedSenders } from "../../src/http/failed-senders.ts"
import { guarded, type Handler } from "../../src/http/guard.ts"
import { type RouteParts, routes } from "../../src/http/routes.ts"
import { type Listener, listen } from "../../src/http/server.ts"
import type { Log } from "../../src/log/log.ts"
import { fault } from "../faults/fault.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { lineLog } from "../support/line-log.ts"
import { ask, RawConnection, requestText } from "../support/raw-http.ts"
import { ANY_PORT, TOKEN } from "../support/running-server.ts"
import { DEFAULT_TRUSTED_PROXIES } from "../support/trusted-proxies.ts"
import { answersToFaults, FAULTS, type FaultAnswer, SECRET } from "./faulty-handlers.ts"

const BODY = "internal error; the server's log has the details\n"

describe(
  fault(
    "H-01 H-02",
    "handlers that return, throw and reject with everything but a Response, at once and later",
    "500, no word of the inside",
  ),
  () => {
    let answers: FaultAnswer[]

    beforeAll(async () => {
      answers = await answersToFaults("guarded")
    })

    test.each(FAULTS.map(([name], i) => [name, i]))("%s", (_name, i) => {
      expect(answers[i as number]).toMatchObject({ status: 500, body: BODY })
    })

    test("and the answer says nothing about the inside", () => {
      for (const { headers } of answers) {
        expect(headers).toEqual({
          "cache-control": "no-store",
          "content-length": String(BODY.length),
          "content-type": "text/plain; charset=utf-8",
          "x-content-type-options": "nosniff",
        })
      }
    })
  },
)

test.each([undefined, "development", "production", "test", ""])(
  `${fault("H-03", "the same under every NODE_ENV", "the same answers")} (NODE_ENV %p changes none of these answers)`,
  async (mode) => {
    const answers = await answersOfProcess("guarded", mode)
    for (const { name, status, body } of answers) expect([name, status, body]).toEqual([name, 500, BODY])
  },
)

async function answersOfProcess(kind: string, mode: string | undefined): Promise<FaultAnswer[]> {
  const { NODE_ENV: _own, ...env } = process.env
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/faulty-handlers.ts`, kind], {
    env: mode === undefined ? env : { ...env, NODE_ENV: mode },
    stdout: "pipe",
    stderr: "ignore",
  })
  const answers = JSON.parse(await child.stdout.text()) as FaultAnswer[]
  expect([await child.exited, answers.length]).toEqual([0, FAULTS.length])
  return answers
}

describe(
  fault(
    "H-01 S-01",
    "the same handlers without the guard, in the pinned Bun",
    "204, which is why there is a guard",
  ),
  () => {
    let answers: Map<string, FaultAnswer>

    beforeAll(async () => {
      const all = await answersOfProcess("bare", undefined)
      answers = new Map(all.map((answer) => [answer.name, answer]))
    })

    // The reason for the guard. If this fails, Bun has changed: read its notes and think again.
    test.each(["returns undefined", "returns a string", "resolves to null", "resolves later to an object"])(
      "Bun makes a 204 of a handler that %s",
      (name) => {
        expect(answers.get(name)?.status).toBe(204)
      },
    )

    // `error` of the server answers these; an asynchronous one that resolves to nothing would be a 204, too.
    const thrown = FAULTS.map(([name]) => name).filter((name) => /^(throws|rejects)/.test(name))

    test.each(thrown)("a handler that %s is still a 500, without a word of the inside", (name) => {
      expect(answers.get(name)).toMatchObject({ status: 500, body: BODY })
    })
  },
)

describe("a good answer goes through as it is", () => {
  test.each<readonly [string, Handler]>([
    ["at once", () => new Response("x", { status: 418 })],
    ["later", async () => new Response("x", { status: 418 })],
    ["of a class of its own", () => new (class extends Response {})("x", { status: 418 })],
  ])("%s", async (_when, handler) => {
    const failed = () => new Response(null, { status: 500 })
    const answer = guarded(handler, failed)(new Request("http://gate.test/"), null)
    expect((await answer).status).toBe(418)
  })

  test("synchronously where the handler is", () => {
    const response = new Response(null, { status: 401 })
    const handle = guarded(
      () => response,
      () => new Response(null, { status: 500 }),
    )
    expect(handle(new Request("http://gate.test/"), null)).toBe(response)
  })
})

describe(
  fault(
    "H-02",
    "every part behind the routes throws, also the log",
    "500, 403 of /authz, and the server goes on",
  ),
  () => {
    const lines: string[] = []
    const recording = lineLog((line) => lines.push(line), new FakeClock())
    const broken: Log = { debug: fail, info: fail, notice: fail, warn: fail, error: fail }

    function fail(): never {
      throw new Error(SECRET)
    }

    /** A gate of which every operation goes wrong. */
    const brokenGate = (fault: () => unknown) => new Proxy({} as Gate, { get: () => fault })

    async function withServer<T>(
      parts: Partial<RouteParts>,
      use: (listener: Listener) => Promise<T>,
    ): Promise<T> {
      const listener = listen(
        ANY_PORT,
        routes({
          decide: fail,
          clients: new ClientAddresses(DEFAULT_TRUSTED_PROXIES, "X-Real-IP"),
          tokens: new BearerTokens([TOKEN]),
          failures: new FailedSenders(new FakeClock()),
          registry: { as: () => new Proxy({} as TokenRegistry, { get: () => fail }) },
          gateFor: fail,
          log: recording,
          ...parts,
        }),
      )
      lines.length = 0
      try {
        return await use(listener)
      } finally {
        await listener.stop()
      }
    }

    const bearer = `Authorization: Bearer ${TOKEN}`

    const statuses = (
      parts: Partial<RouteParts>,
      ...questions: ReadonlyArray<readonly [string, string[]?]>
    ) =>
      withServer(parts, async ({ address }) => {
        const found: number[] = []
        for (const [line, headers = []] of questions) {
          const answer = await ask(address, requestText(line, headers))
          expect(answer.body + answer.head).not.toContain(SECRET)
          expect(answer.body).not.toMatch(/\.ts\b|\/src\/|\bat |Error/)
          found.push(answer.status)
        }
        return found
      })

    const EVERY: ReadonlyArray<readonly [string, string[]?]> = [
      ["GET /auth"],
      ["GET /authz"],
      ["POST /authz/x"],
      ["GET /status"],
      ["GET /api/logs", [bearer]],
      ["DELETE /api/whitelist/perm/192.0.2.7", [bearer]],
    ]

    // Envoy may be told to let everybody in after a 5xx, so that /authz has to say a plain "no".
    test("everything throws: 500, but 403 of /authz", async () => {
      expect(await statuses({}, ...EVERY)).toEqual([500, 403, 403, 500, 500, 500])
      expect(lines.length).toBe(EVERY.length)
      for (const line of lines) {
        expect(line).toContain("a request failed in a way that should not happen")
        expect(line).toContain(SECRET)
        expect(line.indexOf("\n")).toBe(line.length - 1)
      }
    })

    test("each decision that throws is told of, and nothing else is", async () => {
      let told = 0
      const decisionFailed = () => {
        told++
      }
      for (const [line, status, more] of [
        ["GET /auth", 500, 1],
        ["GET /authz", 403, 1],
        ["POST /authz/x", 403, 1],
        ["GET /status", 500, 0],
      ] as const) {
        told = 0
        expect(await statuses({ decisionFailed }, [line])).toEqual([status])
        expect([line, told]).toEqual([line, more])
      }
      expect(await statuses({ decide: () => true, decisionFailed }, ["GET /auth"], ["GET /authz"])).toEqual([
        204, 200,
      ])
      expect(told).toBe(0)
    })

    test("even the log throws: the same", async () => {
      expect(await statuses({ log: broken }, ...EVERY)).toEqual([500, 403, 403, 500, 500, 500])
    })

    test("the gate rejects with what cannot be written down: the same", async () => {
      const unspeakable = new Proxy({}, { get: (_target, name) => (name === "then" ? undefined : fail()) })
      for (const fault of [204n, unspeakable, Object.assign(new Error(), { message: 204n, stack: 204n })]) {
        const thrown = () => {
          throw fault
        }
        const parts = { decide: thrown, gateFor: () => brokenGate(async () => thrown()) }
        expect(await statuses(parts, ...EVERY)).toEqual([500, 403, 403, 500, 500, 500])
      }
    })

    // Only `true` may let in: a promise, for one, is true to an `if`.
    test.each<readonly [string, unknown]>([
      ["undefined", undefined],
      ["null", null],
      ["0", 0],
      ["1", 1],
      ["text", "true"],
      ["an object", {}],
      ["a promise of false", Promise.resolve(false)],
      ["a promise of true", Promise.resolve(true)],
      ["a response", new Response(null, { status: 204 })],
    ])("a decision of %s is no", async (_what, value) => {
      const decide = (() => value) as unknown as RouteParts["decide"]
      expect(await statuses({ decide }, ["GET /auth"], ["GET /authz"])).toEqual([401, 403])
    })

    test("true is yes", async () => {
      expect(await statuses({ decide: () => true }, ["GET /auth"], ["GET /authz"])).toEqual([204, 200])
    })

    const CODES: ReadonlyArray<readonly [GateErrorCode, number, logged: number]> = [
      ["invalid", 400, 0],
      ["unauthorized", 401, 0],
      ["forbidden", 403, 0],
      ["conflict", 409, 0],
      ["unavailable", 500, 1],
      ["failed", 500, 1],
    ]

    test.each(CODES)(
      "the gate says %s: %i, with the message, and nothing of the cause",
      async (code, status, logged) => {
        const gate = brokenGate(async () => {
          throw new GateError(code, "what is wrong and what to do", { cause: new Error(SECRET) })
        })
        await withServer({ gateFor: () => gate }, async ({ address }) => {
          for (const line of [
            "GET /api/logs",
            "GET /api/whitelist/temp",
            "DELETE /api/whitelist/temp/192.0.2.7",
          ]) {
            lines.length = 0
            const answer = await ask(address, requestText(line, [bearer]))
            expect([answer.status, answer.body]).toEqual([status, "what is wrong and what to do\n"])
            expect(Object.fromEntries(answer.headers)).toMatchObject({
              "Content-Type": "text/plain; charset=utf-8",
              "Cache-Control": "no-store",
              "X-Content-Type-Options": "nosniff",
            })
            expect(lines.length).toBe(logged)
            for (const line of lines) expect(line).toContain(SECRET)
          }
        })
      },
    )

    test("a hint of the gate goes with its message, on a line of its own", async () => {
      const gate = brokenGate(async () => {
        throw new GateError("failed", "what is wrong", { hint: "what to do" })
      })
      await withServer({ gateFor: () => gate }, async ({ address }) => {
        const { body } = await ask(address, requestText("GET /api/logs", [bearer]))
        expect(body).toBe("what is wrong\n  what to do\n")
      })
    })

    test("a gate that reads nothing: 500, and no empty list", async () => {
      const parts = { gateFor: () => brokenGate(async () => undefined) }
      const reads = [
        "/api/logs",
        "/api/whitelist/perm/list",
        "/api/whitelist/temp",
        "/api/check?ip=192.0.2.7",
      ]
      const questions = [["GET /status"] as const, ...reads.map((path) => [`GET ${path}`, [bearer]] as const)]
      expect(await statuses(parts, ...(questions as typeof EVERY))).toEqual([500, 500, 500, 500, 500])
    })

    test("a fault does not end the connection, nor the server", async () => {
      await withServer({}, async ({ address }) => {
        using connection = await RawConnection.open(address)
        for (let i = 0; i < 20; i++) {
          expect((await connection.ask(requestText("GET /auth"))).status).toBe(500)
          expect((await connection.ask(requestText("GET /authz"))).status).toBe(403)
          expect((await connection.ask(requestText("GET /nothing"))).status).toBe(404)
        }
      })
    })
  },
)
