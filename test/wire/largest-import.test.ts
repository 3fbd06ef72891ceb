// What docs/commands.md says fits into one import.

import { expect, test } from "bun:test"
import { LONGEST_TTL_SECONDS } from "../../src/core/entry.ts"
import { formatEntryLine, type Lifetime } from "../../src/core/entry-line.ts"
import { LARGEST_IMPORT } from "../../src/wire/largest-import.ts"

test.each<[number, Lifetime]>([
  [1_000_000, { seconds: LONGEST_TTL_SECONDS }],
  [900_000, { until: Date.UTC(2026, 0, 1) }],
])("%d of the longest IPv6 networks fit with the lifetime %j", (count, lifetime) => {
  const line = formatEntryLine(`${"ffff:".repeat(7)}fffe/127`, lifetime, "")
  expect(count * (line.length + 1)).toBeLessThan(LARGEST_IMPORT)
})
