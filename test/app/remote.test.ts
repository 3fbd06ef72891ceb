// Servers that are slow, and answers that break off: what the gate of a running server says then.

import { afterEach, describe, expect, jest, spyOn, test } from "bun:test"
import { createServer, type Socket } from "node:net"
import { runFeed } from "../../cli/watch/feed.ts"
import type { News } from "../../cli/watch/model.ts"
import { openRemoteGate, openRemoteTokens } from "../../src/app/remote.ts"
import { GateError } from "../../src/core/errors.ts"
import type { Gate } from "../../src/core/gate.ts"
import type { TokenRegistry } from "../../src/core/token.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { TOKEN } from "../support/gate-openers.ts"
import { network } from "../support/parsed.ts"

const IP = network("192.0.2.1")
const PAGE = { limit: 10, offset: 0 }
/** Short ones, all of them others, so that a message tells which one it was. */
const PATIENCE = { question: 20, change: 30, bulk: 40 }

type Ask = (gate: Gate) => Promise<unknown>
const all = (stream: AsyncIterable<unknown>) => Array.fromAsync(stream)
const LINES = new TextEncoder().encode("192.0.2.1\n")

const QUESTIONS: ReadonlyArray<readonly [name: string, ask: Ask]> = [
  ["status", (gate) => gate.status()],
  ["check", (gate) => gate.check(IP)],
  ["listTemporary", (gate) => gate.listTemporary(PAGE)],
  ["audit", (gate) => gate.audit(PAGE)],
]
const CHANGES: ReadonlyArray<readonly [name: string, ask: Ask]> = [
  ["addPermanent", (gate) => gate.addPermanent(IP)],
  ["removePermanent", (gate) => gate.removePermanent(IP)],
  ["addTemporary", (gate) => gate.addTemporary({ network: IP, ttlSeconds: 60, reason: null })],
]
const IMPORT = ["import", (gate: Gate) => gate.import({ lines: LINES.slice(), prune: null })] as const
const STREAMS: ReadonlyArray<readonly [name: string, ask: Ask, what: string]> = [
  ["export", (gate) => all(gate.export()), "the export"],
  ["backup", (gate) => all(gate.backup()), "the backup"],
]

const stops: Array<() => void> = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** A listener that does this with every connection as soon as something was asked. */
async function listener(answer: (socket: Socket, asked: string) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.once("data", (asked) => answer(socket, asked.toString("latin1")))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  stops.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the listener has no port")
  return `127.0.0.1:${address.port}`
}

const silent = () => listener(() => {})

/** A body whose end never comes. */
const unfinished = (status = 200) =>
  listener((socket) => socket.write(`HTTP/1.1 ${status} X\r\nContent-Length: 100\r\n\r\n[1,`))

/** A body that is cut off in its middle. */
const broken = (status = 200) =>
  listener((socket) =>
    socket.write(`HTTP/1.1 ${status} X\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n`, () =>
      socket.end(),
    ),
  )

async function refusal(call: Promise<unknown>): Promise<Pick<GateError, "code" | "message" | "hint">> {
  const error: unknown = await call.then(
    () => "fulfilled",
    (error) => error,
  )
  expect(error).toBeInstanceOf(GateError)
  const { code, message, hint } = error as GateError
  return { code, message, hint }
}

const late = (name: string, milliseconds: number, hint?: string) => ({
  code: "unavailable" as const,
  message: `the server at ${name} has not answered within ${milliseconds / 1000} s: it may be busy with an import or a backup`,
  hint,
})
const UNSURE = "the change may still take effect: ask with `ipgate check` before you repeat it"

describe.each([
  ["says nothing", silent],
  ["begins an answer and does not end it", unfinished],
  ["begins an error and does not end it", () => unfinished(500)],
])("a server that %s", (_, listen) => {
  test.each(QUESTIONS)("is late for %s", async (_, ask) => {
    const name = await listen()
    const gate = openRemoteGate(name, () => TOKEN, PATIENCE)
    expect(await refusal(ask(gate))).toEqual(late(name, PATIENCE.question))
  })

  test.each(STREAMS)("is late for %s, which may take longer", async (_, ask) => {
    const name = await listen()
    const gate = openRemoteGate(name, () => TOKEN, PATIENCE)
    expect(await refusal(ask(gate))).toEqual(late(name, PATIENCE.bulk))
  })

  test("is late for an import, which may be done all the same", async () => {
    const name = await listen()
    const [, ask] = IMPORT
    const gate = openRemoteGate(name, () => TOKEN, PATIENCE)
    expect(await refusal(ask(gate))).toEqual(late(name, PATIENCE.bulk, UNSURE))
  })
})

test.each(CHANGES)("%s may be done all the same when its answer is late", async (_, ask) => {
  const name = await silent()
  const gate = openRemoteGate(name, () => TOKEN, PATIENCE)
  expect(await refusal(ask(gate))).toEqual(late(name, PATIENCE.change, UNSURE))
})

test("a server with https is asked over TLS", async () => {
  let firstByte: number | undefined
  const name = await listener((socket, asked) => {
    firstByte = asked.charCodeAt(0)
    socket.destroy()
  })
  await refusal(openRemoteGate(`https://${name}/`, () => TOKEN).status())
  // The type of a record of the handshake: RFC 8446, section 5.1.
  expect(firstByte).toBe(22)
})

describe("nobody waits for ever", () => {
  afterEach(() => {
    jest.useRealTimers()
  })

  test.each<readonly [name: string, milliseconds: number, ask: Ask, hint: string | undefined]>([
    ["a question", 10_000, (gate) => gate.status(), undefined],
    ["a change of one entry", 60_000, (gate) => gate.removePermanent(IP), UNSURE],
    ["what is for many", 600_000, (gate) => all(gate.export()), undefined],
  ])("an answer to %s may take %d ms", async (_, milliseconds, ask, hint) => {
    const name = await silent()
    const limits = spyOn(globalThis, "fetch")
    jest.useFakeTimers()
    try {
      const asked = refusal(ask(openRemoteGate(name, () => TOKEN)))
      jest.advanceTimersByTime(milliseconds - 1)
      expect(jest.getTimerCount()).toBe(1)
      jest.advanceTimersByTime(1)
      expect(await asked).toEqual(late(name, milliseconds, hint))
      // The runtime would give up sooner by itself.
      expect(limits.mock.calls[0]?.[1]).toMatchObject({ timeout: false })
    } finally {
      limits.mockRestore()
    }
  })
})

test("whether a token was made is asked of the list of tokens", async () => {
  const name = await silent()
  const tokens = openRemoteTokens(name, () => TOKEN, PATIENCE)
  const hint = "the change may still take effect: ask with `ipgate token list` before you repeat it"
  const request = {
    name: "ci",
    scope: "read",
    maxTtlSeconds: null,
    within: null,
    lifetimeSeconds: null,
  } as const
  const changes: ReadonlyArray<(tokens: TokenRegistry) => Promise<unknown>> = [
    (tokens) => tokens.create(request),
    (tokens) => tokens.revoke("ci"),
  ]
  for (const change of changes) {
    expect(await refusal(change(tokens))).toEqual(late(name, PATIENCE.change, hint))
  }
  expect(await refusal(tokens.list(PAGE))).toEqual(late(name, PATIENCE.question))
})

describe("a connection that is closed", () => {
  test("before an answer is told as that, and a change may have been made", async () => {
    const name = await listener((socket) => socket.destroy())
    const gate = openRemoteGate(name, () => TOKEN)
    const message = `the server at ${name} has closed the connection without an answer`
    for (const [, ask] of QUESTIONS) {
      expect(await refusal(ask(gate))).toEqual({ code: "unavailable", message, hint: undefined })
    }
    for (const [, ask] of [...CHANGES, IMPORT]) {
      expect(await refusal(ask(gate))).toEqual({ code: "unavailable", message, hint: UNSURE })
    }
  })

  test.each([200, 500])("in the middle of an answer of status %d is told in our words", async (status) => {
    const gate = openRemoteGate(await broken(status), () => TOKEN)
    for (const [, ask] of [...QUESTIONS, IMPORT]) {
      const message = "the server has broken off its answer"
      expect(await refusal(ask(gate))).toEqual({ code: "unavailable", message, hint: undefined })
    }
  })

  test.each(STREAMS)("in the middle of %s is told in our words", async (_, ask, what) => {
    const gate = openRemoteGate(await broken(), () => TOKEN)
    const message = `the server has broken off ${what}`
    expect(await refusal(ask(gate))).toEqual({ code: "unavailable", message, hint: undefined })
  })

  test("in the middle of the stream of changes is told in our words", async () => {
    const gate = openRemoteGate(await broken(), () => TOKEN)
    expect(await refusal(all(gate.follow({ tail: 1 }, {}, new AbortController().signal)))).toEqual({
      code: "unavailable",
      message: "the server has broken off the stream of changes",
      hint: undefined,
    })
  })

  test("in the middle of every answer does not end the screen of watch", async () => {
    const gate = openRemoteGate(await broken(), () => TOKEN)
    const stopped = new AbortController()
    const problems: string[] = []
    const tell = (news: News) => {
      if (news.kind === "lost") problems.push(news.problem)
      if (problems.length === 4) stopped.abort()
    }
    const sleep = () => Promise.resolve()
    await runFeed({ gate, clock: new FakeClock(), sleep, signal: stopped.signal, tell })
    expect([...new Set(problems)].sort()).toEqual([
      "the server has broken off its answer",
      "the server has broken off the stream of changes",
    ])
  })
})
