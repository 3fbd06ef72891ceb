// Entries: which lifetimes and reasons are accepted.

import { describe, expect, test } from "bun:test"
import { explainReason, isTtl, LONGEST_REASON, LONGEST_TTL_SECONDS } from "../../src/core/entry.ts"
import { fault } from "../faults/fault.ts"

describe(
  fault("J-01", "values of every type as a lifetime", "whole seconds from 1 to ten years alone"),
  () => {
    test("goes to ten years", () => {
      expect(LONGEST_TTL_SECONDS).toBe(10 * 365 * 86_400)
    })

    test.each([1, 2, 60, 60.0, 3600, 2_147_483, 2_147_484, 315_359_999, 315_360_000])(
      "%p is a lifetime",
      (value) => {
        expect(isTtl(value)).toBe(true)
      },
    )

    const NONE: ReadonlyArray<readonly [name: string, value: unknown]> = [
      ["0", 0],
      ["-0", -0],
      ["-1", -1],
      ["one above the longest", 315_360_001],
      ["a half", 0.5],
      ["a fraction", 60.5],
      ["one and a little", 1 + Number.EPSILON],
      ["2^53", 2 ** 53],
      ["1e308", 1e308],
      ["NaN", Number.NaN],
      ["Infinity", Number.POSITIVE_INFINITY],
      ["-Infinity", Number.NEGATIVE_INFINITY],
      ["text", "60"],
      ["empty text", ""],
      ["true", true],
      ["null", null],
      ["undefined", undefined],
      ["an array", [60]],
      ["an object", { valueOf: () => 60 }],
      ["a big integer", 60n],
      ["a Number object", Object(60)],
    ]

    test.each(NONE)("%s is none", (_name, value) => {
      expect(isTtl(value)).toBe(false)
    })
  },
)

describe("explainReason", () => {
  const TOO_LONG = "reason is longer than 500 characters"

  test.each([
    ["empty", ""],
    ["words", "contractor, until the end of the audit"],
    ["quotes, percent and backslash", `"x' OR 1=1 -- %s \\n`],
    ["emoji with joiners", "👩\u200d💻 on call"],
    ["combining marks", "e\u0301"],
    ["500 characters", "x".repeat(500)],
    ["500 characters of two bytes", "é".repeat(500)],
    ["500 characters outside the BMP", "😀".repeat(500)],
    ["499 inside and one outside the BMP", `${"x".repeat(499)}😀`],
  ])("%s: accepted", (_name, text) => {
    expect(explainReason(text)).toBeNull()
  })

  test.each([
    ["501 characters", "x".repeat(501)],
    ["501 characters outside the BMP", "😀".repeat(501)],
    ["500 inside and one outside the BMP", `${"x".repeat(500)}😀`],
    ["one inside and 500 outside the BMP", `x${"😀".repeat(500)}`],
    ["a megabyte", "x".repeat(2 ** 20)],
    ["a megabyte outside the BMP", "😀".repeat(2 ** 19)],
    ["too long and not printable", "\n".repeat(501)],
  ])("%s: too long", (_name, text) => {
    expect(explainReason(text)).toBe(TOO_LONG)
  })

  test.each([
    ["NUL", "a\0b"],
    ["tab", "a\tb"],
    ["line feed", "a\nb"],
    ["a line feed at the end", "ab\n"],
    ["carriage return", "a\rb"],
    ["ESC", "\x1b[31mred"],
    ["DEL", "a\x7fb"],
    ["C1", "a\x9bb"],
    ["line separator", "a\u2028b"],
    ["paragraph separator", "a\u2029b"],
    ["right-to-left override", "a\u202eb"],
    ["isolate", "a\u2066b"],
    ["right-to-left mark", "a\u200fb"],
    ["zero-width space", "a\u200bb"],
    ["byte order mark", "\ufeffa"],
    ["tag", "a\u{e0041}b"],
    ["lone high surrogate", "a\ud83d"],
    ["lone low surrogate", "\ude00a"],
    ["surrogates in the wrong order", "\ude00\ud83d"],
  ])("%s: refused", (_name, text) => {
    const fault = explainReason(text)
    expect(fault).toStartWith("reason contains ")
    expect(fault).not.toContain(text)
  })

  test("counts code points, not the letters that they make", () => {
    expect(LONGEST_REASON).toBe(500)
    expect(explainReason("e\u0301".repeat(250))).toBeNull()
    expect(explainReason("e\u0301".repeat(251))).toBe(TOO_LONG)
  })
})
