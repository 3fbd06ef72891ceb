// The keys of the screen: what each one does, what it asks before it does it, and what it cannot do by mistake.

import { describe, expect, test } from "bun:test"
import { type Form, PROPOSED_LIFETIME } from "../../cli/watch/form.ts"
import { pressed } from "../../cli/watch/keys.ts"
import type { Model } from "../../cli/watch/model.ts"
import { network } from "../support/parsed.ts"
import {
  after,
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
  typing,
} from "./watch-world.ts"

const model = after(
  emptyModel(),
  listed({ "192.0.2.1": 1, "192.0.2.0/28": 2, "2001:db8::1": 3 }, { "192.0.2.0/28": "the office" }),
  refused("203.0.113.7", "2001:db8::77"),
  changed(row(1, "add_perm", "198.51.100.0/24")),
)

const form = ({ mode }: Model): Form => {
  if (mode.kind !== "form") throw new Error(`no form is open, but ${mode.kind}`)
  return mode.form
}
const texts = (model: Model) => form(model).fields.map(({ text }) => text)
const question = ({ mode }: Model) => (mode.kind === "confirm" ? mode.question : mode.kind)
const notice = ({ notice }: Model) => notice?.text ?? null

describe("moving", () => {
  const many = after(
    emptyModel(),
    listed(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`10.0.0.${i}`, i + 1]))),
  )
  const marked = (...keys: string[]) => keyed(many, ...keys).active.selection

  test.each([
    [["down"], 1],
    [["j", "j", "j"], 3],
    [["jjj"], 3],
    [["j", "k"], 0],
    [["down", "up"], 0],
    [["up"], 0],
    [["G"], 99],
    [["end"], 99],
    [["end", "down"], 99],
    [["end", "home"], 0],
    [["G", "g"], 0],
    [["page-down", "page-up"], 0],
  ] as const)("%p goes to row %d", (keys, index) => {
    expect(marked(...keys)).toEqual({ key: `10.0.0.${index}`, index })
  })

  test("a page is what the pane shows, but for one row, whatever its height", () => {
    const { index } = marked("page-down")
    expect(index).toBeGreaterThan(5)
    expect(marked("page-down", "page-down").index).toBe(2 * index)
    const small = keyed({ ...many, size: { columns: 60, rows: 15 } }, "page-down")
    expect(small.active.selection.index).toBeLessThan(index)
  })

  test("in an empty pane does nothing", () => {
    expect(keyed(emptyModel(), "down", "end", "page-down").active.selection).toEqual({ key: null, index: 0 })
  })

  test("goes through the panes, round and round", () => {
    expect(["tab", "tab", "tab"].map((_, i, keys) => keyed(model, ...keys.slice(0, i + 1)).focus)).toEqual([
      "refused",
      "log",
      "active",
    ])
    expect(keyed(model, "back-tab").focus).toBe("log")
  })

  test("moves in the pane that has the focus only", () => {
    expect(shown(keyed(model, "tab", "down"))).toMatchObject({
      active: ["> 192.0.2.1", "192.0.2.0/28", "2001:db8::1"],
      refused: ["203.0.113.7", "> 2001:db8::77"],
    })
  })
})

describe("Enter", () => {
  test("lets the marked refused client in, for an hour, at once", () => {
    expect(typing(model, "tab", "down", "enter").task).toEqual({
      kind: "allow",
      network: network("2001:db8::77"),
      ttlSeconds: 3600,
      reason: null,
    })
  })

  test("lets nobody in where nobody is marked", () => {
    const gone = after(keyed(model, "tab"), refused("198.51.100.1"))
    const step = typing(gone, "enter")
    expect([step.task, notice(step.model)]).toEqual([null, "nothing is marked: move with the arrows first"])
    expect(typing(keyed(emptyModel(), "tab"), "enter").task).toBeNull()
  })

  test("on an entry asks for a new lifetime, and on a row of the log proposes its address", () => {
    expect(form(keyed(model, "enter")).entry?.ip).toBe("192.0.2.1")
    expect(texts(keyed(model, "tab", "tab", "enter"))).toEqual(["198.51.100.0/24", PROPOSED_LIFETIME, ""])
  })
})

describe("a", () => {
  test("asks for the address, how long, and why, and proposes an hour", () => {
    const asked = keyed(model, "a")
    expect([texts(asked), form(asked).at]).toEqual([["", "1h", ""], 0])
    const step = typing(asked, "198.51.100.7", "enter", "8h", "enter", "on call", "enter")
    expect(step.task).toEqual({
      kind: "allow",
      network: network("198.51.100.7"),
      ttlSeconds: 28_800,
      reason: "on call",
    })
    expect(step.model.mode.kind).toBe("browse")
  })

  test("on a refused client needs no more than Enter twice", () => {
    const asked = keyed(model, "tab", "a")
    expect([texts(asked), form(asked).at]).toEqual([["203.0.113.7", "1h", ""], 1])
    expect(typing(asked, "enter", "enter").task).toEqual({
      kind: "allow",
      network: network("203.0.113.7"),
      ttlSeconds: 3600,
      reason: null,
    })
  })

  test("takes what is typed in place of what is proposed, and what is erased from it", () => {
    const asked = keyed(model, "tab", "a")
    expect(texts(keyed(asked, "30m"))).toEqual(["203.0.113.7", "30m", ""])
    expect(texts(keyed(asked, "erase", "2h"))).toEqual(["203.0.113.7", "12h", ""])
    expect(texts(keyed(asked, "clear"))).toEqual(["203.0.113.7", "", ""])
    expect(texts(keyed(asked, "back-tab", "erase", "8"))).toEqual(["203.0.113.8", "1h", ""])
  })

  test("goes from field to field, round and round", () => {
    const asked = keyed(model, "a")
    const places = (...keys: string[]) => form(keyed(asked, ...keys)).at
    expect([places("tab"), places("tab", "tab"), places("tab", "tab", "tab")]).toEqual([1, 2, 0])
    expect([places("back-tab"), places("down"), places("up")]).toEqual([2, 1, 2])
  })

  test("is cancelled by Escape, and its letters give no orders", () => {
    const step = typing(model, "a", "dyqpse?/", "escape")
    expect([step.task, step.model.mode.kind, shown(step.model)]).toEqual([null, "browse", shown(model)])
  })

  test.each([
    [["", "1h", ""], "which address?", 0],
    [["10.0.0.5/8", "1h", ""], '"10.0.0.5/8" has host bits set; did you mean 10.0.0.0/8 or 10.0.0.5?', 0],
    [["nonsense", "1h", ""], '"nonsense" is not an IP address or CIDR', 0],
    [["0.0.0.0/0", "1h", ""], "0.0.0.0/0 is wider than /8: it lets a large part of the internet in", 0],
    [["2000::/3", "1h", ""], "2000::/3 is wider than /32: it lets a large part of the internet in", 0],
    [["10.0.0.1", "soon", ""], "no duration: use 90s, 30m, 8h, 1h30m, 7d or 2w", 1],
    [["10.0.0.1", "", ""], "no duration", 1],
    [["10.0.0.1", "0", ""], "a lifetime is 1 s to ten years", 1],
    [["10.0.0.1", "4000d", ""], "a lifetime is 1 s to ten years", 1],
    [["10.0.0.1", "1h", "x".repeat(501)], "reason is longer than 500 characters", 2],
    [["10.0.0.1", "1h", "a\x1b[31mb"], "reason contains a control character", 2],
  ] as const)(
    "says what is wrong with %j, at the field that has it",
    ([ip, lifetime, reason], problem, at) => {
      let asked = keyed(model, "a", ip, "tab", "clear", lifetime, "tab")
      asked = pressed(asked, { kind: "pasted", text: reason }).model
      const step = typing(asked, "enter")
      expect(step.task).toBeNull()
      expect(form(step.model).problem).toContain(problem)
      expect(form(step.model).at).toBe(at)
      expect(form(keyed(step.model, "x")).problem).toBeNull()
    },
  )

  test("takes every spelling of an address, and spaces around it", () => {
    const step = typing(model, "a", " 2001:DB8:0::1 ", "enter", "enter", "enter")
    expect(step.task).toMatchObject({ network: network("2001:db8::1") })
  })
})

describe("e", () => {
  test("proposes the lifetime and the reason that the entry has", () => {
    const asked = keyed(model, "down", "e")
    expect([texts(asked), form(asked).title]).toEqual([
      ["10h", "the office"],
      "A new lifetime for 192.0.2.0/28, from now",
    ])
    expect(typing(asked, "enter", "enter").task).toEqual({
      kind: "allow",
      network: network("192.0.2.0/28"),
      ttlSeconds: 36_000,
      reason: "the office",
    })
    expect(typing(asked, "30m", "enter", "moved", "enter").task).toMatchObject({
      ttlSeconds: 1800,
      reason: "moved",
    })
  })

  test("never makes an entry shorter by being confirmed, also if its lifetime is not known", () => {
    const entry = { ip: "10.0.0.1", expiresAt: NOW + 5 * HOUR + 300, reason: "", lifetime: null }
    const unknown = after(emptyModel(), { kind: "listed", entries: [entry], isPartial: false })
    const { task } = typing(unknown, "e", "enter", "enter")
    if (task?.kind !== "allow") throw new Error("nothing was asked for")
    expect(NOW + task.ttlSeconds * 1000).toBeGreaterThanOrEqual(entry.expiresAt)
  })

  test("is for temporary entries only", () => {
    const step = typing(model, "tab", "e")
    expect([step.task, notice(step.model)]).toEqual([null, "203.0.113.7 is not among the temporary entries"])
    expect(notice(keyed(emptyModel(), "e"))).toBe("nothing is marked: move with the arrows first")
  })

  test("works from the other panes on an address that is a temporary entry", () => {
    const both = after(model, refused("192.0.2.1"))
    expect(form(keyed(both, "tab", "e")).entry?.ip).toBe("192.0.2.1")
  })
})

describe("d and p", () => {
  test.each([
    ["d", "Remove 192.0.2.1 from the temporary list?", "remove"],
    ["p", "Let 192.0.2.1 in for good, on the permanent list?", "make-permanent"],
  ] as const)("%s asks, and does it for y only", (key, asked, kind) => {
    const asking = keyed(model, key)
    expect(question(asking)).toBe(asked)
    for (const yes of ["y", "Y"]) {
      expect(typing(asking, yes).task).toEqual({ kind, network: network("192.0.2.1") })
    }
    for (const no of ["n", "enter", "escape", "x", "down", "q", "d"]) {
      const step = typing(asking, no)
      expect([no, step.task, step.model.mode.kind]).toEqual([no, null, "browse"])
    }
    const step = pressed(asking, { kind: "pasted", text: "y" })
    expect([step.task, step.model.mode.kind]).toEqual([null, "browse"])
  })

  test("the question stands for the entry that was marked, even if that goes meanwhile", () => {
    const asking = after(keyed(model, "d"), changed(row(2, "delete_temp", "192.0.2.1")))
    expect(typing(asking, "y").task).toEqual({ kind: "remove", network: network("192.0.2.1") })
  })

  test("d is for temporary entries only", () => {
    expect(notice(keyed(model, "tab", "d"))).toBe("203.0.113.7 is not among the temporary entries")
  })

  test("p also lets a refused client in for good, but no large part of the internet", () => {
    expect(question(keyed(model, "tab", "p"))).toBe("Let 203.0.113.7 in for good, on the permanent list?")
    const wide = after(emptyModel(), listed({ "0.0.0.0/1": 1 }))
    expect(notice(keyed(wide, "p"))).toStartWith("0.0.0.0/1 is wider than /8")
  })

  test("neither does anything with a row that is no network", () => {
    const broken = after(emptyModel(), listed({ "\x1b[31m": 1 }))
    for (const key of ["d", "p"]) {
      const step = typing(broken, key, "y")
      expect([step.task, step.model.mode.kind]).toEqual([null, "browse"])
      expect(notice(keyed(broken, key))).toContain("is no address")
    }
  })
})

describe("s", () => {
  test("puts the entries in order of time, address and reason, in turn", () => {
    const mixed = after(
      emptyModel(),
      listed(
        { "2001:db8::1": 1, "10.0.0.10": 2, "10.0.0.9": 3, "10.0.0.0/8": 4 },
        { "10.0.0.9": "b", "2001:db8::1": "a" },
      ),
    )
    const order = (...keys: string[]) => keyed(mixed, ...keys).active.rows.map(({ ip }) => ip)
    expect(order()).toEqual(["2001:db8::1", "10.0.0.10", "10.0.0.9", "10.0.0.0/8"])
    expect(order("s")).toEqual(["10.0.0.0/8", "10.0.0.9", "10.0.0.10", "2001:db8::1"])
    expect(order("s", "s")).toEqual(["10.0.0.10", "10.0.0.0/8", "2001:db8::1", "10.0.0.9"])
    expect(order("s", "s", "s")).toEqual(order())
    expect(notice(keyed(mixed, "s"))).toBe("temporary entries by address")
  })

  test("leaves the mark on its entry", () => {
    expect(keyed(model, "end", "s").active.selection.key).toBe("2001:db8::1")
  })

  test("leaves the log as it is", () => {
    expect(shown(keyed(model, "tab", "tab", "s")).log).toEqual(shown(model).log)
  })
})

describe("the filter", () => {
  test("is written, shortened, kept and taken away", () => {
    expect(keyed(model, "/", "2001").filter).toBe("2001")
    expect(keyed(model, "/", "2001", "erase", "erase").filter).toBe("20")
    expect(keyed(model, "/", "2001", "clear", "x").filter).toBe("x")
    expect(keyed(model, "/", "2001", "escape")).toMatchObject({ filter: "", mode: { kind: "browse" } })
    const kept = keyed(model, "/", "2001", "enter")
    expect(kept).toMatchObject({ filter: "2001", mode: { kind: "browse" } })
    expect(keyed(kept, "escape").filter).toBe("")
    expect(keyed(kept, "/", "x").filter).toBe("2001x")
  })

  test("takes letters that are orders elsewhere", () => {
    const step = typing(model, "/", "qdypa?")
    expect([step.task, step.model.filter]).toEqual([null, "qdypa?"])
  })
})

describe("what ends and what helps", () => {
  test("q and Ctrl-C quit; Ctrl-C from wherever one is", () => {
    expect(typing(model, "q").task).toEqual({ kind: "quit" })
    for (const keys of [[], ["a"], ["/"], ["d"], ["?"], ["tab", "a", "tab"]]) {
      expect(typing(model, ...keys, "quit").task).toEqual({ kind: "quit" })
    }
  })

  test("the help goes with any key, which does nothing else", () => {
    for (const key of ["q", "d", "escape", "enter", "x"]) {
      const step = typing(model, "?", key)
      expect([step.task, step.model.mode.kind]).toEqual([null, "browse"])
    }
  })

  test("Ctrl-L draws anew and changes nothing", () => {
    const step = typing(model, "a", "redraw")
    expect([step.task, step.model]).toEqual([{ kind: "redraw" }, keyed(model, "a")])
  })

  test("other keys do nothing", () => {
    for (const key of ["x", "A", "D", "1", " ", "é", "clear", "erase"]) {
      expect([key, typing(model, key)]).toEqual([key, { model: { ...model, notice: null }, task: null }])
    }
  })
})

describe("pasted text", () => {
  const paste = (model: Model, text: string) => pressed(model, { kind: "pasted", text })

  test("gives no orders", () => {
    for (const text of ["q", "d", "dy", "a", "/", "\r", "?"]) {
      expect(paste(model, text)).toEqual({ model: { ...model, notice: null }, task: null })
    }
    expect(paste(keyed(model, "d"), "y").task).toBeNull()
  })

  test("goes into the field as one line", () => {
    expect(texts(paste(keyed(model, "a"), "10.0.0.1\n").model)[0]).toBe("10.0.0.1")
    expect(texts(paste(keyed(model, "a"), "\r\n10.0.0.1\r\n10.0.0.2\n").model)[0]).toBe("10.0.0.1")
    expect(texts(paste(keyed(model, "tab", "a", "tab"), "a\tb").model)[2]).toBe("a b")
    expect(paste(keyed(model, "/"), "2001\nq").model.filter).toBe("2001")
  })

  test("of any length keeps the screen usable", () => {
    expect(texts(paste(keyed(model, "a"), "x".repeat(1e6)).model)[0]?.length).toBe(1_000)
  })
})

test("what was done is told until the next key, and what is asked of the server meanwhile", () => {
  const asked = keyed(model, "tab", "enter")
  expect(notice(asked)).toBe("asking the server …")
  const done = after(asked, { kind: "done", text: "allowed" })
  expect(done.notice).toEqual({ text: "allowed", isBad: false })
  expect(after(done, { kind: "failed", text: "no" }).notice).toEqual({ text: "no", isBad: true })
  expect(keyed(done, "x").notice).toBeNull()
})

test("a client that was let in meanwhile can be let in again: it gets the new lifetime", () => {
  const inside = keyed(after(model, { kind: "refused", clients: [client("192.0.2.1")] }), "tab")
  expect(typing(inside, "enter").task).toMatchObject({ kind: "allow", network: network("192.0.2.1") })
})
