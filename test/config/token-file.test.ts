// The token at rest: which files are taken, which are refused, and how a new one is made.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { checkToken, makeTokenFile, readTokenFile, SHORTEST_TOKEN, TokenError } from "../../src/token-file.ts"
import { fault } from "../faults/fault.ts"

const OLD = "old-token-0123456789-0123456789-0123456789"
const NEW = "new~token/+=._!#$%&*^|{}[]<>?,;:'\"`()@\\-"

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ipgate-test-"))
  path = join(directory, "api-token")
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

function write(content: string | Uint8Array, mode = 0o600): void {
  writeFileSync(path, content)
  chmodSync(path, mode)
}

/** The message of the refusal. */
function refusal(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof TokenError) return error.message
    throw error
  }
  throw new Error("it was taken")
}

describe("a file is read", () => {
  test.each([
    ["with one line", `${OLD}\n`, [OLD]],
    ["without a line end", OLD, [OLD]],
    ["with the line ends of Windows", `${OLD}\r\n`, [OLD]],
    ["with several lines", `${OLD}\n${NEW}\n`, [OLD, NEW]],
    ["with several lines of Windows", `${OLD}\r\n${NEW}`, [OLD, NEW]],
    ["with empty lines", `\n\n${OLD}\n\r\n${NEW}\n\n`, [OLD, NEW]],
    ["with the shortest token", "x".repeat(32), ["x".repeat(32)]],
    ["with a long token", "x".repeat(10_000), ["x".repeat(10_000)]],
  ])("%s", (_what, content, tokens) => {
    write(content)
    expect(readTokenFile(path)).toEqual(tokens)
  })

  test.each([0o600, 0o640, 0o400, 0o440, 0o660, 0o700])("with mode %o", (mode) => {
    write(`${OLD}\n`, mode)
    expect(readTokenFile(path)).toEqual([OLD])
  })

  test("through a symbolic link, by the mode of what it points to", () => {
    write(`${OLD}\n`)
    const link = join(directory, "link")
    symlinkSync(path, link)
    expect(readTokenFile(link)).toEqual([OLD])
    chmodSync(path, 0o644)
    expect(refusal(() => readTokenFile(link))).toContain("is open to other users")
  })
})

describe(
  fault(
    "B-06 B-09 L-08",
    "token files that are missing, empty, short, binary, or open to others",
    "refused, without a word of the token",
  ),
  () => {
    const SHORT = `holds a token of fewer than ${SHORTEST_TOKEN} characters`
    const ODD = "holds a token with spaces or special characters"

    test("that is missing", () => {
      expect(refusal(() => readTokenFile(path))).toBe(`the token file ${path} does not exist`)
      expect(refusal(() => readTokenFile(""))).toBe("the token file  does not exist")
    })

    test("that is a directory", () => {
      mkdirSync(path, { mode: 0o700 })
      expect(refusal(() => readTokenFile(path))).toBe(`the token file ${path} cannot be read`)
    })

    test.each(["", "\n", "\r\n\r\n"])("that is empty: %j", (content) => {
      write(content)
      expect(refusal(() => readTokenFile(path))).toBe(`the token file ${path} is empty`)
    })

    test.each([
      ["one character", "x\n", SHORT],
      ["31 characters", "x".repeat(31), SHORT],
      ["spaces only", " \n", SHORT],
      ["a short one after a good one", `${OLD}\nshort\n`, SHORT],
      ["a short one before a good one", `short\n${OLD}\n`, SHORT],
      ["a space at the end", `${OLD} \n`, ODD],
      ["a space at the start", ` ${OLD}\n`, ODD],
      ["a space inside", `${OLD} ${OLD}\n`, ODD],
      ["a tab", `${OLD}\t\n`, ODD],
      ["a carriage return", `${OLD}\r${OLD}\n`, ODD],
      ["NUL", `${OLD}\0\n`, ODD],
      ["DEL", `${OLD}\x7f\n`, ODD],
      ["a letter beyond ASCII", `${OLD}é\n`, ODD],
      ["a byte order mark", `\ufeff${OLD}\n`, ODD],
      ["a no-break space", `${OLD}\u00a0\n`, ODD],
    ])("with %s", (_what, content, fault) => {
      write(content)
      expect(refusal(() => readTokenFile(path))).toBe(`the token file ${path} ${fault}`)
    })

    test("that is binary", () => {
      write(Uint8Array.from({ length: 64 }, (_, i) => 128 + i))
      expect(refusal(() => readTokenFile(path))).toEndWith(ODD)
    })

    test.each([0o604, 0o644, 0o602, 0o601, 0o666, 0o777, 0o607])("that others can reach: mode %o", (mode) => {
      write(`${OLD}\n`, mode)
      expect(refusal(() => readTokenFile(path))).toBe(
        `the token file ${path} is open to other users: chmod 0640 ${path}, and make a new token`,
      )
    })

    test("that others can reach, of something else: nobody is told to change the rights of it", () => {
      write("root:x:0:0:root:/root:/bin/bash of a person\n", 0o644)
      expect(refusal(() => readTokenFile(path))).toBe(`the token file ${path} ${ODD}`)
    })

    test("that cannot be made: where, why and what to do", () => {
      write("no directory")
      expect(refusal(() => makeTokenFile(`${path}/state/api-token`))).toBe(
        `the token file ${path}/state/api-token cannot be made: ENOTDIR`,
      )
    })

    test("and no message has a word of the token", () => {
      for (const content of [`${OLD} `, `${OLD}\n${OLD.slice(0, 20)}`, `\t${OLD}`]) {
        write(content)
        const message = refusal(() => readTokenFile(path))
        expect(message).not.toContain(OLD.slice(0, 9))
      }
    })
  },
)

describe("a token of the environment", () => {
  test.each(["", " ", "short", "x".repeat(31)])("%j is too short", (token) => {
    expect(refusal(() => checkToken(token, "IPGATE_TOKEN"))).toBe(
      "IPGATE_TOKEN holds a token of fewer than 32 characters",
    )
  })

  test.each([`${OLD} `, `${OLD}\n`, `${OLD}é`, " ".repeat(40)])(
    "%j has what a header cannot carry",
    (token) => {
      expect(refusal(() => checkToken(token, "IPGATE_TOKEN"))).toBe(
        "IPGATE_TOKEN holds a token with spaces or special characters",
      )
    },
  )

  test("is fine with every printable character", () => {
    expect(() => checkToken(NEW, "IPGATE_TOKEN")).not.toThrow()
  })
})

describe(
  fault("B-06 B-09", "a token file is made under every umask", "256 random bits, for its owner alone"),
  () => {
    test.each([0o000, 0o022, 0o077])("is for its owner alone, under umask %o", (mask) => {
      const nested = join(directory, "state", "ipgate", "api-token")
      const before = process.umask(mask)
      try {
        expect(makeTokenFile(nested)).toBe(true)
      } finally {
        process.umask(before)
      }
      expect(statSync(nested).mode & 0o777).toBe(0o600)
      expect(statSync(join(directory, "state", "ipgate")).mode & 0o777).toBe(0o700)
      expect(readTokenFile(nested)).toHaveLength(1)
    })

    test("holds 256 random bits in one line, another time others", () => {
      makeTokenFile(path)
      expect(readFileSync(path, "utf8")).toMatch(/^[A-Za-z0-9_-]{43}\n$/)
      const other = join(directory, "other")
      makeTokenFile(other)
      expect(readFileSync(other, "utf8")).not.toBe(readFileSync(path, "utf8"))
      expect(readdirSync(directory).sort()).toEqual(["api-token", "other"])
    })

    test.each(["", "short\n", `${OLD}\n`])("never takes the place of one that is there: %j", (content) => {
      write(content, 0o644)
      expect(makeTokenFile(path)).toBe(false)
      expect(readFileSync(path, "utf8")).toBe(content)
      expect(statSync(path).mode & 0o777).toBe(0o644)
    })
  },
)
