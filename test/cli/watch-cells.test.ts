// Cells of a terminal: text of every kind cut to a width that no terminal makes wider, and columns that stay columns.

import { describe, expect, test } from "bun:test"
import { ascii, cellsOf, column, cut, cutStart, rightColumn } from "../../cli/watch/cells.ts"
import { isPrintable } from "../../src/core/printable.ts"
import { fault } from "../faults/fault.ts"
import { seeded } from "../support/prng.ts"

const FAMILY = "👨‍👩‍👧"

describe("the cells of a text", () => {
  test.each([
    ["", 0],
    ["abc", 3],
    ["é", 1],
    ["e\u0301", 1],
    ["日本", 4],
    ["각", 2],
    ["👍", 2],
    // A terminal that does not join them draws each by itself.
    [FAMILY, 6],
    ["👍🏽", 4],
    ["\u0301", 0],
  ])("%p: at most %d", (text, cells) => {
    expect(cellsOf(text)).toBe(cells)
  })
})

describe(fault("L-04", "wide, combining and zero-width text in columns", "cut by cells"), () => {
  test.each([
    ["reason", 6, "reason"],
    ["reason", 7, "reason"],
    ["reason", 5, "reas…"],
    ["reason", 1, "…"],
    ["reason", 0, ""],
    ["", 0, ""],
    ["日本語", 6, "日本語"],
    ["日本語", 5, "日本…"],
    ["日本語", 4, "日…"],
    ["日本語", 2, "…"],
    ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
    [`${FAMILY}x`, 6, "…"],
    [`${FAMILY}x`, 7, `${FAMILY}x`],
    ["a\nb", 10, "a\\x0ab"],
    ["\x1b[31m", 9, "\\x1b[31m"],
    ["\x1b[31m", 4, "\\x1…"],
    ["\u202ex", 10, "\\u202ex"],
  ])("%j to %d cells", (text, width, expected) => {
    expect(cut(text, width)).toBe(expected)
  })

  test("has no towers of marks", () => {
    expect(cut(`x${"\u0301".repeat(50)}y`, 20)).toBe(`x${"\u0301".repeat(4)}…y`)
    expect(cut("क्षि", 20)).toBe("क्षि")
  })

  test("keeps its end where somebody is writing", () => {
    expect(cutStart("192.0.2.1", 20)).toBe("192.0.2.1")
    expect(cutStart("a long reason", 7)).toBe("…reason")
    expect(cutStart("日本語", 5)).toBe("…本語")
    expect(cutStart("日本語", 4)).toBe("…語")
  })
})

describe("a column", () => {
  test.each([
    ["10.0.0.1", 12, "10.0.0.1    "],
    ["10.0.0.1", 8, "10.0.0.1"],
    ["10.0.0.1", 4, "10.…"],
    ["é", 8, "\\u{e9}  "],
    ["日本", 12, "\\u{65e5}\\u{…"],
    ["\x1b[2J", 9, "\\x1b[2J  "],
    ["", 3, "   "],
  ])("of %j is exactly %d wide", (text, width, expected) => {
    expect(column(text, width)).toBe(expected)
    expect(expected).toHaveLength(width)
  })

  test("may stand at the right", () => {
    expect(rightColumn("17", 5)).toBe("   17")
    expect(rightColumn("123456", 5)).toBe("1234…")
  })
})

const PIECES = [
  "a",
  " ",
  "\n",
  "\x1b[2J",
  "\x9b",
  "é",
  "\u0301",
  "日",
  "\u202e",
  "\u2028",
  FAMILY,
  "🇩🇪",
  "❤️",
  "\ud800",
  "ᄀ",
  "각",
  "\u{e0041}",
  "क्षि",
]

test(
  "no text drives a terminal or is wider than its room",
  seeded((random) => {
    for (let i = 0; i < 2_000; i++) {
      const text = Array.from({ length: random.below(20) }, () => random.pick(PIECES)).join("")
      const width = random.below(30)
      for (const shown of [cut(text, width), cutStart(text, width + 1)]) {
        expect(isPrintable(shown)).toBe(true)
        expect(shown).not.toContain("\n")
      }
      expect(cellsOf(cut(text, width))).toBeLessThanOrEqual(width)
      expect(cellsOf(cutStart(text, width + 1))).toBeLessThanOrEqual(width + 1)
      expect(ascii(text)).toMatch(/^[\x20-\x7e]*$/)
      expect(column(text, width)).toHaveLength(width)
      // A terminal that counts characters, and one that counts what is joined as one, both have room.
      const joined = Bun.stringWidth(cut(text, width))
      expect(joined).toBeLessThanOrEqual(width)
    }
  }),
)
