// Request bodies: one JSON object, every member once, whatever tricks the text plays.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { parseJsonObject } from "../../src/wire/json-body.ts"
import { fault } from "../faults/fault.ts"

const NOT_JSON = "the body is not valid JSON"
const NOT_OBJECT = "the body is not a JSON object"
const NOT_UTF8 = "the body is not valid UTF-8"
const TWICE = "a member of the JSON object occurs twice"

const bytes = (text: string) => new TextEncoder().encode(text)

/** What is wrong with the body, or the object in it. */
function outcome(body: string | Uint8Array): unknown {
  try {
    return parseJsonObject(typeof body === "string" ? bytes(body) : body)
  } catch (error) {
    if (error instanceof SyntaxError) return error.message
    throw error
  }
}

describe("an object", () => {
  test.each([
    "{}",
    " \t\r\n{ } \n",
    '{"ip":"192.0.2.7"}',
    '{"a":null,"b":true,"c":false,"d":-1.5e3,"e":"","f":[],"g":{}}',
    '{"":1}',
    '{"a":{"a":{"a":1}}}',
    '{"a":[{"a":1},{"a":2},[{"a":3}]]}',
    '{"a":"x:y","b":":"}',
    '{"a:b":1,"a":{"b:c":2}}',
    '{"a":"\\":\\"","b":"\\\\"}',
    '{"a\\"":1,"a":2}',
    '{"a\\\\":1,"a":2}',
    '{"a":1,"A":2,"\u00e4":3,"a\u0308":4}',
    '{"0":1,"1":2,"10":3,"length":4}',
    '{"toString":1,"constructor":2,"hasOwnProperty":3,"toJSON":4}',
    '{"\\ud800":1,"\\udc00":2}',
    '{"a":1,"a\\u0000":2}',
    '{"a":"\u2028\u2029"}',
  ])("%j", (text) => {
    expect(outcome(text)).toEqual(JSON.parse(text))
  })

  test("with a reason of any characters", () => {
    expect(outcome('{"reason":"{\\"ip\\":\\"0.0.0.0/0\\",\\"ip\\":1}"}')).toEqual({
      reason: '{"ip":"0.0.0.0/0","ip":1}',
    })
    expect(outcome('{"reason":"\\ud83d\\ude00 😀"}')).toEqual({ reason: "😀 😀" })
    expect(outcome('{"reason":"\\ud800"}')).toEqual({ reason: "\ud800" })
  })

  test("whose members say __proto__ has them for its own, and the prototype stays as it is", () => {
    const object = outcome('{"__proto__":{"ip":"192.0.2.7"},"constructor":{"prototype":{"ip":"192.0.2.7"}}}')
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
    expect(Object.hasOwn(object as object, "__proto__")).toBe(true)
    expect((object as { ip?: unknown }).ip).toBeUndefined()
    expect(({} as { ip?: unknown }).ip).toBeUndefined()
  })
})

describe("anything else", () => {
  test.each([
    ["", NOT_JSON],
    [" ", NOT_JSON],
    ["\0", NOT_JSON],
    ["{", NOT_JSON],
    ["}", NOT_JSON],
    ["{}{}", NOT_JSON],
    ["{},", NOT_JSON],
    ['{"a":1,}', NOT_JSON],
    ['{"a"}', NOT_JSON],
    ['{"a":}', NOT_JSON],
    ['{"a"::1}', NOT_JSON],
    ['{"a":01}', NOT_JSON],
    ['{"a":+1}', NOT_JSON],
    ['{"a":.5}', NOT_JSON],
    ['{"a":0x10}', NOT_JSON],
    ['{"a":NaN}', NOT_JSON],
    ['{"a":Infinity}', NOT_JSON],
    ['{"a":undefined}', NOT_JSON],
    ["{'a':1}", NOT_JSON],
    ["{a:1}", NOT_JSON],
    ['{"a":"\t"}', NOT_JSON],
    ['{"a":"\\x41"}', NOT_JSON],
    ['{"a":"\\u12"}', NOT_JSON],
    ['{"a":1}//', NOT_JSON],
    ['{"a":1/**/}', NOT_JSON],
    ["\ufeff{}", NOT_JSON],
    ["{}\ufeff", NOT_JSON],
    ["\u00a0{}", NOT_JSON],
    ["[]", NOT_OBJECT],
    ['[{"ip":"192.0.2.7"}]', NOT_OBJECT],
    ["null", NOT_OBJECT],
    ["true", NOT_OBJECT],
    ["0", NOT_OBJECT],
    ['""', NOT_OBJECT],
    ['"{}"', NOT_OBJECT],
  ])("%j", (text, message) => {
    expect(outcome(text)).toBe(message)
  })

  test.each([
    ["a lone byte", [0xff]],
    ["a lone continuation", [0x80]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["an overlong NUL", [0xc0, 0x80]],
    ["an overlong brace in three bytes", [0xe0, 0x81, 0xbb]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["a pair of surrogates", [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
    ["above U+10FFFF", [0xf4, 0x90, 0x80, 0x80]],
    ["a cut character", [0xe2, 0x82]],
    ["UTF-16", [0xff, 0xfe, 0x7b, 0, 0x7d, 0]],
  ])("with %s, in a text, in a name and outside: no UTF-8", (_what, faulty) => {
    for (const [before, after] of [
      ['{"a":"', '"}'],
      ['{"', '":1}'],
      ["", "{}"],
      ["{}", ""],
    ] as const) {
      expect(outcome(Buffer.concat([bytes(before), Uint8Array.from(faulty), bytes(after)]))).toBe(NOT_UTF8)
    }
  })
})

describe(
  fault("J-05", "objects with a member twice, in any spelling and depth", "refused, and nothing else is"),
  () => {
    test.each([
      '{"ip":"192.0.2.7","ip":"192.0.2.8"}',
      '{"ip":"192.0.2.7","ip":"192.0.2.7"}',
      '{"ip":"192.0.2.7","\\u0069p":"192.0.2.8"}',
      '{"\\u0069\\u0070":1,"i\\u0070":2}',
      '{"a/b":1,"a\\/b":2}',
      '{"é":1,"\\u00e9":2}',
      '{"\\ud83d\\ude00":1,"😀":2}',
      '{"":1,"":2}',
      '{"a":1,"b":2,"c":3,"a":4}',
      '{"a":1,"a":2,"a":3}',
      '{"1":1,"1":2}',
      '{"__proto__":1,"__proto__":2}',
      '{"a":{"b":1,"b":2}}',
      '{"a":[[{"b":1,"b":2}]]}',
      '{"a":{"b":1,"b":2},"a":3}',
      '{"a":{"x":{"y":1}},"a":3}',
      '{"a":[{"x":1},{"x":1}],"a":[]}',
      '{"a:":1,"a:":2}',
      '{"a":":","a":"::"}',
      '{"a":"\\"","a":"\\\\"}',
      '{"a" \t:\r\n1,"a":2}',
    ])("%j", (text) => {
      expect(outcome(text)).toBe(TWICE)
    })

    test("is found in any object, in any spelling, and nothing is taken for one", () => {
      const name = fc.oneof(
        fc.constantFrom("ip", "a", "b", ":", '"', "\\", "", "0", "__proto__", "constructor", "{", "é", "😀"),
        fc.string({ unit: "grapheme", maxLength: 4 }),
      )
      const { value } = fc.letrec<{ value: unknown }>((tie) => ({
        value: fc.oneof(
          { depthSize: "small" },
          fc.constantFrom(null, true, 0, -1.5, "", ":", '"', '\\":', "x"),
          fc.string({ unit: "binary", maxLength: 6 }),
          fc.array(tie("value"), { maxLength: 3 }),
          fc
            .uniqueArray(fc.tuple(name, tie("value")), { maxLength: 4, selector: ([key]) => key })
            .map(toObject),
        ),
      }))
      const members = fc.uniqueArray(fc.tuple(name, value), {
        minLength: 1,
        maxLength: 5,
        selector: ([key]) => key,
      })
      fc.assert(
        fc.property(members, fc.nat(), fc.boolean(), (list, pick, escaped) => {
          const text = JSON.stringify(toObject(list))
          expect(outcome(text)).toEqual(JSON.parse(text))
          const again = JSON.stringify(list[pick % list.length]?.[0])
          const spelled = escaped ? `"${escapeAll(JSON.parse(again))}"` : again
          expect(outcome(`${text.slice(0, -1)},${spelled}:1}`)).toBe(TWICE)
          expect(outcome(`{"outer":[${text.slice(0, -1)},${spelled}:1}]}`)).toBe(TWICE)
        }),
        { numRuns: 1000 },
      )
    })

    function toObject(list: ReadonlyArray<readonly [string, unknown]>): object {
      const object = {}
      for (const [key, value] of list) {
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
      }
      return object
    }

    function escapeAll(text: string): string {
      return Array.from(
        { length: text.length },
        (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`,
      ).join("")
    }
  },
)

describe(
  fault("J-09", "64 KiB of brackets and other text that costs a parser much", "read or refused, in time"),
  () => {
    const FULL = 65_536

    test.each([
      ["brackets", "[".repeat(FULL), NOT_JSON],
      ["braces with names", '{"a":'.repeat(FULL / 5), NOT_JSON],
      ["quotes", '"'.repeat(FULL), NOT_JSON],
      ["backslashes in a text", `{"a":"${"\\".repeat(FULL - 9)}`, NOT_JSON],
      ["colons", ":".repeat(FULL), NOT_JSON],
      ["brackets that close", "[".repeat(FULL / 2) + "]".repeat(FULL / 2), NOT_OBJECT],
      ["the same member", `{${'"a":1,'.repeat(10_000)}"a":1}`, TWICE],
    ])("%s", (_what, text, message) => {
      expect(outcome(text)).toBe(message)
    })

    test("ten thousand objects, one in another", () => {
      let value = outcome('{"a":'.repeat(10_000) + 1 + "}".repeat(10_000))
      for (let depth = 0; depth < 10_000; depth++) value = (value as { a: unknown }).a
      expect(value).toBe(1)
      expect(outcome(`${'{"a":'.repeat(9_000)}{"b":1,"b":1}${"}".repeat(9_000)}`)).toBe(TWICE)
    })

    test("ten thousand members", () => {
      const text = `{${Array.from({ length: 9000 }, (_, i) => `"${i}":":"`).join(",")}}`
      expect(outcome(text)).toEqual(JSON.parse(text))
    })
  },
)
