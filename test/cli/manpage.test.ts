// The manual: every command has a page, the pages say what the help says, and the tools that show them find no fault.

import { afterAll, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Command } from "commander"
import { manualPages } from "../../cli/manual/pages.ts"
import { releaseDate } from "../../cli/manual/release-date.ts"
import { escaped, Page } from "../../cli/manual/roff.ts"
import { VARIABLES } from "../../cli/manual/surroundings.ts"
import { buildProgram } from "../../cli/program.ts"
import { loadConfig } from "../../src/config/config.ts"
import { CONFIG_KEYS } from "../../src/config/keys.ts"
import type { Environment } from "../../src/config/settings.ts"
import { CliMachine } from "../support/cli.ts"
import { GROFF, MAN, MANDOC } from "../support/man.ts"

const machine = new CliMachine()
afterAll(() => machine.remove())

const { program } = buildProgram({} as Parameters<typeof buildProgram>[0])
const pages = manualPages(program, { version: "1.2.3", date: "2026-11-21" })
const directory = machine.path("man1")
mkdirSync(directory)
for (const { name, text } of pages) writeFileSync(join(directory, name), text)

/** A page as the terminal shows it, on one line. */
function shown(name: string): string {
  const command = [GROFF ?? "groff", "-man", "-Tutf8", "-P-cbou", join(directory, name)]
  return spaced(Bun.spawnSync(command).stdout.toString())
}

function spaced(text: string): string {
  return text.replaceAll("\u2010", "-").replace(/\s+/g, " ").trim()
}

function commands(of: Command, words: string): Array<readonly [words: string, command: Command]> {
  return of.commands.flatMap((command) => [
    [`${words}-${command.name()}`, command] as const,
    ...commands(command, `${words}-${command.name()}`),
  ])
}

const all = [["ipgate", program] as const, ...commands(program, "ipgate")]

test("there is one page for each command, one for the program, and one for its configuration", () => {
  expect(pages.map(({ name }) => name)).toEqual([...all.map(([words]) => `${words}.1`), "ipgate.toml.5"])
})

test.skipIf(GROFF === null)(
  "ipgate.toml(5) has every key below its section, and how else it is given",
  () => {
    const page = shown("ipgate.toml.5")
    for (const { key, description, variable, option } of CONFIG_KEYS) {
      const [section = "", name = ""] = key.split(".")
      const part = page.split(`[${section.toUpperCase()}]`)[1] ?? page.split(`[${section}]`)[1] ?? ""
      expect(part).toContain(name)
      expect(part.toLowerCase()).toContain(spaced(description).toLowerCase())
      expect(part).toContain(`${option.split(" ")[0]}, ${variable}`)
    }
  },
)

describe.each(all)("%s(1)", (words, command) => {
  const name = `${words}.1`

  test.skipIf(GROFF === null)("says what --help says", async () => {
    const page = shown(name).toLowerCase()
    const { out } = await machine.run([...words.split("-").slice(1), "--help"])
    for (const { description } of [...command.options, ...command.registeredArguments]) {
      expect(page).toContain(spaced(description).toLowerCase())
    }
    for (const { flags } of command.options) expect(page).toContain(flags.toLowerCase())
    if (command !== program) expect(page).toContain(spaced(command.description()).toLowerCase())
    const [examples = ""] = out.split("\n\n")
    for (const example of examples.split("\n").slice(1)) {
      for (const part of example.split(/ {3,}/)) expect(page).toContain(spaced(part).toLowerCase())
    }
    for (const part of ["ipgate 1.2.3", "2026-11-21", "exit status", "78"]) expect(page).toContain(part)
  })

  const linters: ReadonlyArray<readonly [name: string, program: string | null, command: readonly string[]]> =
    [
      ["groff", GROFF, ["groff", "-ww", "-man", "-z"]],
      ["man", MAN, ["man", "--warnings", "-l"]],
      ["mandoc", MANDOC, ["mandoc", "-Tlint", "-Wall"]],
    ]
  for (const [tool, present, lint] of linters) {
    test.skipIf(present === null)(`has no fault that ${tool} finds`, () => {
      const { exitCode, stdout, stderr } = Bun.spawnSync([...lint, join(directory, name)], {
        env: { ...process.env, MANPAGER: "cat", MANWIDTH: "80" },
      })
      // man prints the page as well.
      const found = `${tool === "man" ? "" : stdout.toString()}${stderr.toString()}`
      expect([exitCode, found]).toEqual([0, ""])
    })
  }
})

test.skipIf(GROFF === null)("text comes out as it went in, whatever roff would take it for", () => {
  const texts = [".SH no title", "'quoted' \"text\"", "back\\slash \\fBno\\fR ^ ~ ` - --option", "é … –"]
  const page = new Page({ name: "x", section: 1, date: "", source: "" }).section("TEXTS")
  for (const text of texts) page.text(text).item(escaped(text), escaped(text)).verbatim([text])
  writeFileSync(machine.path("x.1"), page.toString())
  const { stdout, stderr } = Bun.spawnSync([
    "groff",
    "-ww",
    "-Kutf8",
    "-man",
    "-Tutf8",
    "-P-cbou",
    machine.path("x.1"),
  ])
  expect(stderr.toString()).toBe("")
  const lines = stdout.toString().replaceAll("\u2010", "-").replaceAll("\u2212", "-")
  for (const text of texts) expect(lines.split(text)).toHaveLength(5)
})

test("every variable that the configuration reads is on the page of the program", () => {
  const asked = new Set<string>()
  const env = new Proxy<Environment>({}, { get: (_, name) => void asked.add(String(name)) })
  loadConfig({ flags: {}, env, userId: 1000, read: () => null, isSocket: () => false })
  const named = VARIABLES.flatMap(([names]) => names.split(", "))
  expect([...asked].filter((name) => !named.includes(name))).toEqual([])
  const others = ["NO_COLOR", "TMPDIR"]
  expect(named.filter((name) => !asked.has(name) && !others.includes(name))).toEqual([])
})

describe("the command", () => {
  test("writes the pages, and the same ones again", async () => {
    const dir = machine.path("deep", "man1")
    const first = await machine.run(["manpage", "--dir", dir])
    expect(first).toEqual({ code: 0, out: `wrote ${pages.length} pages to ${dir}\n`, err: "" })
    const read = () => readdirSync(dir).map((name) => readFileSync(join(dir, name), "utf8"))
    const before = read()
    machine.clock.advance(86_400_000)
    const again = await machine.run(["manpage", "--dir", dir, "--json"])
    expect(JSON.parse(again.out).pages).toHaveLength(pages.length)
    expect(read()).toEqual(before)
    expect(readdirSync(dir).toSorted()).toEqual(pages.map(({ name }) => name).toSorted())
  })

  test("says why it cannot", async () => {
    const dir = machine.file("taken", "")
    const { code, err } = await machine.run(["manpage", "--dir", dir])
    expect([code, err]).toEqual([2, `ipgate: the pages cannot be written to "${dir}" (EEXIST)\n`])
    expect((await machine.run("manpage")).code).toBe(2)
    expect(existsSync(machine.path("undefined"))).toBe(false)
  })
})

test("the day is that of the version in the changelog", () => {
  const changelog = "## [Unreleased]\n\n## [1.2.0] - 2026-12-01\n\n## [1.1.0] - 2026-11-21\n"
  expect(releaseDate("1.1.0", changelog)).toBe("2026-11-21")
  expect(releaseDate("1.2.0", changelog)).toBe("2026-12-01")
  expect(releaseDate("1.3.0", changelog)).toBe("unreleased")
})
