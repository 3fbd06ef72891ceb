// Text from elsewhere: what is escaped, what is left alone, and that nothing gets through.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { isPrintable, printable, quoted } from "../../src/core/printable.ts"
import { fault } from "../faults/fault.ts"

/** Ranges of code points that must never reach a terminal or a line of a log as they are. */
const DANGEROUS: ReadonlyArray<readonly [name: string, first: number, last: number]> = [
  ["C0, with tab, line feed and ESC", 0x00, 0x1f],
  ["DEL and C1, with the one-byte CSI", 0x7f, 0x9f],
  ["Arabic letter mark", 0x61c, 0x61c],
  ["zero-width space", 0x200b, 0x200b],
  ["left-to-right and right-to-left mark", 0x200e, 0x200f],
  ["line and paragraph separator", 0x2028, 0x2029],
  ["bidirectional embeddings and overrides", 0x202a, 0x202e],
  ["word joiner, invisible operators, bidirectional isolates", 0x2060, 0x2069],
  ["Hangul fillers", 0x115f, 0x1160],
  ["Hangul filler, alone", 0x3164, 0x3164],
  ["half-width Hangul filler", 0xffa0, 0xffa0],
  ["Khmer vowels that are not drawn", 0x17b4, 0x17b5],
  ["lone surrogates", 0xd800, 0xdfff],
  ["byte order mark", 0xfeff, 0xfeff],
  ["tags", 0xe0000, 0xe007f],
]

describe(
  fault("L-01", "every control character, bidirectional mark and line separator", "is written out"),
  () => {
    test.each(DANGEROUS)("%s", (_name, first, last) => {
      for (let code = first; code <= last; code++) {
        const text = `a${String.fromCodePoint(code)}b`
        expect([code, isPrintable(text)]).toEqual([code, false])
        expect(printable(text)).toMatch(/^a\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|u\{[0-9a-f]+\})b$/)
        expect(printable(text)).toContain(code.toString(16))
        expect(quoted(text)).toBe(`"${printable(text)}"`)
      }
    })

    test.each([
      ["\\x1b[2J", "\x1b[2J"],
      ["\\x1b]52;c;AAAA\\x07", "\x1b]52;c;AAAA\x07"],
      ["\\x9b31m", "\x9b31m"],
      ["a\\x0d\\x0ab\\x09c", "a\r\nb\tc"],
      ["a\\u2028b\\u2029c", "a\u2028b\u2029c"],
      ["\\u202efdp.exe", "\u202efdp.exe"],
      ["\\ud800", "\ud800"],
      ["\\udc00\\ud800", "\udc00\ud800"],
      ["\\u{e0041}", "\u{e0041}"],
      ["\\x00", "\0"],
    ])("%s is what is shown", (shown, text) => {
      expect(printable(text)).toBe(shown)
    })
  },
)

describe("ordinary text", () => {
  test.each([
    "",
    "office VPN, ticket #4711",
    "Büro Zürich",
    "офис",
    "事務所",
    "مكتب",
    "e\u0301",
    "👩\u200d💻 on call 🇨🇭",
    "می\u200cخواهم",
    "100 \u00b5s \u2013 \u201cquoted\u201d \\x1b",
    "a\u00a0b",
    "\u{1f600}\u{10ffff}",
  ])("%j is left alone", (text) => {
    expect(isPrintable(text)).toBe(true)
    expect(printable(text)).toBe(text)
  })
})

describe(fault("L-01", "random text", "printable, and changed only where it was not"), () => {
  test("makes any text printable, and changes only text that is not", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)) }),
      fc.string({ unit: fc.constantFrom("a", "\x1b", "\n", "\u202e", "\ud83d", "\ude00", "\u{e0020}", "é") }),
    )
    fc.assert(
      fc.property(text, (given) => {
        const shown = printable(given)
        expect(isPrintable(shown)).toBe(true)
        expect(printable(shown)).toBe(shown)
        expect(isPrintable(given)).toBe(shown === given)
        // The same question twice: a search with a global expression must not remember where it stopped.
        expect(isPrintable(given)).toBe(shown === given)
      }),
      { numRuns: 3000 },
    )
  })
})

describe("quoted", () => {
  test.each([
    ["nothing", "", '""'],
    ["64 characters", "x".repeat(64), `"${"x".repeat(64)}"`],
    ["65 characters", "x".repeat(65), `"${"x".repeat(64)}…"`],
    ["64 characters outside the BMP", "😀".repeat(64), `"${"😀".repeat(64)}"`],
    ["65 characters outside the BMP", "😀".repeat(65), `"${"😀".repeat(64)}…"`],
    ["one inside and 63 outside", `x${"😀".repeat(63)}`, `"x${"😀".repeat(63)}"`],
    ["one inside and 64 outside", `x${"😀".repeat(64)}`, `"x${"😀".repeat(63)}…"`],
    ["63 inside and a pair", `${"x".repeat(63)}😀`, `"${"x".repeat(63)}😀"`],
    ["64 inside and a pair", `${"x".repeat(64)}😀`, `"${"x".repeat(64)}…"`],
    ["a megabyte", "x".repeat(2 ** 20), `"${"x".repeat(64)}…"`],
    ["64 characters that grow when escaped", "\n".repeat(64), `"${"\\x0a".repeat(64)}"`],
  ])("%s", (_what, text, shown) => {
    expect(quoted(text)).toBe(shown)
  })

  test("never cuts a character in two, and is always printable and short", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("x", "😀", "\u{e0001}", "\x1b"), maxLength: 140 }),
        (text) => {
          const shown = quoted(text)
          expect(isPrintable(shown)).toBe(true)
          expect(shown).not.toContain("\\ud")
          expect(shown.length).toBeLessThanOrEqual(64 * 9 + 3)
          expect(shown.endsWith('…"')).toBe([...text].length > 64)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
