// The checker of histories: it takes what can have happened, and finds every kind of lie.

import { describe, expect, test } from "bun:test"
import { type History, isExplained, type Operation, type Row } from "./model.ts"

const UNTIL = Number.POSITIVE_INFINITY
const NEVER = Number.POSITIVE_INFINITY

const add = (asked: number, answered: number, result: string | null = "added"): Operation => ({
  kind: "add",
  reason: null,
  result,
  asked,
  answered,
})
const remove = (asked: number, answered: number, result: string | null = "removed"): Operation => ({
  kind: "remove",
  result,
  asked,
  answered,
})
const ask = (asked: number, answered: number, result: boolean): Operation => ({
  kind: "ask",
  result,
  asked,
  answered,
})
const ADDED: Row = { action: "add_perm", reason: null, until: UNTIL }
const REMOVED: Row = { action: "delete_perm", reason: null, until: UNTIL }
const HELD = { reason: null, until: UNTIL }

const perm = (parts: Partial<History>): History => ({
  list: "perm",
  before: null,
  operations: [],
  rows: [],
  after: null,
  ...parts,
})

const GOOD = perm({
  operations: [
    add(0, 10),
    ask(11, 12, true),
    remove(20, 40),
    ask(21, 39, true),
    ask(22, 38, false),
    add(50, 60, "added"),
    add(51, 61, "conflict"),
    remove(70, NEVER, null),
    ask(80, 81, true),
    ask(90, 91, false),
  ],
  rows: [ADDED, REMOVED, ADDED, REMOVED],
  after: null,
})

test("an addition whose answer does not say what it did is tried both ways", () => {
  const blind: Operation = { kind: "add", reason: null, result: null, asked: 16, answered: 25 }
  const operations = [add(0, 10), remove(4, 16), blind, remove(18, 27)]
  const rows = [ADDED, REMOVED, ADDED, REMOVED]
  expect(isExplained(perm({ operations, rows }))).toBe(true)
  expect(isExplained(perm({ operations: [add(0, 10), blind, remove(26, 27)], rows: rows.slice(0, 2) }))).toBe(
    true,
  )
  expect(isExplained(perm({ operations, rows: rows.slice(0, 2) }))).toBe(false)
})

test("a history that can have happened is taken", () => {
  expect(isExplained(GOOD)).toBe(true)
  // The change that nobody answered may also have never happened.
  expect(
    isExplained({
      ...GOOD,
      operations: GOOD.operations.slice(0, -1),
      rows: GOOD.rows.slice(0, 3),
      after: HELD,
    }),
  ).toBe(true)
})

describe("a history is refused in which", () => {
  const lies: Readonly<Record<string, History>> = {
    "an acknowledged change is lost": perm({ operations: [add(0, 10)], rows: [], after: null }),
    "an acknowledged change is lost from the list and not from the log": perm({
      operations: [add(0, 10)],
      rows: [ADDED],
      after: null,
    }),
    "a change has no record": perm({ operations: [add(0, 10)], rows: [], after: HELD }),
    "a change has two records": { ...GOOD, rows: [ADDED, ADDED, ...GOOD.rows.slice(1)] },
    "a record has no change": perm({ operations: [ask(0, 1, false)], rows: [ADDED], after: HELD }),
    "an entry is there that nobody added": perm({ operations: [], rows: [], after: HELD }),
    "a decision does not know an acknowledged addition": perm({
      operations: [add(0, 10), ask(11, 12, false)],
      rows: [ADDED],
      after: HELD,
    }),
    "a decision does not know an acknowledged removal": perm({
      before: HELD,
      operations: [remove(0, 10), ask(11, 12, true)],
      rows: [REMOVED],
    }),
    "an unanswered change is seen and then not": perm({
      operations: [add(0, NEVER, null), ask(1, 2, true), ask(3, 4, false)],
      rows: [ADDED],
      after: HELD,
    }),
    "an unanswered change has no record and holds": perm({
      operations: [add(0, NEVER, null), ask(1, 2, true)],
      rows: [],
      after: null,
    }),
    "two clients are both told that they added": perm({
      operations: [add(0, 10), add(0, 10)],
      rows: [ADDED],
      after: HELD,
    }),
    "the records are in another order": { ...GOOD, rows: GOOD.rows.toReversed() },
  }
  for (const [name, history] of Object.entries(lies)) {
    test(name, () => expect(isExplained(history)).toBe(false))
  }

  const entry = { reason: "one", until: 1_000 }
  const temporary = (parts: Partial<History>): History => ({ ...perm(parts), list: "temp" })
  const granted: Row = { action: "add_temp", reason: "one", until: 1_000 }
  const expired: Row = { action: "expire_temp", reason: null, until: 1_000 }
  const grant: Operation = { kind: "add", reason: "one", result: "added", asked: 0, answered: 10 }

  test("an entry ends too early, too late, twice, or comes back", () => {
    const ended = temporary({
      operations: [grant, ask(500, 501, true), ask(1_050, 1_051, false)],
      rows: [granted, expired],
    })
    expect(isExplained(ended)).toBe(true)
    expect(isExplained({ ...ended, operations: [grant, ask(500, 501, false)] })).toBe(false)
    expect(isExplained({ ...ended, operations: [grant, ask(1_050, 1_051, true)] })).toBe(false)
    expect(isExplained({ ...ended, rows: [granted, expired, expired] })).toBe(false)
    expect(isExplained({ ...ended, after: entry })).toBe(false)
  })

  test("another grant is found than the one that was acknowledged last", () => {
    const second: Operation = { ...grant, reason: "two", result: "replaced", asked: 20, answered: 30 }
    const history = temporary({
      operations: [grant, second],
      rows: [granted, { ...granted, reason: "two" }],
      after: { reason: "two", until: 1_000 },
    })
    expect(isExplained(history)).toBe(true)
    expect(isExplained({ ...history, after: entry })).toBe(false)
    expect(isExplained({ ...history, rows: history.rows.toReversed() })).toBe(false)
  })
})
