// What the document says of an input and what the server takes are the same thing: schema and reader side by side.

import { describe, expect, test } from "bun:test"
import Ajv2020 from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import fc from "fast-check"
import { GateError } from "../../src/core/errors.ts"
import { DEFAULT_LIMIT, LARGEST_LIMIT } from "../../src/core/page.ts"
import { choice, type Input, inDigits, integer, object } from "../../src/wire/inputs.ts"
import { fromQuery, optional, required, withDefault } from "../../src/wire/parameters.ts"
import * as requests from "../../src/wire/requests.ts"
import { fault } from "../faults/fault.ts"
import { ADDRESS_ROWS, NETWORK_ROWS } from "../support/corpus.ts"

const ajv = new Ajv2020({ strict: true })
addFormats(ajv)

function isTaken(input: Input<unknown>, value: unknown): boolean {
  try {
    input.read(value, "it")
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(GateError)
    expect((error as GateError).code).toBe("invalid")
    return false
  }
}

const json = fc.jsonValue({ maxDepth: 2 })
const numbers = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, 0.5, 1000, 1001, 315_360_000, 315_360_001, 2 ** 53 - 1, 2 ** 53, 1e308),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
)

describe("the schema takes what the reader takes, and nothing else", () => {
  const INPUTS: ReadonlyArray<readonly [string, Input<unknown>, fc.Arbitrary<unknown>]> = [
    ["a lifetime", integer({ minimum: 1, maximum: 315_360_000 }), fc.oneof(json, numbers)],
    ["a number without a bound of ours", integer({ minimum: 0 }), fc.oneof(json, numbers)],
    [
      "one of some texts",
      choice(["perm", "temp"], "a list"),
      fc.oneof(json, fc.constantFrom("perm", "temp", "PERM", "perm ", "toString")),
    ],
    [
      "an object",
      object({
        description: "",
        required: { a: integer({ minimum: 1 }) },
        optional: { b: choice(["x"], "a b") },
      }),
      fc.oneof(
        json.filter((value) => !Array.isArray(value)),
        fc.record({ a: fc.oneof(numbers, json), b: fc.constantFrom("x", "y", null) }, { requiredKeys: [] }),
      ),
    ],
  ]

  test.each(INPUTS)("%s", (_name, input, values) => {
    const validate = ajv.compile(input.schema)
    let taken = 0
    fc.assert(
      fc.property(values, (value) => {
        const isGood = isTaken(input, value)
        if (isGood) taken++
        expect({ value, isGood }).toEqual({ value, isGood: validate(value) })
      }),
      { numRuns: 1000 },
    )
    expect(taken).toBeGreaterThan(10)
  })

  test.each([
    ["a permanent addition", requests.PERMANENT_BODY, ["192.0.2.7"]],
    ["a temporary addition", requests.TEMPORARY_BODY, ["192.0.2.7", "10.0.0.0/8"]],
  ] as const)("%s: whatever the reader takes", (_name, input, ips) => {
    const validate = ajv.compile(input.schema)
    const values = fc.record(
      {
        ip: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...ips) }, json),
        ttl_seconds: numbers,
        reason: fc.oneof(fc.string({ unit: "grapheme", maxLength: 600 }), json),
        more: json,
      },
      { requiredKeys: [] },
    )
    let taken = 0
    fc.assert(
      fc.property(values, (value) => {
        if (!isTaken(input, value)) return
        taken++
        expect(validate(value)).toBe(true)
      }),
      { numRuns: 2000 },
    )
    expect(taken).toBeGreaterThan(50)
  })

  test("every address and network of the corpus that is one, in every spelling", () => {
    const validate = ajv.compile(requests.PERMANENT_BODY.schema)
    const good = [...ADDRESS_ROWS, ...NETWORK_ROWS].filter(({ input: ip }) =>
      isTaken(requests.PERMANENT_BODY, { ip }),
    )
    expect(good.length).toBeGreaterThan(60)
    expect(good.filter(({ input: ip }) => !validate({ ip }))).toEqual([])
    for (const ip of ["", "localhost", "192.0.2.7:80", "[::1]", "10.0.0.0/08", "10.0.0.0/", "/8"]) {
      expect([ip, validate({ ip })]).toEqual([ip, false])
    }
  })

  test("a reason has as many characters for both, also beyond 16 bits", () => {
    const validate = ajv.compile(requests.TEMPORARY_BODY.schema)
    for (const [length, isGood] of [
      [500, true],
      [501, false],
    ] as const) {
      const body = { ip: "192.0.2.7", ttl_seconds: 1, reason: "\u{1f600}".repeat(length) }
      expect([validate(body), isTaken(requests.TEMPORARY_BODY, body)]).toEqual([isGood, isGood])
    }
  })
})

/** No number in plain digits. */
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

const queryOf = (entries: Record<string, string>) => new URLSearchParams(entries)

describe(fault("J-11", "texts as a limit", "whole numbers from 1 to 1000 alone"), () => {
  const read = (limit: string) => requests.readPage(queryOf({ limit })).limit

  test.each([
    ["1", 1],
    ["200", DEFAULT_LIMIT],
    ["999", 999],
    ["1000", LARGEST_LIMIT],
    ["0001", 1],
  ])("%j is %d", (text, limit) => {
    expect(read(text)).toBe(limit)
  })

  test.each([...NEVER, "0", "00", "1001", "4294967297", "9007199254740991"])("%.20j is none", (text) => {
    expect(() => read(text)).toThrow("limit must be an integer from 1 to 1000")
  })
})

describe("offset", () => {
  const read = (offset: string) => requests.readPage(queryOf({ offset })).offset

  test.each([
    ["0", 0],
    ["1", 1],
    ["0010", 10],
    ["1001", 1001],
    ["4294967296", 2 ** 32],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
  ])("%j is %d", (text, offset) => {
    expect(read(text)).toBe(offset)
  })

  test.each(NEVER)("%.20j is none", (text) => {
    expect(() => read(text)).toThrow("offset must be an integer of 0 or more")
  })
})

describe("a parameter", () => {
  const words = { name: "n", description: "", input: inDigits(integer({ minimum: 1, maximum: 9 })) }

  test("that is absent is null, or its default, or an error, and the schema says which", () => {
    const query = new URLSearchParams("")
    expect(fromQuery(query, optional(words))).toBeNull()
    expect(fromQuery(query, withDefault(words, 5))).toBe(5)
    expect(() => fromQuery(query, required(words))).toThrow("n is missing")
    expect([optional(words), withDefault(words, 5), required(words)].map((one) => one.required)).toEqual([
      false,
      false,
      true,
    ])
    expect(withDefault(words, 5).schema).toEqual({ type: "integer", minimum: 1, maximum: 9, default: 5 })
  })

  test("occurs once", () => {
    expect(() => fromQuery(new URLSearchParams("n=1&n=1"), optional(words))).toThrow(
      "n occurs more than once",
    )
  })
})

describe("which entries to name", () => {
  test.each(["", "ALL", "none", "all "])("matches=%j is refused", (matches) => {
    expect(() => requests.readCheckQuery(queryOf({ ip: "192.0.2.7", matches }))).toThrow(
      `${JSON.stringify(matches)} is not a value of matches: use all`,
    )
  })
})
