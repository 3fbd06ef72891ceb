// Which name was probably meant: close ones are found, and a stranger gets no suggestion.

import { describe, expect, test } from "bun:test"
import { nearestName } from "../../src/nearest-name.ts"

const NAMES = ["allow", "deny", "check", "list", "logs", "status", "server.listen", "auth.trusted_proxies"]

describe("nearestName", () => {
  test.each([
    ["allow", "allow"],
    ["alow", "allow"],
    ["allows", "allow"],
    ["deni", "deny"],
    ["chek", "check"],
    ["ist", "list"],
    ["log", "logs"],
    ["statsu", "status"],
    ["server.listne", "server.listen"],
    ["auth.trusted-proxies", "auth.trusted_proxies"],
    ["auth.trustedproxy", "auth.trusted_proxies"],
  ])("%j means %s", (text, name) => {
    expect(nearestName(text, NAMES)).toBe(name)
  })

  test.each(["", "x", "zebra", "ALLOW", "permit", "server", "trusted", "a".repeat(1000)])(
    "%j means nothing",
    (text) => {
      expect(nearestName(text, NAMES)).toBeNull()
    },
  )

  test("of two that are as near the first one is taken, and of all the nearest", () => {
    expect(nearestName("cat", ["bat", "hat"])).toBe("bat")
    expect(nearestName("carts", ["parks", "cart"])).toBe("cart")
  })

  test("without names there is none", () => {
    expect(nearestName("allow", [])).toBeNull()
  })
})
