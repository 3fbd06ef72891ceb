// What people and programs read, word for word: help, tables, lines, JSON. UPDATE_GOLDEN=1 writes the files anew.

import { afterAll, describe, expect, test } from "bun:test"
import { manualPages } from "../../cli/manual/pages.ts"
import { buildProgram } from "../../cli/program.ts"
import { CliMachine, type CliSettings, throughBothGatesOnce, type World } from "../support/cli.ts"
import { golden, leftOver } from "./golden.ts"

const machine = new CliMachine()
afterAll(() => machine.remove())

describe("help", () => {
  test("of the program", async () => {
    const { out } = await machine.run("--help")
    expect(out).toBe(golden("help", out))
  })

  test.each(commandNames())("of %s", async (name) => {
    const { out } = await machine.run(`${name} --help`)
    expect(out).toBe(golden(`help-${name.replace(" ", "-")}`, out))
  })
})

test("the manual, of the program and of a command", () => {
  const process = {} as Parameters<typeof buildProgram>[0]
  const pages = manualPages(buildProgram(process).program, { version: "1.2.3", date: "2026-11-21" })
  const chosen = pages.filter(({ name }) => ["ipgate.1", "ipgate-allow.1"].includes(name))
  expect(chosen).toHaveLength(2)
  for (const { name, text } of chosen) expect(text).toBe(golden(`man-${name}`, text))
})

/** The commands of one user, one after the other, each with its output and, if it is not 0, its exit code. */
async function transcript(world: World, steps: readonly Step[]): Promise<string> {
  const parts: string[] = []
  for (const step of steps) {
    if (typeof step === "number") {
      world.clock.advance(step * 1000)
      parts.push(`(${step} seconds later)\n`)
      continue
    }
    const [command, settings] = typeof step === "string" ? [step, {}] : step
    // Where a word holds spaces it stands in quotes here as it would in a shell.
    const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "")
    const { code, out, err } = await world.run(words, settings)
    const input = settings.input === undefined ? "" : ` <<< ${JSON.stringify(settings.input)}`
    parts.push(
      `$ ipgate ${command}${input}\n${out}${err.replace(/^(?=.)/gm, "2> ")}${code === 0 ? "" : `[exit ${code}]\n`}`,
    )
  }
  return parts.join("\n")
}

type Step = number | string | readonly [command: string, settings: CliSettings]

const CHANGES: readonly Step[] = [
  'allow 203.0.113.7 --ttl 8h -r "on call"',
  "allow 203.0.113.7 --ttl 8h",
  "allow 192.0.2.0/28 2001:db8:1::/64",
  "allow 192.0.2.0/28 198.51.100.4 --dry-run",
  "allow 192.0.2.0/28 --error-unchanged",
  ["allow - --until 2026-01-02", { input: "198.51.100.5 # the office\n198.51.100.6\n" }],
  "deny 203.0.113.7",
  "deny 203.0.113.7",
  "allow 192.0.2.1 --ttl 30m",
  "deny 192.0.2.1 --dry-run",
  "deny 192.0.2.1",
]

const CHECKS: readonly Step[] = [
  "check 203.0.113.7",
  "check 192.0.2.1 10.2.3.4 10.9.9.9",
  "check 2001:db8:1::7",
]

const TABLES: readonly Step[] = [
  "list",
  "list --temp",
  "list --perm",
  "status",
  "export",
  "export --format values",
]

const ERRORS: readonly Step[] = [
  "alow 203.0.113.7",
  "allow",
  "allow 10.0.0.5/8 203.0.113.07",
  "allow 203.0.113.7 --ttl 1h30x",
  "allow 203.0.113.7 --until 2025-12-31",
  "allow 203.0.113.7 -r x",
  "allow 0.0.0.0/0",
  "list --temp --perm",
  "logs --action add",
  ["import - --format values", { input: "203.0.113.7\n10.0.0.5/8\nx\n" }],
]

async function entries(world: World): Promise<void> {
  await world.do("allow 10.0.0.0/8 203.0.113.7 2001:db8:1::/64")
  world.clock.advance(12_345)
  await world.do(["allow", "192.0.2.1", "--ttl", "8h", "-r", "on-call laptop"])
  await world.do("allow 10.2.3.4 2001:db8:2::1 --ttl 3d4h")
  await world.do("deny 203.0.113.7")
  world.clock.advance(1_140_000)
}

const withJson = (steps: readonly Step[]): Step[] =>
  steps.map((step) =>
    typeof step === "number"
      ? step
      : typeof step === "string"
        ? `${step} --json`
        : [`${step[0]} --json`, step[1]],
  )

describe("one command after the other", () => {
  describe("that change", () => {
    describe.each([
      ["changes", CHANGES],
      ["changes-json", withJson(CHANGES)],
    ] as const)("%s", (name, steps) => {
      throughBothGatesOnce((world) => {
        test("word for word", async () => {
          const text = await transcript(world(), steps)
          expect(text).toBe(golden(name, text))
        })
      })
    })
  })

  throughBothGatesOnce(
    (world) => {
      test.each([
        ["checks", CHECKS],
        ["checks-json", withJson(CHECKS)],
        ["tables", TABLES],
        ["tables-json", withJson(TABLES)],
        ["errors", ERRORS],
        ["errors-json", withJson(ERRORS)],
      ] as const)("%s", async (name, steps) => {
        // The time that a server has been up is the only difference between the two.
        const text = (await transcript(world(), steps)).replace(/(, up |"uptime":")[0-9dhms]+/g, "$1<uptime>")
        expect(text).toBe(golden(name, text))
      })

      // Off-line there is no client, so the two logs differ in that column.
      test("logs", async () => {
        const text = await transcript(world(), [
          "logs",
          "logs --json",
          "logs --ip 10.0.0.0/8",
          "logs --action expire_temp",
        ])
        const name = `logs-${world().kind}`
        expect(text).toBe(golden(name, text))
      })
    },
    { prepare: entries },
  )
})

test("each file is the output of something", () => {
  expect(leftOver()).toEqual([])
})

function commandNames(): string[] {
  const process = {} as Parameters<typeof buildProgram>[0]
  return buildProgram(process).program.commands.flatMap((command) => [
    command.name(),
    ...command.commands.map((below) => `${command.name()} ${below.name()}`),
  ])
}
