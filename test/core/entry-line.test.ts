// An entry as a line: what is written is read, seconds as seconds and ends as ends.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { LONGEST_TTL_SECONDS } from "../../src/core/entry.ts"
import { endOf, formatEntryLine, parseEntryLine, readLifetime } from "../../src/core/entry-line.ts"

const NOW = Date.UTC(2026, 0, 1)

test("seconds are counted by the clock of whoever reads them, and an end is the same for everybody", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: LONGEST_TTL_SECONDS }), fc.nat(NOW), (seconds, clock) => {
      const duration = formatEntryLine("192.0.2.1", { seconds }, "x")
      expect(duration).toBe(`192.0.2.1\t${seconds}\tx`)
      expect(parseEntryLine(duration, clock)).toMatchObject({ until: clock + seconds * 1000, reason: "x" })
      const until = clock + seconds
      const end = formatEntryLine("192.0.2.1", { until }, "")
      expect(parseEntryLine(end, clock)).toMatchObject({ until, reason: null })
    }),
  )
  expect(formatEntryLine("192.0.2.1", null, "")).toBe("192.0.2.1")
})

test.each([
  ["1h30m", { seconds: 5400 }],
  ["60", { seconds: 60 }],
  ["2026-01-01T00:00:00Z", { until: NOW }],
  ["2026-01-01T01:00:00.5+01:00", { until: NOW + 500 }],
  ["2026-01-01T00:00:00.123456+00:00", { until: NOW + 123 }],
  ["2026-01-01T00:00:00.999999999Z", { until: NOW + 999 }],
  ["2026-01-01T00:00:00.9999999999Z", null],
  ["2026-01-01T00:00:00.Z", null],
  ["2026-01-01T00:00:00", null],
  ["0", null],
  ["11y", null],
  ["2036-01-01T00:00:00Z", null],
  ["", null],
])("the lifetime %j", (text, lifetime) => {
  expect(readLifetime(text, NOW)).toEqual(lifetime)
  const end =
    lifetime === null ? null : "seconds" in lifetime ? NOW + lifetime.seconds * 1000 : lifetime.until
  expect(endOf(text, NOW)).toBe(end)
})
