// A JSON array read in groups: the items of JSON.parse, and nothing that JSON.parse refuses or has lost.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { itemsOf } from "../../cli/bulk/json-items.ts"
import { hasRepeatedMember } from "../../src/wire/repeated-member.ts"

/** The value of a JSON text, or the one word of every text that is none, or no array, or has a member twice. */
function whole(json: string): unknown {
  try {
    const value = JSON.parse(json)
    return Array.isArray(value) && !hasRepeatedMember(json, value) ? value : "refused"
  } catch {
    return "refused"
  }
}

function inGroups(json: string, group: number): unknown {
  try {
    return [...itemsOf(json, group)]
  } catch (cause) {
    if (cause instanceof SyntaxError) return "refused"
    throw cause
  }
}

const SPACE = fc.constantFrom("", " ", "\n", "\r\n\t", "  ")

test("arrays of anything, with spaces anywhere, are read as JSON.parse reads them, whatever the groups", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(SPACE, fc.json(), SPACE), { maxLength: 12 }),
      fc.tuple(SPACE, SPACE),
      fc.integer({ min: 1, max: 60 }),
      (items, [before, after], group) => {
        const json = `${before}[${items.map((parts) => parts.join("")).join(",") || before}]${after}`
        expect(inGroups(json, group)).toEqual(whole(json))
      },
    ),
    { numRuns: 2_000 },
  )
})

test("a text with a character too many, too few or another one is taken only if JSON.parse takes it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.json(), { maxLength: 6 }),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom("", ...'[]{},:"\\ 1tn\u00a0\ufeff')), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.boolean(),
      fc.integer({ min: 1, max: 30 }),
      (items, changes, replaces, group) => {
        let json = `[${items.join(",")}]`
        for (const [where, what] of changes) {
          const at = where % (json.length + 1)
          json = json.slice(0, at) + what + json.slice(at + (replaces || what === "" ? 1 : 0))
        }
        expect([json, inGroups(json, group)]).toEqual([json, whole(json)])
      },
    ),
    { numRuns: 20_000 },
  )
})

test.each([
  "",
  " ",
  "[",
  "]",
  "[1",
  "[1,",
  "[1,]",
  "[,1]",
  "[1,,2]",
  "[1]2",
  "[1],[2]",
  "[1}]",
  "[{]}",
  '["]',
  '["\\',
  '["\\"]',
  "\ufeff[]",
  "\u00a0[]",
  "{}",
  "7",
  '"[1]"',
])("%j is refused", (json) => {
  for (const group of [1, 100]) expect(inGroups(json, group)).toBe("refused")
})

test("an item with a member twice is refused by its line and number, in whatever group it is", () => {
  const items = Array.from({ length: 30 }, (_, i) => `{"ip":"192.0.2.${i}","ttl":{"a":1}}`)
  for (const twice of ['{"ip":"192.0.2.9","ttl":60,"ttl":null}', '[{"ip":{"a":1,"b":":","\\u0061":2}}]']) {
    for (const group of [1, 100, 10_000]) {
      const json = `[${items.toSpliced(20, 0, twice).join(",\n")}]`
      expect(() => [...itemsOf(json, group)]).toThrow("line 21: entry 21 has a member twice")
    }
  }
})
