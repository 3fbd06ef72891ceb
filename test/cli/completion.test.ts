// What completion offers for a line that is being typed, as a shell asks for it: words, options, values, entries of the lists.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { LONGEST_LIST, MOST_ENTRIES } from "../../cli/completion/entries.ts"
import { SHELLS } from "../../cli/completion/shells.ts"
import { unquoted } from "../../cli/completion/unquoted.ts"
import { buildProgram } from "../../cli/program.ts"
import { CliMachine, type CliSettings, World } from "../support/cli.ts"

/** The time that is allowed never ends. */
const PATIENT: CliSettings = { sleep: () => new Promise(() => {}) }

const machine = new CliMachine()
afterAll(() => machine.remove())

type Answer = { readonly kind: string; readonly words: string[]; readonly descriptions: string[] }
type Runner = Pick<World, "run"> | CliMachine

async function ask(on: Runner, words: readonly string[], shell = "zsh", settings = PATIENT): Promise<Answer> {
  const { code, out, err } = await on.run(["complete", shell, "--", ...words], settings)
  expect([code, err]).toEqual([0, ""])
  const [kind = "", ...lines] = out.trimEnd().split("\n")
  const pairs = lines.map((line) => line.split("\t"))
  return {
    kind,
    words: pairs.map(([word = ""]) => word),
    descriptions: pairs.map(([, description = ""]) => description),
  }
}

/** The words that are offered after a line, which is split at its spaces; a space at its end begins a new word. */
async function offered(line: string): Promise<string[]> {
  const { kind, words } = await ask(machine, line.split(" "))
  return kind === "words" ? words : [kind]
}

describe("of the commands", () => {
  test("all of them, with their summaries, as the help has them", async () => {
    const { words, descriptions } = await ask(machine, [""])
    const { program } = buildProgram({} as Parameters<typeof buildProgram>[0])
    expect(words).toEqual([...program.commands.map((command) => command.name()), "help"])
    expect(descriptions.slice(0, -1)).toEqual(program.commands.map((command) => command.summary()))
  })

  test.each<[line: string, words: string[]]>([
    ["de", ["deny", "denied"]],
    ["x", []],
    ["--json de", ["deny", "denied"]],
    ["-qs unix:/x de", ["deny", "denied"]],
    ["--server x de", ["deny", "denied"]],
    ["--server=x de", ["deny", "denied"]],
    ["help de", ["deny", "denied"]],
    ["help deny ", []],
    ["help deny --", []],
    ["unknown ", []],
    ["unknown --vers", ["--version"]],
  ])("after %p come %p", async (line, words) => {
    expect(await offered(line)).toEqual(words)
  })
})

describe("of the options", () => {
  test.each<[line: string, words: string[]]>([
    ["export --", ["--format", "--temp", "--perm", "--help", "--version", "--server", "--token-file"]],
    ["export --te", ["--temp"]],
    ["export --temp --te", []],
    ["logs -", ["--action", "--ip", "--since", "--limit", "-n", "--wide", "--follow", "-f"]],
    ["logs -fn5 --fo", []],
    ["allow - --force --fo", []],
    ["serve --listen a b --list", ["--listen"]],
    ["serve --listen a --che", ["--check"]],
    ["status ", ["--wait"]],
    ["deny -- --", []],
  ])("after %p come %p", async (line, words) => {
    expect((await offered(line)).slice(0, words.length || undefined)).toEqual(words)
  })

  test("each is described as the help does", async () => {
    const { words, descriptions } = await ask(machine, ["allow", "--dry"])
    expect([words, descriptions]).toEqual([["--dry-run"], ["say what would be done, and do nothing"]])
  })
})

describe("of the values", () => {
  test.each<[line: string, words: string[]]>([
    ["export --format ", ["values", "csv", "json"]],
    ["export --format=", ["--format=values", "--format=csv", "--format=json"]],
    ["export --format=c", ["--format=csv"]],
    ["export --temp=", []],
    ["export --unknown=", []],
    ["logs --action add", ["add_temp", "add_perm"]],
    ["logs -f --action expire", ["expire_temp"]],
    ["proxy ", ["nginx", "caddy", "haproxy", "traefik", "envoy"]],
    ["proxy nginx --client-ip-header X-R", ["X-Real-IP"]],
    ["completion ", [...SHELLS]],
    ["completion bash ", []],
    ["allow 203.0.113.7 --ttl ", ["30m", "1h", "8h", "1d", "7d"]],
    ["allow ", []],
    ["import ", ["files"]],
    ["import x.csv -", ["--format"]],
    ["-c ", ["files"]],
    ["--config=/etc/", ["files"]],
    ["--token-file ", ["files"]],
    ["serve --db ", ["files"]],
    ["--server ", []],
    ["logs -n ", []],
  ])("after %p come %p", async (line, words) => {
    expect((await offered(line)).slice(0, words.length || undefined)).toEqual(words)
  })
})

describe("of the entries", () => {
  let world: World
  beforeAll(async () => {
    world = await World.open("on-line")
    await world.do("allow 192.0.2.0/28 203.0.113.7 2001:db8:1::/64")
    await world.do(["allow", "203.0.113.9", "--ttl", "8h", "-r", "on call"])
    await world.do("allow 203.0.113.7 --ttl 1h")
  })
  afterAll(() => world.close())
  const wordsAfter = async (...words: readonly string[]) => (await ask(world, words)).words.toSorted()

  test.each<[words: string[], entries: string[]]>([
    [
      ["deny", ""],
      ["192.0.2.0/28", "2001:db8:1::/64", "203.0.113.7", "203.0.113.9"],
    ],
    [
      ["deny", "203."],
      ["203.0.113.7", "203.0.113.9"],
    ],
    [["deny", "203.0.113.7", "203."], ["203.0.113.9"]],
    [["deny", "2001:"], ["2001:db8:1::/64"]],
    [["deny", "9"], []],
    [
      ["deny", "--temp", ""],
      ["203.0.113.7", "203.0.113.9"],
    ],
    [["deny", "--perm", "203"], ["203.0.113.7"]],
    [["check", "--json", "19"], ["192.0.2.0/28"]],
    [["logs", "--ip", "19"], ["192.0.2.0/28"]],
    [["logs", "--ip=19"], ["--ip=192.0.2.0/28"]],
    [["deny", "--", "19"], ["192.0.2.0/28"]],
  ])("after %p come %p", async (words, entries) => {
    expect(await wordsAfter(...words)).toEqual(entries)
  })

  test("each once, with what is left and the reason", async () => {
    const { words, descriptions } = await ask(world, ["deny", ""])
    expect(Object.fromEntries(words.map((word, i) => [word, descriptions[i]]))).toEqual({
      "192.0.2.0/28": "permanent",
      "2001:db8:1::/64": "permanent",
      "203.0.113.7": "1h left",
      "203.0.113.9": "8h left: on call",
    })
  })

  test("bash gets no descriptions, and its quotes are understood", async () => {
    const { words, descriptions } = await ask(world, ["--token-file", '"no such"', "deny", "2"], "bash")
    expect([words, descriptions]).toEqual([[], []])
    expect((await ask(world, ["check", "'2001:"], "bash")).words).toEqual(["2001:db8:1::/64"])
  })

  test("a long reason is cut", async () => {
    await world.do(["allow", "198.51.100.1", "--ttl", "1h", "-r", "é".repeat(500)])
    const { descriptions } = await ask(world, ["deny", "198"])
    expect(descriptions).toEqual([`1h left: ${"é".repeat(50)}…`])
    await world.do("deny 198.51.100.1")
  })

  test("are those of the server that the line names", async () => {
    expect(await wordsAfter("-s", "127.0.0.1:1", "deny", "")).toEqual([])
    const server = (await world.run("status")).code
    expect(server).toBe(0)
  })

  test.each<[what: string, words: string[], settings: CliSettings]>([
    ["no server", ["deny", ""], { environment: { IPGATE_SERVER: "127.0.0.1:1" } }],
    ["a name that is none", ["deny", ""], { environment: { IPGATE_SERVER: "no such name.invalid" } }],
    [
      "a wrong token",
      ["deny", ""],
      { environment: { IPGATE_TOKEN: "another-token-of-48-characters-0123456789abcdef!" } },
    ],
    ["no token", ["deny", ""], { environment: { IPGATE_TOKEN: undefined } }],
    ["a bad configuration", ["-c", "/no/such/file", "deny", ""], {}],
    ["--offline", ["--offline", "deny", ""], {}],
    ["no more time", ["deny", ""], { sleep: async () => {} }],
  ])("with %s: nothing, and no word about it", async (_, words, settings) => {
    expect(await ask(world, words, "zsh", { ...PATIENT, ...settings })).toEqual({
      kind: "words",
      words: [],
      descriptions: [],
    })
  })
})

describe("of the named tokens", () => {
  let world: World
  beforeAll(async () => {
    world = await World.open("on-line")
    for (const name of ["ci", "cron", "helpdesk"]) await world.do(`token create ${name} --scope read`)
    await world.do("token revoke cron")
  })
  afterAll(() => world.close())

  test("those that can be revoked, with their scope", async () => {
    const { words, descriptions } = await ask(world, ["token", "revoke", ""])
    expect([words, descriptions]).toEqual([
      ["ci", "helpdesk"],
      ["read", "read"],
    ])
    expect((await ask(world, ["token", "revoke", "c"])).words).toEqual(["ci"])
  })

  test("none for a new one, which needs another name, and none for whoever may not see them", async () => {
    expect((await ask(world, ["token", "create", ""])).words).toEqual([])
    const environment = { IPGATE_TOKEN: "another-token-of-48-characters-0123456789abcdef!" }
    expect((await ask(world, ["token", "revoke", ""], "zsh", { ...PATIENT, environment })).words).toEqual([])
  })
})

describe("of many entries", () => {
  let world: World
  beforeAll(async () => {
    world = await World.open("on-line")
    const lines = Array.from({ length: MOST_ENTRIES }, (_, i) => `10.1.${i % 4}.${i}`)
    await world.do(["import", "-", "--format", "values"], { input: [...lines, "192.0.2.1"].join("\n") })
  })
  afterAll(() => world.close())

  test("groups, which end where the next part of an address begins", async () => {
    const { kind, words, descriptions } = await ask(world, ["deny", ""])
    expect([kind, words, descriptions]).toEqual([
      "partial",
      ["10.", "192."],
      [`${MOST_ENTRIES} entries`, "1 entry"],
    ])
  })

  test("all of them as soon as so much is typed that they are few", async () => {
    const { kind, words } = await ask(world, ["deny", "10."])
    expect([kind, words.length]).toEqual(["words", MOST_ENTRIES])
    expect((await ask(world, ["deny", "192."])).words).toEqual(["192.0.2.1"])
  })

  test("none of a list that is too long to read: a part would pass for all of it", async () => {
    const lines = Array.from({ length: LONGEST_LIST }, (_, i) => `10.2.${i >> 8}.${i & 255}`)
    await world.do(["import", "-", "--format", "values"], { input: lines.join("\n") })
    expect((await ask(world, ["deny", "192."])).words).toEqual([])
  })
})

test("whatever answers as a server: only addresses and names get on to a command line, and nothing drives the terminal", async () => {
  const token = (name: string) => ({
    ...{ name, scope: "\u001b]0;x\u0007", max_ttl_seconds: null, within: null, state: "active" },
    ...{ created: "2026-01-01T00:00:00Z", expires: null, last_used: null, revoked: null },
  })
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      Response.json(
        url.includes("/tokens")
          ? [token("ci\n; reboot"), token("$(reboot)"), token("helpdesk")]
          : url.includes("/perm/")
            ? [{ ip: "203.0.113.7\n; reboot" }, { ip: "$(reboot)" }, { ip: "203.0.113.8" }]
            : [{ ip: "203.0.113.9", expires: "2126-01-01T00:00:00Z", reason: "\u001b]0;x\u0007\n$(reboot)" }],
      ),
  })
  const environment = {
    IPGATE_SERVER: `127.0.0.1:${server.port}`,
    IPGATE_TOKEN: "a-token-for-tests-of-48-characters-0123456789ab!",
  }
  const { words, descriptions } = await ask(machine, ["deny", ""], "fish", { ...PATIENT, environment })
  const names = await ask(machine, ["token", "revoke", ""], "fish", { ...PATIENT, environment })
  await server.stop(true)
  expect([names.words, names.descriptions]).toEqual([["helpdesk"], ["\\x1b]0;x\\x07"]])
  expect(words).toEqual(["203.0.113.8", "203.0.113.9"])
  expect(descriptions[1]).toEndWith(" left: \\x1b]0;x\\x07\\x0a$(reboot)")
})

test.each([
  ["plain", "plain"],
  ['"on call"', "on call"],
  ["'a\\b'", "a\\b"],
  ["on\\ call", "on call"],
  ['"2001:', "2001:"],
  ['it\\\'s"\\""', "it's\""],
  ["$(id)`id`$HOME", "$(id)`id`$HOME"],
  ["\\", ""],
])("%p means %p", (word, meaning) => {
  expect(unquoted(word)).toBe(meaning)
})

test.each(SHELLS)("the script for %s is printed, whole and without a word beside it", async (shell) => {
  const { code, out, err } = await machine.run(["completion", shell])
  expect([code, err]).toEqual([0, ""])
  expect(out).toContain(`ipgate complete ${shell} -- `)
  expect(out).not.toContain("eval")
})

test("`complete` is for the scripts: anybody else is told what there is", async () => {
  const { code, err } = await machine.run("complete")
  expect(code).toBe(2)
  expect(err).toContain("Did you mean")
  expect((await machine.run("completion tcsh")).err).toContain("bash, zsh, fish")
})
