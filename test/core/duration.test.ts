// Durations: what people may write, what they may not, and that what is written back is the same number.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { formatDuration, parseDuration, roughDuration } from "../../src/core/duration.ts"

const anySeconds = fc.oneof(fc.nat({ max: 10_000 }), fc.nat(), fc.integer({ min: 0, max: 10 ** 12 }))

describe("parseDuration", () => {
  test.each([
    ["90s", 90],
    ["30m", 1800],
    ["8h", 28_800],
    ["1h30m", 5400],
    ["7d", 604_800],
    ["2w", 1_209_600],
    ["1w2d3h4m5s", 788_645],
    ["1w5s", 604_805],
    ["90m", 5400],
    ["36h", 129_600],
    ["0", 0],
    ["0s", 0],
    ["1", 1],
    ["3600", 3600],
    ["08", 8],
    ["315360000", 315_360_000],
    ["999999999999", 999_999_999_999],
    ["999999999w", 604_799_999_395_200],
  ])("%j is %d seconds", (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds)
  })

  test.each([
    "",
    " ",
    "h",
    "s",
    "1h30x",
    "1x",
    "1m1h",
    "1h1h",
    "1s1m",
    "1d1w",
    "1 h",
    "1h 30m",
    " 1h",
    "1h ",
    "1h\n",
    "90\n",
    "-5",
    "-5s",
    "+5",
    "+5s",
    "1.5h",
    "1,5h",
    "1e3",
    "1e3s",
    "0x10",
    "1h30",
    "30m5",
    "1H",
    "5M",
    "8hours",
    "1ms",
    "1y",
    "PT8H",
    "00:30",
    "Infinity",
    "NaN",
    "null",
    "\u0661h",
    "\uff11h",
    "1\u200bh",
    "1\u00a0h",
    "9999999999999",
    "9999999999w",
    "9999999999999s",
    "1".repeat(2 ** 20),
    `${"1h".repeat(2 ** 19)}`,
    `${"9".repeat(2 ** 20)}w`,
  ])("%.20j is none", (text) => {
    expect(parseDuration(text)).toBeNull()
  })

  test("never makes a number that is not exact, and reads nothing but digits and units", () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom(..."0123456789wdhms"), maxLength: 24 }),
      fc.string({ unit: fc.constantFrom(..."019wdhms .-+e\n"), maxLength: 12 }),
      fc.string(),
    )
    fc.assert(
      fc.property(text, (written) => {
        const seconds = parseDuration(written)
        if (seconds === null) return
        expect(Number.isSafeInteger(seconds) && seconds >= 0).toBe(true)
        expect(written).toMatch(/^(?:[0-9]+|(?:[0-9]+[wdhms])+)$/)
        const sum = [...written.matchAll(/([0-9]+)([wdhms]?)/g)].reduce(
          (total, [, count = "", unit = ""]) => total + BigInt(count) * (SECONDS[unit] ?? 0n),
          0n,
        )
        expect(BigInt(seconds)).toBe(sum)
      }),
      { numRuns: 5000 },
    )
  })
})

describe("formatDuration", () => {
  test.each([
    [0, "0s"],
    [1, "1s"],
    [59, "59s"],
    [60, "1m"],
    [90, "1m30s"],
    [3600, "1h"],
    [5400, "1h30m"],
    [28_800, "8h"],
    [86_399, "23h59m59s"],
    [86_400, "1d"],
    [604_800, "7d"],
    [273_905, "3d4h5m5s"],
    [86_405, "1d5s"],
    [315_360_000, "3650d"],
    [1.999, "1s"],
    [-1, "0s"],
  ])("%d seconds are %s", (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text)
  })

  test("parses back to the same number, and takes each unit only for what the larger ones leave", () => {
    fc.assert(
      fc.property(anySeconds, (seconds) => {
        const text = formatDuration(seconds)
        expect(parseDuration(text)).toBe(seconds)
        const parts = /^(?:\d+d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text)
        const [hours, minutes, rest] = [1, 2, 3].map((i) => Number(parts?.[i] ?? 0)) as [
          number,
          number,
          number,
        ]
        expect(hours < 24 && minutes < 60 && rest < 60).toBe(true)
      }),
      { numRuns: 5000 },
    )
  })
})

describe("roughDuration", () => {
  test.each([
    [0, "0s"],
    [12, "12s"],
    [61, "1m1s"],
    [27_671, "7h41m"],
    [273_905, "3d4h"],
    [315_360_000, "3650d"],
    [-5, "0s"],
  ])("%d seconds are about %s", (seconds, text) => {
    expect(roughDuration(seconds)).toBe(text)
  })

  test("is the beginning of the exact text, two units at most, and never promises more", () => {
    fc.assert(
      fc.property(anySeconds, (seconds) => {
        const text = roughDuration(seconds)
        expect(formatDuration(seconds).startsWith(text)).toBe(true)
        expect(text).toMatch(/^(?:\d+[dhms]){1,2}$/)
        expect(parseDuration(text)).toBeLessThanOrEqual(seconds)
      }),
      { numRuns: 2000 },
    )
  })
})

const SECONDS: Readonly<Record<string, bigint>> = { "": 1n, s: 1n, m: 60n, h: 3600n, d: 86_400n, w: 604_800n }
