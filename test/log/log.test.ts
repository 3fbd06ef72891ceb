// The log: one line an event, whatever the event contains.

import { describe, expect, test } from "bun:test"
import type { LogFields } from "../../src/log/log.ts"
import { fault } from "../faults/fault.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { lineLog } from "../support/line-log.ts"

function lines(use: (log: ReturnType<typeof lineLog>, clock: FakeClock) => void): string[] {
  const written: string[] = []
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 13, 5, 2, 7))
  use(
    lineLog((line) => written.push(line), clock),
    clock,
  )
  return written
}

const line = (message: string, fields?: LogFields) => lines((log) => log.warn(message, fields))[0] ?? ""

const PREFIX = "2026-11-21T13:05:02.007Z warn"

describe("a line", () => {
  test("has the time of the wall clock, the level and the message", () => {
    const written = lines((log, clock) => {
      log.info("first")
      clock.advance(1000)
      log.warn("second")
      clock.stepWall(-3_600_000)
      log.error("third")
    })
    expect(written).toEqual([
      "2026-11-21T13:05:02.007Z info first\n",
      "2026-11-21T13:05:03.007Z warn second\n",
      "2026-11-21T12:05:03.007Z error third\n",
    ])
  })

  test.each<readonly [LogFields, string]>([
    [{}, ""],
    [{ a: undefined }, ""],
    [{ text: "x", number: 5, yes: true, none: null }, ' text="x" number=5 yes=true none=null'],
    [{ list: [1, "two"], object: { a: 1 } }, ' list=[1,"two"] object={"a":1}'],
    [{ quotes: 'a "b" \\c' }, ' quotes="a \\"b\\" \\\\c"'],
  ])("has fields: %j", (fields, text) => {
    expect(line("event", fields)).toBe(`${PREFIX} event${text}\n`)
  })

  test("has the stack of an error, in the same line", () => {
    const text = line("failed", { cause: new Error("what\nwent wrong") })
    expect(text).toStartWith(`${PREFIX} failed cause="Error: what\\nwent wrong\\n`)
    expect(text).toContain("log.test.ts")
    expect(text.indexOf("\n")).toBe(text.length - 1)
  })
})

describe(
  fault(
    "L-01 L-02",
    "hostile text in messages and fields of the log",
    "one record, one line, no active character",
  ),
  () => {
    const HOSTILE = [
      "\n",
      "\r",
      "\r\n2026-11-21T13:05:02.007Z info forged",
      "\x1b[2J",
      "\x9b31m",
      "\0",
      "\x7f",
      "\u2028",
      "\u202e",
      "\ufeff",
      "\ud800",
    ]

    test.each(HOSTILE)("%j", (text) => {
      for (const written of [
        line(text),
        line("event", { text }),
        line("event", { [text]: 1 }),
        line("event", { list: [text] }),
      ]) {
        expect(written).toMatch(/^[^\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\ufeff]+\n$/u)
      }
    })
  },
)

describe("what cannot be written down is logged all the same", () => {
  const self: Record<string, unknown> = {}
  self.self = self
  const throwing = {
    toJSON: () => {
      throw new Error("no")
    },
  }

  test.each<readonly [string, unknown]>([
    ["a big integer", 5n],
    ["an object that refers to itself", self],
    ["an object that will not be JSON", throwing],
    ["a symbol", Symbol("x")],
    ["a function", () => {}],
    ["an error without a stack", Object.assign(new Error("x"), { stack: undefined })],
    ["a revoked proxy", revoked()],
  ])("%s", (_what, value) => {
    const text = line("event", { value, after: 1 })
    expect(text).toStartWith(`${PREFIX} event`)
    expect(text).toEndWith(" after=1\n")
  })

  function revoked(): unknown {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }
})
