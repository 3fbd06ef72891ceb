// An error goes over the wire as people read it, and comes back as it was.

import { describe, expect, test } from "bun:test"
import { formatErrorText, parseErrorText } from "../../src/wire/error-text.ts"

describe("the text of an error", () => {
  test.each([
    [{ message: "no", hint: undefined }, "no\n"],
    [{ message: "no", hint: "take another" }, "no\n  take another\n"],
    [
      { message: "2 bad lines\nline 1: no\nline 2: no", hint: undefined },
      "2 bad lines\nline 1: no\nline 2: no\n",
    ],
    [{ message: "1 bad line\nline 1: no", hint: "see above" }, "1 bad line\nline 1: no\n  see above\n"],
  ])("%j is %j, and back", (error, text) => {
    expect(formatErrorText(error)).toBe(text)
    expect(parseErrorText(text)).toEqual(error)
  })

  test.each([
    ["", ""],
    ["  \n", ""],
    ["  all of it\n", "all of it"],
    ["one\n   three spaces", "one\n   three spaces"],
    ['{\n  "error": "no"\n}', '{\n  "error": "no"\n}'],
    ["one\n  two\nthree", "one\n  two\nthree"],
  ])("of another program, %j, is all message", (text, message) => {
    expect(parseErrorText(text)).toEqual({ message, hint: undefined })
  })
})
