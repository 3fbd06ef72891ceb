// What a client knows of the bound of an import is what a server takes, and what docs/commands.md says fits into it.

import { expect, test } from "bun:test"
import { LONGEST_TTL_SECONDS } from "../../src/core/entry.ts"
import { formatEntryLine, type Lifetime } from "../../src/core/entry-line.ts"
import * as server from "../../src/http/request-body.ts"
import { LARGEST_IMPORT } from "../../src/wire/largest-import.ts"

test("client and server have the same bound for an import", () => {
  expect(LARGEST_IMPORT).toBe(server.LARGEST_IMPORT)
})

test.each<[number, Lifetime]>([
  [1_000_000, { seconds: LONGEST_TTL_SECONDS }],
  [900_000, { until: Date.UTC(2026, 0, 1) }],
])("%d of the longest IPv6 networks fit with the lifetime %j", (count, lifetime) => {
  const line = formatEntryLine(`${"ffff:".repeat(7)}fffe/127`, lifetime, "")
  expect(count * (line.length + 1)).toBeLessThan(LARGEST_IMPORT)
})
