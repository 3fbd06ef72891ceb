// Habits of the source that no linter knows: who may touch the process and the time, names, lengths, first lines.

import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fault } from "../faults/fault.ts"
import { ROOT, type SourceFile, sourceFiles } from "./source-files.ts"

const product = sourceFiles("src", "cli")
const everything = sourceFiles("src", "cli", "scripts", "test")

/** The source without its comments, so that a comment may speak of what the code must not do. */
function code({ text }: SourceFile): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1")
}

const RESERVED: ReadonlyArray<
  readonly [what: string, pattern: RegExp, by: readonly string[], because: string]
> = [
  [
    "the process",
    /(?<![.\w])process\.(env|argv|exit|exitCode|stdout|stderr|stdin|on|once|off|cwd|chdir|getuid|platform|pid|kill|nextTick)\b/,
    ["cli/main.ts"],
    "everything else is a function of its arguments, so tests of it run in parallel and see no real machine",
  ],
  [
    "standard streams",
    /\bBun\.(stdin|stdout|stderr|argv|env|main)\b|\bimport\.meta\.(env|main)\b/,
    ["cli/main.ts"],
    "there is one edge of the process",
  ],
  ["the console", /(?<![.\w])console\./, [], "the server has a log and a command has an output; both escape"],
  [
    "the time",
    /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bBun\.nanoseconds\(/,
    ["src/core/clock.ts"],
    "time comes from a Clock that was passed in, so a test can set it",
  ],
  ["chance", /\bMath\.random\(/, [], "what must be random here must not be guessed"],
  [
    "the word whitelist",
    /whitelist/i,
    ["src/wire/paths.ts", "src/wire/answers.ts", "src/openapi/answer-schemas.ts"],
    "only the wire says it",
  ],
  ["a listener", /\bBun\.serve\(/, ["src/http/server.ts"], "its defaults are dangerous, and are set there"],
  [
    "a request",
    /(?<![.\w])fetch\(/,
    ["src/app/remote.ts"],
    "nothing but a client command talks to anybody, and only to its server",
  ],
  ["a program", /\bBun\.(spawn|spawnSync|\$)|node:child_process/, [], "nothing is run but this program"],
  ["code from text", /\beval\(|\bnew Function\(/, [], "the build forbids it"],
]

describe(
  fault("C-05", "the source, searched for clocks, variables, chance and listeners", "each in its one place"),
  () => {
    test.each(RESERVED)("%s (%p), in %j: %s", (_, pattern, by) => {
      const users = product.filter((file) => pattern.test(code(file))).map(({ path }) => path)
      expect(users.filter((path) => !by.some((place) => path.startsWith(place)))).toEqual([])
      // A rule about something that nobody does any more is no rule.
      if (by.length > 0) expect(users).not.toBeEmpty()
    })
  },
)

describe("every file of the product", () => {
  test.each(product.map((file) => [file.path, file] as const))("%s", (path, { text }) => {
    const lines = text.split("\n")
    const comment = lines.slice(
      0,
      lines.findIndex((line) => !line.startsWith("//")),
    )
    expect(lines[0]).toMatch(/^\/\/ \S/)
    // Its first sentence says what the file is; a further one may say what it must never do.
    expect(comment.map((line) => line.slice(3)).join(" ")).toMatch(/[.?]$/)
    // The last line feed ends a line and begins none.
    expect(lines.length - 1).toBeLessThanOrEqual(300)
    expect(basename(path)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*\.tsx?$/)
    expect(basename(path)).not.toMatch(/^(utils?|helpers?|common|types?|misc|index|constants|shared)\.tsx?$/)
  })
})

test("the tests and the scripts begin with what they are, too", () => {
  const silent = everything.filter(({ text }) => !/^(#!.*\n)?\/\/ \S/.test(text))
  expect(silent.map(({ path }) => path)).toEqual([])
})

test("nothing is left to do, and no code is kept in comments", () => {
  // Written apart, so that this file does not find itself.
  const words = ["TO DO", "FIX ME", "XX X", "HA CK"].map((word) => word.replace(" ", ""))
  const marks = new RegExp(`\\b(${words.join("|")})\\b`)
  const dead =
    /^\s*\/\/\s*(import .* from|export (const|function)|const \w+ =|let \w+ =|return\b.*\($|if \(.*\) \{$|\}$)/m
  const found = everything.filter(({ text }) => marks.test(text) || dead.test(text))
  expect(found.map(({ path }) => path)).toEqual([])
})

test("no test is left out, and none is alone", () => {
  const call = /\b(test|describe|it)\.(only|skip|todo|failing)\b/
  expect(
    sourceFiles("test")
      .filter((file) => call.test(code(file)))
      .map(({ path }) => path),
  ).toEqual([])
})

test("the map of the source names only files that there are", () => {
  const map = readFileSync(join(ROOT, "src/README.md"), "utf8")
  const names = [...map.matchAll(/`((?:[a-z-]+\/)*[a-z-]+\.ts)`/g)].map(([, name = ""]) => name)
  expect(names.length).toBeGreaterThan(20)
  const missing = names.filter((name) => !existsSync(join(ROOT, name.startsWith("cli/") ? "" : "src", name)))
  expect(missing).toEqual([])
})
