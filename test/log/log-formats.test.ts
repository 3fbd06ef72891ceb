// The forms of a line: what the journal, a person and a program get of the same event, whatever it holds.

import { describe, expect, test } from "bun:test"
import { LevelledLog, type LogFields } from "../../src/log/log.ts"
import type { LogFormat } from "../../src/log/log-formats.ts"
import { LOG_LEVELS, type LogLevel } from "../../src/log/log-levels.ts"
import { formatFor } from "../../src/log/log-stream.ts"
import { FakeClock } from "../support/fake-clock.ts"

const NOON = Date.UTC(2026, 10, 21, 12, 0, 0, 7)

function written(format: LogFormat, level: LogLevel, message: string, fields: LogFields): string {
  let text = ""
  const write = (line: string) => {
    text += line
  }
  new LevelledLog({ format, level: "debug", write, clock: new FakeClock(NOON) })[level](message, fields)
  return text
}

const FIELDS = { ip: "192.0.2.1", event: "list.add", ttl_seconds: 60, reason: undefined }

describe("one event in each form", () => {
  test.each<readonly [LogFormat, string]>([
    ["journal", '<5>allowed ip="192.0.2.1" ttl_seconds=60\n'],
    ["text", '2026-11-21T12:00:00.007Z notice allowed ip="192.0.2.1" ttl_seconds=60\n'],
    [
      "json",
      '{"time":"2026-11-21T12:00:00.007Z","level":"notice","msg":"allowed","event":"list.add","ip":"192.0.2.1","ttl_seconds":60}\n',
    ],
  ])("%s", (format, line) => {
    expect(written(format, "notice", "allowed", FIELDS)).toBe(line)
  })

  test.each([
    ["debug", 7],
    ["info", 6],
    ["notice", 5],
    ["warn", 4],
    ["error", 3],
  ] as const)("the priority of %s is %i", (level, priority) => {
    expect(written("journal", level, "x", {})).toBe(`<${priority}>x\n`)
  })
})

describe("text of others stays in its line, and in its field", () => {
  const HOSTILE = [
    "\n<0>forged",
    "\r\n",
    "\x1b[2J",
    "\x9b",
    "\0",
    '"},{"',
    "\u2028",
    "\u202e",
    "\ud800",
    "😀",
    "é",
  ]

  test.each(HOSTILE)("%j", (text) => {
    for (const format of ["journal", "text", "json"] as const) {
      const line = written(format, "warn", "event", { text, list: [text], cause: new Error(text) })
      expect(line).toMatch(/^[^\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e]+\n$/u)
      if (format === "json") expect(JSON.parse(line)).toMatchObject({ msg: "event", text, list: [text] })
      else expect(line.match(/<[0-7]>/g)?.length ?? 0).toBeLessThanOrEqual(text.includes("<0>") ? 4 : 1)
    }
    expect(JSON.parse(written("json", "warn", text, { [text]: 1 }))).toMatchObject({ msg: text, [text]: 1 })
  })

  test("what cannot be JSON is told all the same", () => {
    const self: Record<string, unknown> = {}
    self.self = self
    for (const value of [5n, self, Symbol("x"), () => {}, Number.NaN]) {
      expect(JSON.parse(written("json", "error", "event", { value, after: 1 }))).toMatchObject({ after: 1 })
    }
  })
})

describe("levels", () => {
  test.each(LOG_LEVELS.map((level, i) => [level, i] as const))(
    "%s leaves out what is below it, from the start as after a change",
    (least, rank) => {
      for (const first of [least, "debug", "error"] as const) {
        const lines: string[] = []
        const write = (line: string) => lines.push(line)
        const log = new LevelledLog({ format: "journal", level: first, write, clock: new FakeClock() })
        if (first !== least) log.setLevel(least)
        for (const level of LOG_LEVELS) log[level](level)
        expect(lines.map((line) => line.slice(3, -1))).toEqual(LOG_LEVELS.slice(rank))
      }
    },
  )
})

describe("the form for a reader", () => {
  const file = { dev: 8n, ino: 9_007_199_254_740_993n }

  test.each<readonly [string, Parameters<typeof formatFor>[0], LogFormat]>([
    ["the journal", { isTerminal: false, journalStream: "8:9007199254740993", file }, "journal"],
    [
      "a pipe of a process that has inherited the variable",
      { isTerminal: false, journalStream: "8:1", file },
      "json",
    ],
    [
      "a number that differs in its last digit",
      { isTerminal: false, journalStream: "8:9007199254740992", file },
      "json",
    ],
    ["a terminal", { isTerminal: true, journalStream: undefined, file }, "text"],
    ["a terminal below a service", { isTerminal: true, journalStream: "8:1", file }, "text"],
    ["a file", { isTerminal: false, journalStream: undefined, file }, "json"],
    ["nothing that can be asked", { isTerminal: false, journalStream: "8:1", file: null }, "json"],
  ])("%s", (_, facts, format) => {
    expect(formatFor(facts)).toBe(format)
  })
})
