// Which tokens count: known, not revoked, and before both of their deadlines.

import { describe, expect, test } from "bun:test"
import type { StoredToken } from "../../src/core/token.ts"
import { TokenBook } from "../../src/core/token-book.ts"
import { FakeClock } from "../support/fake-clock.ts"

const clock = () => new FakeClock(Date.UTC(2026, 4, 17))

function stored(name: string, more: Partial<StoredToken> = {}): StoredToken {
  return {
    name,
    digest: `digest of ${name}`,
    scope: "read",
    maxTtlSeconds: null,
    within: null,
    createdAt: 0,
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
    ...more,
  }
}

describe("a token", () => {
  test("is found by its digest, as what it may do", () => {
    const book = new TokenBook(clock())
    const rows = [
      stored("watcher"),
      stored("helpdesk", { scope: "temp-only", maxTtlSeconds: 60, within: "192.0.2.0/24" }),
    ]
    expect(book.learn(rows)).toBe(0)
    expect(book.find("digest of watcher")?.principal).toMatchObject({
      name: "watcher",
      scope: "read",
      within: null,
    })
    const limited = book.find("digest of helpdesk")?.principal
    expect([limited?.scope, limited?.maxTtlSeconds, String(limited?.within)]).toEqual([
      "temp-only",
      60,
      "192.0.2.0/24",
    ])
    for (const other of ["", "watcher", "digest of nobody", "DIGEST OF WATCHER"])
      expect(book.find(other)).toBeNull()
  })

  test("counts no more from its revocation on, and what it has open is told", () => {
    const book = new TokenBook(clock())
    book.learn([stored("a"), stored("b")])
    const credential = book.find("digest of a")
    const told: string[] = []
    credential?.onEnd(() => told.push("a"))
    book.find("digest of b")?.onEnd(() => told.push("b"))
    const forget = credential?.onEnd(() => told.push("never"))
    forget?.()
    book.revoke("a")
    expect(told).toEqual(["a"])
    expect([book.find("digest of a"), book.stateOf("a")]).toEqual([null, "revoked"])
    expect(book.stateOf("b")).toBe("active")
    credential?.onEnd(() => told.push("late"))
    expect(told).toEqual(["a", "late"])
    book.learn([stored("a")])
    expect(book.find("digest of a")).toBeNull()
  })

  test("that was revoked before the start never counts", () => {
    const book = new TokenBook(clock())
    expect(book.learn([stored("a", { revokedAt: 1 })])).toBe(0)
    expect([book.find("digest of a"), book.stateOf("a")]).toEqual([null, "revoked"])
  })

  test.each([
    ["an unknown scope", { scope: "everything" }],
    ["an unknown scope that is a member of every object", { scope: "constructor" }],
    ["a network that is none", { scope: "temp-only", maxTtlSeconds: 60, within: "10.0.0.5/8" }],
    ["an empty network", { scope: "temp-only", maxTtlSeconds: 60, within: "" }],
  ])("of %s lets nobody in, and is counted", (_what, more) => {
    const book = new TokenBook(clock())
    expect(book.learn([stored("a", more), stored("b")])).toBe(1)
    expect([book.find("digest of a"), book.stateOf("a")]).toEqual([null, "invalid"])
    expect(book.find("digest of b")).not.toBeNull()
  })

  test.each(["\ufffdaptop", "a b", ""])("of the name %j lets nobody in, and is counted", (name) => {
    const book = new TokenBook(clock())
    expect(book.learn([stored(name, { digest: "digest of a" }), stored("b")])).toBe(1)
    expect([book.find("digest of a"), book.stateOf(name)]).toEqual([null, "invalid"])
  })
})

describe("an expiry", () => {
  const opened = () => {
    const time = clock()
    const book = new TokenBook(time)
    book.learn([stored("a", { expiresAt: time.wall() + 60_000 })])
    return { time, book, counts: () => book.find("digest of a") !== null }
  }

  test("holds from its very millisecond on", () => {
    const { time, book, counts } = opened()
    time.advance(59_999)
    expect([counts(), book.stateOf("a")]).toEqual([true, "active"])
    time.advance(1)
    expect([counts(), book.stateOf("a")]).toEqual([false, "expired"])
  })

  test("is not put off by a clock that is set back", () => {
    const { time, counts } = opened()
    time.stepWall(-3_600_000)
    time.advance(59_999)
    expect(counts()).toBe(true)
    time.advance(1)
    expect(counts()).toBe(false)
  })

  test("comes with a clock that is set forward, and stays when that is set back", () => {
    const { time, counts } = opened()
    time.stepWall(60_000)
    expect(counts()).toBe(false)
    time.stepWall(-60_000)
    expect(counts()).toBe(false)
  })

  test("that has passed before the start holds, whatever the monotonic clock says", () => {
    const time = clock()
    const book = new TokenBook(time)
    book.learn([stored("a", { expiresAt: time.wall() })])
    expect(book.find("digest of a")).toBeNull()
  })

  test("ends what the token has open without a request", () => {
    const { time, book } = opened()
    let ended = false
    book.find("digest of a")?.onEnd(() => {
      ended = true
    })
    time.advance(59_999)
    book.endExpired()
    expect(ended).toBe(false)
    time.advance(1)
    book.endExpired()
    expect(ended).toBe(true)
  })
})

describe("the last use", () => {
  test("is remembered at once, and handed over once", () => {
    const time = clock()
    const book = new TokenBook(time)
    book.learn([stored("a", { lastUsedAt: 5 }), stored("b")])
    expect([book.lastUseOf("a"), book.lastUseOf("b"), book.lastUseOf("nobody")]).toEqual([5, null, null])
    expect(book.takeUses()).toEqual([])
    book.find("digest of b")
    time.advance(1000)
    book.find("digest of b")
    expect(book.lastUseOf("b")).toBe(time.wall())
    const uses = [{ name: "b", at: time.wall() }]
    expect(book.takeUses()).toEqual(uses)
    expect(book.takeUses()).toEqual([])
    book.giveBack(uses)
    expect(book.takeUses()).toEqual(uses)
  })

  test("is not that of a token that is refused", () => {
    const book = new TokenBook(clock())
    book.learn([stored("a")])
    book.revoke("a")
    book.find("digest of a")
    expect([book.lastUseOf("a"), book.takeUses()]).toEqual([null, []])
  })
})
