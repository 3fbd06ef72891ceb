// The model of the screen: what each piece of news does to the lists, the marks, and what is known of the server.

import { describe, expect, test } from "bun:test"
import { LOG_ROWS, temporaryCount } from "../../cli/watch/model.ts"
import { silentFor } from "../../cli/watch/server-state.ts"
import { Prng } from "../support/prng.ts"
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
  shown,
} from "./watch-world.ts"

const three = listed({ "192.0.2.3": 3, "192.0.2.1": 1, "192.0.2.2": 2 })

describe("temporary entries", () => {
  test("stand in order of their end, the first one marked", () => {
    expect(shown(after(emptyModel(), three)).active).toEqual(["> 192.0.2.1", "192.0.2.2", "192.0.2.3"])
  })

  test("with the same end stand in one order, always", () => {
    const one = shown(after(emptyModel(), listed({ b: 1, a: 1, c: 1 })))
    expect(one.active).toEqual(shown(after(emptyModel(), listed({ c: 1, a: 1, b: 1 }))).active)
  })

  test("come, are replaced and go with the changes of the log", () => {
    const model = after(
      emptyModel(),
      three,
      changed(row(1, "add_temp", "192.0.2.4", { ttlSeconds: 5_400, reason: "new" })),
    )
    expect(shown(model).active).toEqual(["> 192.0.2.1", "192.0.2.4", "192.0.2.2", "192.0.2.3"])
    expect(model.entries.get("192.0.2.4")).toEqual({
      ip: "192.0.2.4",
      reason: "new",
      expiresAt: NOW + 1.5 * HOUR,
      lifetime: 1.5 * HOUR,
    })
    const replaced = after(model, changed(row(2, "add_temp", "192.0.2.2", { ttlSeconds: 86_400 })))
    expect(shown(replaced).active).toEqual(["> 192.0.2.1", "192.0.2.4", "192.0.2.3", "192.0.2.2"])
    const gone = after(
      replaced,
      changed(row(3, "delete_temp", "192.0.2.4"), row(4, "expire_temp", "192.0.2.3")),
    )
    expect(shown(gone).active).toEqual(["> 192.0.2.1", "192.0.2.2"])
  })

  test("of one batch are applied in its order", () => {
    const rows = [
      row(1, "add_temp", "192.0.2.9"),
      row(2, "delete_temp", "192.0.2.9"),
      row(3, "delete_temp", "192.0.2.1"),
    ]
    expect(shown(after(emptyModel(), three, changed(...rows))).active).toEqual(["> 192.0.2.2", "192.0.2.3"])
    const back = changed(...rows, row(4, "add_temp", "192.0.2.9"))
    expect(shown(after(emptyModel(), three, back)).active).toEqual(["> 192.0.2.9", "192.0.2.2", "192.0.2.3"])
  })

  test("are not touched by what happens on the permanent list", () => {
    const model = after(emptyModel(), three)
    const next = after(model, changed(row(1, "add_perm", "192.0.2.1"), row(2, "delete_perm", "192.0.2.2")))
    expect(next.entries).toBe(model.entries)
    expect(shown(next).active).toEqual(shown(model).active)
  })

  test("are told from the log only once the list was read", () => {
    const early = after(emptyModel(), changed(row(1, "add_temp", "192.0.2.9")))
    expect([shown(early).active, early.isLoaded]).toEqual([[], false])
    expect(shown(early).log).toEqual(["> 1 add_temp 192.0.2.9"])
    expect(shown(after(early, three)).active).toHaveLength(3)
  })

  test("without a known lifetime have a full bar from when they were seen", () => {
    const entry = { ip: "192.0.2.1", expiresAt: NOW + HOUR, reason: "", lifetime: null }
    const model = after(emptyModel(), { kind: "listed", entries: [entry], isPartial: false })
    expect(model.entries.get("192.0.2.1")?.lifetime).toBe(HOUR)
  })

  test("stay on the screen after their end until the server says that it is so", () => {
    const late = after(emptyModel(), three, { kind: "tick", now: NOW + 90 * 60_000, mono: 2_000 })
    expect(shown(late).active).toContain("> 192.0.2.1")
    expect(shown(after(late, changed(row(1, "expire_temp", "192.0.2.1")))).active).toEqual([
      "> 192.0.2.2",
      "192.0.2.3",
    ])
  })

  test("agree with a plain list after any changes", () => {
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
    const random = new Prng(seed)
    const plain = new Map<string, number>()
    let model = after(emptyModel(), listed({}))
    for (let id = 1; id <= 2_000; ) {
      const rows = Array.from({ length: 1 + random.below(5) }, () => {
        const ip = `192.0.2.${random.below(30)}`
        const action = random.pick([
          "add_temp",
          "delete_temp",
          "expire_temp",
          "add_perm",
          "delete_perm",
        ] as const)
        const ttlSeconds = 1 + random.below(100_000)
        if (action === "add_temp") plain.set(ip, NOW + ttlSeconds * 1000)
        if (action === "delete_temp" || action === "expire_temp") plain.delete(ip)
        return row(id++, action, ip, action === "add_temp" ? { ttlSeconds } : {})
      })
      model = after(model, changed(...rows))
      const expected = [...plain].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1)).map(([ip]) => ip)
      expect({ seed, ips: model.active.rows.map(({ ip }) => ip) }).toEqual({ seed, ips: expected })
      const { key, index } = model.active.selection
      expect({ seed, key }).toEqual({ seed, key: expected[index] ?? null })
    }
  })
})

describe("the mark", () => {
  test("stays on its entry while others come before it", () => {
    const model = keyed(after(emptyModel(), three), "down")
    const next = after(model, changed(row(1, "add_temp", "192.0.2.9", { ttlSeconds: 60 })))
    expect(shown(next).active).toEqual(["192.0.2.9", "192.0.2.1", "> 192.0.2.2", "192.0.2.3"])
  })

  test("goes to the next entry when its own is gone, and to the last one at the end", () => {
    const middle = keyed(after(emptyModel(), three), "down")
    expect(shown(after(middle, changed(row(1, "delete_temp", "192.0.2.2")))).active).toEqual([
      "192.0.2.1",
      "> 192.0.2.3",
    ])
    const end = keyed(middle, "end")
    expect(shown(after(end, changed(row(1, "delete_temp", "192.0.2.3")))).active).toEqual([
      "192.0.2.1",
      "> 192.0.2.2",
    ])
  })

  test("comes back when there are entries again", () => {
    const none = after(emptyModel(), listed({ "192.0.2.1": 1 }), changed(row(1, "delete_temp", "192.0.2.1")))
    expect(shown(none).active).toEqual([])
    expect(shown(after(none, changed(row(2, "add_temp", "192.0.2.7")))).active).toEqual(["> 192.0.2.7"])
  })
})

describe("refused clients", () => {
  const ABC = refused("a", "b", "c")

  test("show the last one first, marked, as long as nobody is in the pane", () => {
    const model = after(emptyModel(), ABC)
    expect(shown(model).refused).toEqual(["> a", "b", "c"])
    expect(shown(after(model, refused("x", "a", "b"))).refused).toEqual(["> x", "a", "b"])
  })

  test("never move the mark to another client by themselves: one key lets the marked one in", () => {
    const inside = keyed(after(emptyModel(), ABC), "tab", "down")
    expect(shown(inside).refused).toEqual(["a", "> b", "c"])
    const moved = after(inside, refused("x", "y", "c", "b", "a"))
    expect(shown(moved).refused).toEqual(["x", "y", "c", "> b", "a"])
    const gone = after(moved, refused("x", "y", "c", "a"))
    expect(shown(gone).refused).toEqual(["x", "y", "c", "a"])
    expect(gone.refused.selection.key).toBeNull()
    // And it does not come back by itself either.
    expect(after(gone, refused("z", "x", "y", "c", "a")).refused.selection.key).toBeNull()
    expect(shown(keyed(gone, "down")).refused).toEqual(["x", "y", "c", "> a"])
  })

  test("that come into an empty pane are marked, so that the first one can be let in at once", () => {
    const empty = keyed(after(emptyModel(), refused()), "tab")
    expect(shown(after(empty, refused("a"))).refused).toEqual(["> a"])
  })

  test("may stand in order of their count", () => {
    const clients = [
      client("a", { count: 2 }),
      client("b", { count: 9 }),
      client("c", { count: 2, lastAt: NOW }),
    ]
    const model = keyed(after(emptyModel(), { kind: "refused", clients }), "tab", "s")
    expect(shown(model).refused.map((ip) => ip.replace("> ", ""))).toEqual(["b", "c", "a"])
    expect(shown(keyed(model, "s")).refused.map((ip) => ip.replace("> ", ""))).toEqual(["a", "b", "c"])
  })
})

describe("the log", () => {
  test("stands newest first, and keeps so many rows", () => {
    const rows = Array.from({ length: LOG_ROWS + 20 }, (_, i) => row(i + 1, "add_perm", `ip-${i + 1}`))
    const model = after(emptyModel(), changed(...rows.slice(0, 300)), changed(...rows.slice(300)))
    expect(model.log).toHaveLength(LOG_ROWS)
    expect(model.log.map(({ id }) => id)).toEqual(
      rows
        .map(({ id }) => id)
        .slice(-LOG_ROWS)
        .reverse(),
    )
    expect(shown(model).log[0]).toBe(`> ${LOG_ROWS + 20} add_perm ip-${LOG_ROWS + 20}`)
  })

  test("that was read anew shows no row twice", () => {
    const model = after(
      emptyModel(),
      three,
      { kind: "log-read", rows: [row(7, "add_perm", "b"), row(6, "add_perm", "a")] },
      changed(row(7, "add_perm", "b"), row(8, "add_temp", "192.0.2.8")),
    )
    expect(shown(model).log).toEqual(["> 8 add_temp 192.0.2.8", "7 add_perm b", "6 add_perm a"])
    expect(shown(model).active).toContain("192.0.2.8")
  })

  test("of another database begins anew, with smaller ids too", () => {
    const model = after(emptyModel(), changed(row(500, "add_perm", "old")), {
      kind: "log-read",
      rows: [row(2, "add_perm", "new")],
    })
    expect(shown(after(model, changed(row(3, "add_perm", "newer")))).log).toEqual([
      "> 3 add_perm newer",
      "2 add_perm new",
    ])
  })
})

describe("the filter", () => {
  const model = after(
    emptyModel(),
    listed({ "192.0.2.1": 1, "198.51.100.2": 2 }, { "198.51.100.2": "The Office" }),
    refused("203.0.113.9", "192.0.2.9"),
    changed(row(1, "add_perm", "192.0.2.50"), row(2, "delete_perm", "10.0.0.1", { reason: "office" })),
  )

  test.each([
    ["192.0", { active: ["> 192.0.2.1"], refused: ["> 192.0.2.9"], log: ["> 1 add_perm 192.0.2.50"] }],
    ["office", { active: ["> 198.51.100.2"], refused: [], log: ["> 2 delete_perm 10.0.0.1"] }],
    ["OFFICE", { active: ["> 198.51.100.2"], refused: [], log: ["> 2 delete_perm 10.0.0.1"] }],
    ["delete_", { active: [], refused: [], log: ["> 2 delete_perm 10.0.0.1"] }],
    ["no such thing", { active: [], refused: [], log: [] }],
  ])("%p", (text, expected) => {
    expect(shown(keyed(model, "/", text))).toEqual(expected)
  })

  test("holds for what comes later, until it is taken away", () => {
    const filtered = keyed(model, "/", "office", "enter")
    const later = after(
      filtered,
      changed(row(3, "add_temp", "192.0.2.77", { reason: "back office" }), row(4, "add_temp", "192.0.2.78")),
    )
    expect(shown(later).active).toEqual(["192.0.2.77", "> 198.51.100.2"])
    expect(shown(keyed(later, "escape")).active).toHaveLength(4)
  })
})

describe("the server", () => {
  test("answers, and is counted from one answer to the next", () => {
    const first = after(emptyModel(), answer())
    expect(first.server).toMatchObject({ rates: null, problem: null, answeredAt: 1_000 })
    const counts = { allowed: 240, denied: 6, unidentified: 1 }
    const second = after(first, answer({ counts, at: 3_000 }))
    expect(second.server.rates).toEqual({ allowed: 120, denied: 3 })
  })

  test("that begins to count anew has no rate until its second answer", () => {
    const before = after(emptyModel(), answer({ counts: { allowed: 9, denied: 9, unidentified: 0 } }))
    const restarted = after(before, answer({ at: 2_000 }))
    expect(restarted.server.rates).toBeNull()
    expect(after(restarted, answer({ at: 3_000 })).server.rates).toEqual({ allowed: 0, denied: 0 })
  })

  test("is told to be silent when a question has failed, or when none was answered for long", () => {
    const well = after(emptyModel(), answer())
    expect(silentFor(well.server, 3_999)).toBeNull()
    expect(silentFor(well.server, 4_000)).toBe(3)
    const lost = after(well, { kind: "lost", problem: "no server" })
    expect(silentFor(lost.server, 1_500)).toBe(0)
    expect(silentFor(lost.server, 13_000)).toBe(12)
    expect(lost.server).toMatchObject({ problem: "no server", rates: null, status: well.server.status })
    expect(silentFor(after(lost, answer({ at: 13_000 })).server, 13_000)).toBeNull()
  })

  test("has as many temporary entries as are here, unless only a part is here", () => {
    const model = after(emptyModel(), answer())
    expect(temporaryCount(model)).toBe(3)
    expect(temporaryCount(after(model, listed({ "192.0.2.1": 1 })))).toBe(1)
    const part = { ...listed({ "192.0.2.1": 1 }), isPartial: true } as ReturnType<typeof listed>
    expect(temporaryCount(after(model, part))).toBe(3)
  })
})

test("nothing that was told before is changed in place", () => {
  const model = after(emptyModel(), three, refused("a"), changed(row(1, "add_temp", "192.0.2.4")))
  const before = structuredClone(shown(model))
  const size = model.entries.size
  after(model, changed(row(2, "delete_temp", "192.0.2.1")), refused("b"), listed({}))
  keyed(model, "s", "down", "/", "x")
  expect([shown(model), model.entries.size]).toEqual([before, size])
})
