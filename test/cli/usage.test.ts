// Command lines that make no sense: exit 2, nothing on stdout, and what to do about it; and how help is asked for.

import { afterAll, describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { buildProgram } from "../../cli/program.ts"
import { dependencies, version } from "../../package.json"
import { fault } from "../faults/fault.ts"
import { CliMachine, type CliRun } from "../support/cli.ts"

const machine = new CliMachine()
afterAll(() => machine.remove())

const DURATION = "use 90s, 30m, 8h, 1h30m, 7d or 2w; a bare number is seconds"
const TIME = "use 2026-11-21T18:00:00Z, 2026-11-21 18:00 or 18:00"
const BOTH = "leave both out for both lists"

/** Command line, what is wrong with it, and the second line, if there is one. */
const TABLE: ReadonlyArray<readonly [command: string, message: string, hint: string | null]> = [
  ["alow 203.0.113.7", "unknown command 'alow'", "Did you mean allow?"],
  ["dney 203.0.113.7", "unknown command 'dney'", "Did you mean deny?"],
  ["stats", "unknown command 'stats'", "Did you mean status?"],
  ["frobnicate", "unknown command 'frobnicate'", null],
  ["203.0.113.7", "unknown command '203.0.113.7'", null],
  ["allow 203.0.113.7 --tll 8h", "unknown option '--tll'", "Did you mean --ttl?"],
  ["allow 203.0.113.7 --frce", "unknown option '--frce'", "Did you mean --force?"],
  ["deny 203.0.113.7 --permm", "unknown option '--permm'", "Did you mean --perm?"],
  ["list --offlin", "unknown option '--offlin'", "Did you mean --offline?"],
  ["list --jsno", "unknown option '--jsno'", "Did you mean --json?"],
  ["allow 203.0.113.7 --token x", "unknown option '--token'", null],
  ["list -x", "unknown option '-x'", null],
  ["allow", "missing required argument 'ip|cidr'", null],
  ["deny", "missing required argument 'ip|cidr'", null],
  ["check", "missing required argument 'ip'", null],
  ["list 203.0.113.7", "too many arguments for 'list'", null],
  ["logs 203.0.113.7", "too many arguments for 'logs'", null],
  ["status now", "too many arguments for 'status'", null],
  ["serve now", "too many arguments for 'serve'", null],
  ["logs -n", "option '-n, --limit <count>' argument missing", null],
  ["allow 203.0.113.7 --ttl", "option '-t, --ttl <duration>' argument missing", null],
  ["list --server", "option '-s, --server <url>' argument missing", null],
  ["allow 203.0.113.7 --ttl 8x", '"8x" is no duration', DURATION],
  ["allow 203.0.113.7 --until noon", '"noon" is no time', TIME],
  ["allow 203.0.113.7 --until 2001-01-01", "--until 2001-01-01 is in the past", null],
  ["allow 203.0.113.7 --ttl 1h --until 18:00", "--ttl and --until exclude each other", null],
  ["allow 203.0.113.7 -r x", "--reason belongs to a temporary entry", "add --ttl or --until"],
  ["allow 0.0.0.0/0", "0.0.0.0/0 is wider than /8", "add --force if you mean it"],
  ["allow -", "no address is given", null],
  ["deny 203.0.113.7 --temp --perm", "--temp and --perm exclude each other", BOTH],
  ["list --temp --perm", "--temp and --perm exclude each other", BOTH],
  ["logs --since noon", '"noon" is no time', TIME],
  ["logs -f --since 1h", "--follow and --since exclude each other", "with --follow, -n says how many"],
  ["denied -n 0", '"0" is no number of rows from 1 to 1000', null],
  ["denied -n 1001", '"1001" is no number of rows from 1 to 1000', null],
  ["denied -n ten", '"ten" is no number of rows from 1 to 1000', null],
  ["denied 203.0.113.7", "too many arguments for 'denied'", null],
  ["logs -n 0", '"0" is no number of rows', null],
  ["logs --ip x", '"x" is not an IP address or CIDR', null],
  ["logs --action x", "Allowed choices are add_temp", null],
  ["status --wait x", '"x" is no duration', DURATION],
  ["list --offline --server x", "--offline and --server exclude each other", null],
  ["list --db /proc/x", "--db goes with --offline", "add --offline, or use --server"],
  ["list --config /proc/no/such/file", "/proc/no/such/file: the configuration file does not exist", null],
  ["proxy", "missing required argument 'name'", null],
  ["proxy apache", 'no configuration for "apache"', "known are nginx, caddy"],
  ["proxy nginx --lua", "--lua goes with haproxy", null],
  ["help frobnicate", "unknown command 'frobnicate'", null],
]

describe("for people", () => {
  test.each(TABLE)("ipgate %s", async (command, message, hint) => {
    const { code, out, err } = await machine.run(command)
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toStartWith("ipgate: ")
    const [first, second, ...rest] = err.slice("ipgate: ".length).split("\n")
    expect(first).toContain(message)
    if (hint === null) expect({ second, rest }).toEqual({ second: "", rest: [] })
    else {
      expect(second).toContain(hint)
      expect(rest).toEqual([""])
    }
  })
})

describe(fault("L-07", "wrong usage with --json", "exit 2, one JSON object on stderr"), () => {
  test.each(TABLE)("ipgate %s --json", async (command, message) => {
    const { code, out, err } = await machine.run(`--json ${command}`)
    expect({ code, out }).toEqual({ code: 2, out: "" })
    const { error } = JSON.parse(err)
    expect(Object.keys(error)).toEqual(["code", "message", "hint", "exit_code"])
    expect(error.message).toContain(message)
    expect(error.exit_code).toBe(2)
    expect(["usage", "config"]).toContain(error.code)
  })
})

test("nothing of this opens a database, or makes a file", () => {
  expect(existsSync(machine.path("state"))).toBe(false)
})

describe("without a command", () => {
  test.each(["", "--json", "--quiet"])(
    "ipgate %s is a usage error that shows the help on stderr",
    async (option) => {
      const { code, out, err } = await machine.run(option)
      expect({ code, out }).toEqual({ code: 2, out: "" })
      expect(err).not.toContain("(outputHelp)")
      if (option === "--json")
        expect(JSON.parse(err)).toMatchObject({ error: { code: "usage", exit_code: 2 } })
      else expect(err).toContain("Usage: ipgate")
    },
  )
})

describe("help that was asked for goes to stdout", () => {
  const asked = async (command: string): Promise<CliRun> => {
    const result = await machine.run(command)
    expect({ code: result.code, err: result.err }).toEqual({ code: 0, err: "" })
    return result
  }

  test.each(["--help", "-h", "help"])("ipgate %s", async (command) => {
    expect((await asked(command)).out).toContain("Usage: ipgate [options] [command]")
  })

  test.each(["allow --help", "help allow", "allow 203.0.113.7 --help", "--json allow -h"])(
    "ipgate %s",
    async (command) => {
      expect((await asked(command)).out).toContain("Usage: ipgate allow [options] <ip|cidr...>")
    },
  )

  test(
    fault(
      "S-04",
      "the version is asked for",
      "it is told with those of the parts that can have faults of their own",
    ),
    async () => {
      const parts = `bun ${Bun.version}, libsql ${dependencies.libsql}, linux-${process.arch}`
      for (const command of ["--version", "-V", "list --version"])
        expect((await asked(command)).out).toBe(`ipgate ${version} (${parts})\n`)
    },
  )
})

// The text is made for the terminal of the run, not for the one in which the tests run.
describe("help", () => {
  const LONG = "until when: 2026-11-21T18:00:00Z, 2026-11-21 18:00, or 18:00"
  const help = async (columns: number, isTerminal: boolean) =>
    (await machine.run("allow --help", { columns, isTerminal })).out

  test("is no wider than the terminal", async () => {
    const out = await help(70, true)
    expect(out).not.toContain(LONG)
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(70)
  })

  test("uses a wide terminal", async () => {
    expect(await help(120, true)).toContain(LONG)
  })

  test("has 80 columns in a file", async () => {
    expect(await help(200, false)).toBe(await help(80, true))
  })
})

test("a run that names a command makes that one alone, as it stands in the whole tree", () => {
  const environment = {} as Parameters<typeof buildProgram>[0]
  const commandsOf = (named?: string) =>
    buildProgram(environment, named).program.commands.map((command) => command.name())
  const all = commandsOf()
  expect(all.length).toBeGreaterThan(10)
  for (const name of all) expect(commandsOf(name)).toEqual(name === "manpage" ? all : [name])
  for (const word of ["help", "complete", "--json", "stauts", "", "toString", "__proto__"]) {
    expect(commandsOf(word)).toEqual(all)
  }
})
