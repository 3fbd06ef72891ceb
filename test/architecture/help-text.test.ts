// The help of every command has the same parts, in the same words, and no option means two things.

import { describe, expect, test } from "bun:test"
import type { Command } from "commander"
import { buildProgram } from "../../cli/program.ts"
import { fault } from "../faults/fault.ts"
import { CliMachine } from "../support/cli.ts"

const { program } = buildProgram({} as Parameters<typeof buildProgram>[0])
const commands = program.commands.flatMap((command) => [
  [command.name(), command] as const,
  ...command.commands.map((below) => [`${command.name()} ${below.name()}`, below] as const),
])

test("the commands of the design are there", () => {
  const design = ["serve", "allow", "deny", "check", "list", "logs", "status", "import", "export"]
  expect(commands.map(([name]) => name)).toEqual(expect.arrayContaining(design))
})

describe.each([["the program", program] as const, ...commands])("%s", (_, command) => {
  test("describes itself in whole sentences", () => {
    expect(command.description()).toMatch(/^[A-Z][\s\S]*\.$/)
  })

  test("describes every option and argument in a few words", () => {
    for (const { flags, description } of command.options) {
      // A capital only where a name begins: X-Real-IP.
      expect([flags, description]).toEqual([flags, expect.stringMatching(/^([a-z]|X-)[^\n]*[^.\n]$/)])
    }
    for (const argument of command.registeredArguments) {
      expect(argument.description).toMatch(/^[a-z][^\n]*[^.\n]$/)
    }
  })

  test("has a long name for each option", () => {
    for (const { flags } of command.options)
      expect(flags).toMatch(/^(-[a-zA-Z], )?--[a-z]+(-[a-z]+)*( <[a-z|.-]+>)?$/)
  })
})

describe.each(commands)("%s", (name, command) => {
  test("has a summary of a few words", () => {
    expect(command.summary()).toMatch(/^[a-z][^\n]*[^.\n]$/)
    expect(command.summary().length).toBeLessThanOrEqual(50)
  })

  test("shows at least two examples of itself first, then how it is called", async () => {
    const machine = new CliMachine()
    const { out } = await machine.run([...name.split(" "), "--help"])
    machine.remove()
    const [first = "", usage = ""] = out.split("\n\n")
    const [title, ...examples] = first.split("\n")
    expect(title).toBe("Examples:")
    expect(examples.length).toBeGreaterThanOrEqual(2)
    for (const example of examples) expect(example).toStartWith(`  ipgate ${name}`)
    expect(usage).toStartWith(`Usage: ipgate ${name}`)
  })

  // The global options are read wherever they stand, so one of the same name would never reach the command.
  test("has no option of the name of a global one", () => {
    const names = ({ options }: Command) =>
      options.flatMap(({ short, long }) => [short, long]).filter(Boolean)
    const global = new Set([...names(program), "-h", "--help"])
    expect(names(command).filter((option) => global.has(option))).toEqual([])
  })
})

test.each(["--dry-run", "--error-unchanged"])("%s is described alike wherever it is", (name) => {
  const descriptions = commands.flatMap(([, { options }]) =>
    options.filter(({ long }) => long === name).map(({ description }) => description),
  )
  expect(descriptions.length).toBeGreaterThan(1)
  expect(new Set(descriptions).size).toBe(1)
})

test(fault("L-08", "the options of every command", "none takes a token"), () => {
  for (const [, { options }] of [["", program] as const, ...commands]) {
    expect(options.map(({ long }) => long)).not.toContain("--token")
  }
})
