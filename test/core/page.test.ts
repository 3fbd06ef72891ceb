// Page: limit and offset as plain decimal digits in range, and nothing else.

import { describe, expect, test } from "bun:test"
import { DEFAULT_LIMIT, LARGEST_LIMIT, parseLimit, parseOffset } from "../../src/core/page.ts"
import { fault } from "../faults/fault.ts"

/** Neither a limit nor an offset. */
const NEVER = [
  "",
  " ",
  "-1",
  "-0",
  "+1",
  "1.0",
  "1.5",
  "1e2",
  "0x10",
  "0b1",
  "1_000",
  "1,000",
  " 1",
  "1 ",
  "1\n",
  "1\0",
  "10;",
  "NaN",
  "Infinity",
  "null",
  "true",
  "\u0661",
  "\uff11",
  "10000000000000000",
  "9007199254740992",
  "1".repeat(100_000),
]

describe(fault("J-11", "texts as a limit", "whole numbers from 1 to 1000 alone"), () => {
  test.each([
    ["1", 1],
    ["200", DEFAULT_LIMIT],
    ["999", 999],
    ["1000", LARGEST_LIMIT],
    ["0001", 1],
  ])("%j is %d", (text, limit) => {
    expect(parseLimit(text)).toBe(limit)
  })

  test.each([...NEVER, "0", "00", "1001", "4294967297", "9007199254740991"])("%.20j is none", (text) => {
    expect(parseLimit(text)).toBeNull()
  })
})

describe("parseOffset", () => {
  test.each([
    ["0", 0],
    ["1", 1],
    ["0010", 10],
    ["1001", 1001],
    ["4294967296", 2 ** 32],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
  ])("%j is %d", (text, offset) => {
    expect(parseOffset(text)).toBe(offset)
  })

  test.each(NEVER)("%.20j is none", (text) => {
    expect(parseOffset(text)).toBeNull()
  })
})
