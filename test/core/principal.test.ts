// What each scope may change and ask: tables, and limits tried from both sides.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Change } from "../../src/core/change.ts"
import { Network } from "../../src/core/network.ts"
import {
  forbidden,
  mayChange,
  mayCheck,
  mayImport,
  mayManageTokens,
  OFFLINE,
  type Principal,
  TOKEN_FILE,
} from "../../src/core/principal.ts"
import { explainToken, explainTokenName, TOKEN_SCOPES, type TokenRequest } from "../../src/core/token.ts"
import { address, network } from "../support/parsed.ts"

const OWN = "203.0.113.7"
const BY = address(OWN)

const principals = {
  all: TOKEN_FILE,
  offline: OFFLINE,
  write: { name: "w", scope: "write", maxTtlSeconds: null, within: null },
  read: { name: "r", scope: "read", maxTtlSeconds: null, within: null },
  "temp-only": { name: "t", scope: "temp-only", maxTtlSeconds: 60, within: null },
  "temp-only within": { name: "tw", scope: "temp-only", maxTtlSeconds: 60, within: network("192.0.2.0/24") },
  self: { name: "s", scope: "self", maxTtlSeconds: 60, within: null },
} satisfies Record<string, Principal>

const add = (ip: string, ttlSeconds: number): Change => ({
  op: "add_temp",
  network: network(ip),
  ttlSeconds,
  at: 0,
  expiresAt: ttlSeconds * 1000,
  reason: null,
  by: BY,
})
const change = (op: "add_perm" | "delete_perm" | "delete_temp", ip: string): Change => ({
  op,
  network: network(ip),
  at: 0,
  by: BY,
})

/** Each change, and the principals that may make it when they ask from OWN. */
const CHANGES: ReadonlyArray<readonly [string, Change, readonly (keyof typeof principals)[]]> = [
  ["a permanent entry", change("add_perm", OWN), ["all", "offline", "write"]],
  ["a permanent removal", change("delete_perm", "192.0.2.1"), ["all", "offline", "write"]],
  ["its own address, in time", add(OWN, 60), ["all", "offline", "write", "temp-only", "self"]],
  ["its own address, a second too long", add(OWN, 61), ["all", "offline", "write"]],
  [
    "its own address as part of a network",
    add("203.0.113.6/31", 60),
    ["all", "offline", "write", "temp-only"],
  ],
  ["another address, in time", add("203.0.113.8", 60), ["all", "offline", "write", "temp-only"]],
  [
    "another address inside",
    add("192.0.2.1", 60),
    ["all", "offline", "write", "temp-only", "temp-only within"],
  ],
  ["another address inside, too long", add("192.0.2.1", 61), ["all", "offline", "write"]],
  [
    "the whole network",
    add("192.0.2.0/24", 60),
    ["all", "offline", "write", "temp-only", "temp-only within"],
  ],
  ["the network around it", add("192.0.2.0/23", 60), ["all", "offline", "write", "temp-only"]],
  ["the other family", add("2001:db8::1", 60), ["all", "offline", "write", "temp-only"]],
  ["a removal outside", change("delete_temp", OWN), ["all", "offline", "write", "temp-only"]],
  [
    "a removal inside",
    change("delete_temp", "192.0.2.1"),
    ["all", "offline", "write", "temp-only", "temp-only within"],
  ],
]

const NAMES = Object.keys(principals) as Array<keyof typeof principals>

test.each(CHANGES)("%s", (_what, change, may) => {
  expect(NAMES.filter((name) => mayChange(principals[name], BY, change))).toEqual([...may])
})

describe("its own address", () => {
  test("is nothing where the address of the client is not known", () => {
    expect(mayChange(principals.self, null, add(OWN, 1))).toBe(false)
    expect(mayCheck(principals.self, null, network(OWN))).toBe(false)
  })

  test("of IPv6 is one address and no /64", () => {
    const by = address("2001:db8::7")
    expect(mayChange(principals.self, by, add("2001:db8::7", 60))).toBe(true)
    expect(mayChange(principals.self, by, add("2001:db8::/64", 60))).toBe(false)
    expect(mayChange(principals.self, by, add("2001:db8::8", 60))).toBe(false)
  })
})

test("a question", () => {
  const may = (ip: string) => NAMES.filter((name) => mayCheck(principals[name], BY, network(ip)))
  expect(may(OWN)).toEqual(["all", "offline", "write", "read", "temp-only", "self"])
  expect(may("192.0.2.9")).toEqual(["all", "offline", "write", "read", "temp-only", "temp-only within"])
  expect(may("0.0.0.0/0")).toEqual(["all", "offline", "write", "read", "temp-only"])
})

test("an import, and the tokens", () => {
  expect(NAMES.filter((name) => mayImport(principals[name]))).toEqual(["all", "offline", "write"])
  expect(NAMES.filter((name) => mayManageTokens(principals[name]))).toEqual(["all", "offline"])
})

test("a limited principal that has lost its limit adds nothing", () => {
  for (const scope of ["temp-only", "self"] as const) {
    expect(mayChange({ ...principals[scope], maxTtlSeconds: null }, BY, add(OWN, 1))).toBe(false)
  }
})

test("for any network and any lifetime: never longer than the limit, never outside of the network", () => {
  const within = network("10.0.0.0/8")
  const limited: Principal = { name: "x", scope: "temp-only", maxTtlSeconds: 3600, within }
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 0xffffffff }),
      fc.integer({ min: 0, max: 32 }),
      fc.integer({ min: 1, max: 7200 }),
      (word, length, ttl) => {
        const base = Network.parse([24, 16, 8, 0].map((shift) => (word >>> shift) & 255).join(".")) as Network
        const asked = Network.from(base.address.masked(length), length) as Network
        const isInside = length >= 8 && asked.address.word0 >>> 24 === 10
        expect(mayChange(limited, null, add(asked.toString(), ttl))).toBe(isInside && ttl <= 3600)
      },
    ),
    { numRuns: 2000 },
  )
})

test("a refusal says what the token may do", () => {
  const message = (name: keyof typeof principals, by = BY) => forbidden(principals[name], by).message
  expect(NAMES.map((name) => forbidden(principals[name], BY).code)).toEqual(NAMES.map(() => "forbidden"))
  expect(message("read")).toBe("the token r may read, but change nothing and make no backup")
  expect(message("temp-only within")).toBe(
    "the token tw may check, add and remove temporary entries within 192.0.2.0/24, for 1m at most, and nothing else",
  )
  expect(message("self")).toBe(
    "the token s may let in and check its own address, 203.0.113.7, for 1m at most, and nothing else",
  )
  expect(forbidden(principals.self, null).message).toContain("the proxy in front must name its client")
})

describe("a request for a token", () => {
  const request = (more: Partial<TokenRequest>): TokenRequest => ({
    name: "ci",
    scope: "read",
    maxTtlSeconds: null,
    within: null,
    lifetimeSeconds: null,
    ...more,
  })
  const limited = { maxTtlSeconds: 60 }

  test.each(TOKEN_SCOPES)("of scope %s has its limits, and no other", (scope) => {
    const needs = scope === "temp-only" || scope === "self"
    expect(explainToken(request({ scope })) === null).toBe(!needs)
    expect(explainToken(request({ scope, ...limited })) === null).toBe(needs)
    expect(explainToken(request({ scope, ...limited, within: network("10.0.0.0/8") })) === null).toBe(
      scope === "temp-only",
    )
  })

  test.each([0, -1, 1.5, Number.NaN, 315_360_001, Number.POSITIVE_INFINITY])(
    "with a lifetime of %p is refused",
    (seconds) => {
      expect(explainToken(request({ lifetimeSeconds: seconds }))).toContain("lifetime")
      expect(explainToken(request({ scope: "self", maxTtlSeconds: seconds }))).toContain("lifetime")
    },
  )

  test.each(["a", "0", "ci-2026", "a.b_c-d", "x".repeat(64)])("may be named %p", (name) => {
    expect(explainTokenName(name)).toBeNull()
  })

  test.each(["", "A", "-a", ".a", "a b", "a/b", "ä", "a\n", "x".repeat(65), "file", "offline", "a\u202e"])(
    "may not be named %p",
    (name) => {
      expect(explainTokenName(name)).toContain("is no name for a token")
    },
  )
})
