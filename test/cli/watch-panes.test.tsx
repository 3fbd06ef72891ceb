// The screen as it is drawn: at every size each line fits, says what it must, and says it without colour too.

import { describe, expect, test } from "bun:test"
import { renderToString } from "ink"
import { cellsOf } from "../../cli/watch/cells.ts"
import type { Model } from "../../cli/watch/model.ts"
import { Screen } from "../../cli/watch/panes.tsx"
import {
  after,
  answer,
  changed,
  client,
  emptyModel,
  HOUR,
  keyed,
  listed,
  NOW,
  refused,
  row,
} from "./watch-world.ts"

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of styles are what is looked for
const STYLES = /\x1b\[[0-9;]*m/g

function draw(model: Model, look = { isColoured: false }): string {
  return renderToString(<Screen model={model} look={look} />, { columns: model.size.columns })
}

const plain = (model: Model) => draw(model).replaceAll(STYLES, "")
const lines = (model: Model) => plain(model).split("\n")
const lineWith = (model: Model, text: string) => lines(model).find((line) => line.includes(text)) ?? ""

const sized = (model: Model, columns: number, rows: number): Model =>
  after(model, { kind: "resized", size: { columns, rows } })

const busy = after(
  emptyModel(),
  answer(),
  answer({ counts: { allowed: 1204, denied: 33, unidentified: 0 }, at: 11_000 }),
  { kind: "tick", now: NOW, mono: 11_000 },
  {
    kind: "refused",
    clients: [
      client("203.0.113.7", {
        count: 1234567,
        lastEntry: { list: "temp", ip: "203.0.113.0/24", endedAt: NOW - 120_000, how: "expired" },
      }),
      client("198.51.100.7"),
      client("203.0.113.9"),
    ],
  },
  changed(
    row(1, "add_perm", "10.0.0.0/8", { actor: null }),
    row(2, "add_temp", "192.0.2.1", { ttlSeconds: 5400, reason: "on call", actor: "192.0.2.250" }),
  ),
  listed({ "192.0.2.1": 0.01, "192.0.2.0/28": 2, "198.51.100.7": 10 }, { "192.0.2.1": "on call" }),
)

const IPV6 = "2001:db8:1234:5678:9abc:def0:1234:5678"
const long = after(
  busy,
  changed(row(3, "delete_temp", IPV6, { reason: "日本語 ".repeat(80) })),
  listed({ [IPV6]: 1, "2001:db8:1234:5678:9abc:def0::/127": 2 }, { [IPV6]: "a reason ".repeat(50) }),
  refused(IPV6),
)

describe.each([
  [60, 15],
  [80, 24],
  [100, 30],
  [132, 43],
  [400, 100],
])("at %dx%d", (columns, rows) => {
  const states: ReadonlyArray<readonly [what: string, model: Model]> = [
    ["empty", emptyModel()],
    ["busy", busy],
    ["with long texts", long],
    ["asking for a lifetime", keyed(long, "e")],
    ["with a form", keyed(busy, "a")],
    ["with a form that has a problem", keyed(busy, "a", "x".repeat(200), "enter", "enter", "enter")],
    ["asking whether to remove", keyed(long, "d")],
    ["asking whether to let in for good", keyed(long, "p")],
    ["with a filter", keyed(long, "/", "x".repeat(300))],
    ["with a kept filter", keyed(long, "/", "日本".repeat(30), "enter")],
    ["with help", keyed(busy, "?")],
    ["without an answer", after(long, { kind: "lost", problem: "no ipgate server answers at ".repeat(9) })],
    ["with a notice", after(long, { kind: "failed", text: "the database refused ".repeat(30) })],
    ["in the refused pane", keyed(long, "tab")],
  ]

  test.each(states)("%s: as many lines as the window has, and none wider", (_, model) => {
    const drawn = lines(sized(model, columns, rows))
    expect(drawn).toHaveLength(rows)
    for (const line of drawn) expect([line, cellsOf(line) <= columns]).toEqual([line, true])
  })

  test("the three panes, the status and the keys are there", () => {
    const screen = plain(sized(busy, columns, rows))
    for (const text of ["TEMPORARY 3", "REFUSED 3", "LOG", "LEFT", "LAST", "ACTION", "up 3d4h", "quit"]) {
      expect(screen).toContain(text)
    }
  })

  test("an address is never cut where it can be acted on", () => {
    const screen = lines(sized(long, columns, rows))
    const active = screen.slice(
      0,
      screen.findIndex((line) => line.includes("REFUSED")),
    )
    expect(active.join("\n")).toContain(IPV6)
    expect(plain(sized(keyed(long, "d"), columns, rows))).toContain(`Remove ${IPV6}`)
    expect(plain(sized(keyed(long, "p"), columns, rows))).toContain(`Let ${IPV6} in for good`)
  })
})

describe("a smaller window", () => {
  test.each([
    [59, 14],
    [45, 10],
    [40, 8],
  ])("of %dx%d still shows what fits", (columns, rows) => {
    const screen = lines(sized(busy, columns, rows))
    expect(screen).toHaveLength(rows)
    expect(screen.join("\n")).toContain("TEMPORARY 3")
  })

  test.each([
    [39, 24],
    [80, 7],
    [1, 1],
    [20, 5],
  ])("of %dx%d asks for more room", (columns, rows) => {
    const shown = plain(sized(busy, columns, rows))
    expect(" make the window larger".startsWith(shown.replace(/…$/, ""))).toBe(true)
    expect(lines(sized(busy, columns, rows)).length).toBeLessThanOrEqual(rows)
  })
})

describe("the status line", () => {
  const status = (model: Model) => lines(model)[0]?.trim()

  test("tells how long it runs, the counts, the database, and what is decided a second", () => {
    expect(status(sized(busy, 120, 30))).toBe(
      "ipgate 127.0.0.1:8765   up 3d4h   12 permanent  3 temporary   database ok   allowed 120/s  refused 3.3/s",
    )
    expect(status(sized(busy, 60, 15))).toBe("up 3d4h  12 perm 3 temp  db ok  120/s in  3.3/s out")
  })

  test("says where it asks before there is an answer", () => {
    expect(status(emptyModel())).toBe("asking 127.0.0.1:8765 …")
  })

  test("says in words that the database fails", () => {
    const broken = {
      status: "degraded",
      uptime: "1m",
      permanentCount: 1,
      temporaryCount: 0,
      databaseOk: false,
    } as const
    expect(status(after(busy, answer({ status: broken, at: 11_000 })))).toContain("DATABASE FAILS")
  })

  test("says since when there is no answer, and why, while the lists stay", () => {
    const lost = after(
      busy,
      { kind: "lost", problem: "no ipgate server answers at 127.0.0.1:8765" },
      {
        kind: "tick",
        now: NOW + 12_000,
        mono: 23_000,
      },
    )
    expect(status(lost)).toBe("no answer since 12 s, retrying: no ipgate server answers at 127.0.0.1:8765")
    expect(status(sized(lost, 60, 15))).toBe("no answer since 12 s, retrying")
    expect(plain(lost)).toContain("192.0.2.0/28")
  })
})

describe("a temporary entry", () => {
  const bar = (hours: number) => {
    const line = lineWith(after(busy, listed({ "192.0.2.77": hours })), "192.0.2.77")
    return [line.split("█").length - 1, line.split("░").length - 1]
  }

  test("has a bar for the share of its lifetime that is left", () => {
    expect([bar(10), bar(5), bar(0.01), bar(0)]).toEqual([
      [24, 0],
      [12, 12],
      [1, 23],
      [0, 24],
    ])
    // More than the whole is the whole: another clock is ahead of this one.
    expect(bar(11)).toEqual([24, 0])
  })

  test("tells what is left in words too, and that it has ended", () => {
    expect(lineWith(busy, "192.0.2.1 ")).toContain(" 36s ")
    expect(lineWith(after(busy, { kind: "tick", now: NOW + 37_000, mono: 0 }), "192.0.2.1 ")).toContain(
      " ended ",
    )
  })
})

describe("a refused client", () => {
  test("tells how often and when, and which entry let it in before", () => {
    expect(lineWith(busy, "203.0.113.7").replace(/ +/g, " ").trim()).toBe(
      "203.0.113.7 1234567 5s ago 1m ago expired 2m ago: temporary 203.0.113.0/24",
    )
    expect(lineWith(busy, "203.0.113.9").trim()).toEndWith("-")
  })

  test("that has an entry by now says so", () => {
    expect(lines(busy).filter((line) => line.includes("198.51.100.7"))[1]).toContain("let in for 10h")
  })
})

test("the marked row is marked by a sign, in the pane that has the focus only", () => {
  const marks = (model: Model) => lines(model).filter((line) => line.startsWith(">"))
  expect(marks(busy).map((line) => line.split(/ +/)[1])).toEqual(["TEMPORARY", "192.0.2.1"])
  expect(marks(keyed(busy, "tab", "down")).map((line) => line.split(/ +/)[1])).toEqual([
    "REFUSED",
    "198.51.100.7",
  ])
})

test("a long list shows the part around the mark", () => {
  const many = after(
    busy,
    listed(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`10.0.${i >> 8}.${i & 255}`, i + 1]))),
  )
  expect(plain(many)).toContain("> 10.0.0.0 ")
  const end = plain(keyed(many, "G"))
  expect(end).toContain("> 10.0.1.243 ")
  expect(end).not.toContain("10.0.0.0 ")
  expect(lineWith(keyed(many, "/", "10.0.1."), "TEMPORARY")).toContain("TEMPORARY 244/500")
})

test("text from elsewhere is text", () => {
  const hostile = "\x1b[2J\x1b]0;title\x07\u202eevil\nforged\r\x9b1m"
  const model = after(
    busy,
    listed({ [hostile]: 1, "192.0.2.5": 2 }, { [hostile]: hostile, "192.0.2.5": hostile }),
    {
      kind: "refused",
      clients: [client(hostile, { lastEntry: { list: "perm", ip: hostile, endedAt: NOW, how: "removed" } })],
    },
    changed(row(9, "add_temp", hostile, { reason: hostile, actor: hostile })),
  )
  const states = [
    model,
    keyed(model, "e"),
    keyed(model, "tab", "a"),
    keyed(model, "tab", "p"),
    keyed(model, "d"),
  ]
  const broken = after(model, { kind: "lost", problem: hostile }, { kind: "failed", text: hostile })
  for (const state of [...states, broken, { ...broken, address: hostile }]) {
    const drawn = plain(state)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
    expect(drawn).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
    expect(drawn.split("\n")).toHaveLength(30)
  }
})

test("with ten thousand entries a second goes by in the time of a blink", () => {
  const entries = Array.from(
    { length: 10_000 },
    (_, i) => [`10.1.${i >> 8}.${i & 255}`, 1 + i / HOUR] as const,
  )
  const model = after(busy, listed(Object.fromEntries(entries)))
  // Not measured here: that each second keeps the sorted rows is what makes it cheap.
  const next = after(model, { kind: "tick", now: NOW + 1_000, mono: 12_000 })
  expect(next.active).toBe(model.active)
  expect(keyed(model, "down").active.rows).toBe(model.active.rows)
})
