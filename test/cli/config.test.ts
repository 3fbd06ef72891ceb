// `ipgate config`: what it accepts and refuses, what it shows, and that a secret is not part of it.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { parse } from "smol-toml"
import { CONFIG_KEYS } from "../../src/config/keys.ts"
import { CliMachine } from "../support/cli.ts"
import { TOKEN } from "../support/running-server.ts"

let machine: CliMachine
beforeEach(() => {
  machine = new CliMachine()
})
afterEach(() => machine.remove())

const NAME = "config/ipgate/config.toml"

describe("check", () => {
  test("a configuration that is valid, and none at all; nothing is made", async () => {
    expect(await machine.run("config check")).toEqual({
      code: 0,
      out: "the configuration is valid\n",
      err: "",
    })
    expect(existsSync(machine.path("state"))).toBe(false)
    machine.file(NAME, '[log]\nlevel = "debug"\n')
    expect((await machine.run("config check")).code).toBe(0)
    expect(await machine.run("config check --json")).toMatchObject({ code: 0, out: '{"valid":true}\n' })
  })

  test("one that is not: exit 78, each problem with file, line and the nearest key", async () => {
    const path = machine.file(NAME, '[server]\nlisen = ["a"]\n\n[log]\nlevel = 5\n')
    const { code, out, err } = await machine.run("config check")
    expect({ code, out }).toEqual({ code: 78, out: "" })
    expect(err).toBe(
      `ipgate: ${path}:2: unknown key "server.lisen"; did you mean server.listen?\n${path}:5: log.level must be text in quotes\n`,
    )
  })

  test("the file that is named, and not the one that would be read", async () => {
    machine.file(NAME, "nonsense")
    const good = machine.file("good.toml", "")
    const bad = machine.file("bad.toml", "[x]\ny = 1\n")
    expect((await machine.run(`config check ${good}`)).code).toBe(0)
    expect((await machine.run(`config check ${bad}`)).err).toContain(`${bad}:2: unknown key "x.y"`)
    expect((await machine.run("config check /proc/none")).code).toBe(78)
  })

  test("the token, too: that of the start and that of a reload", async () => {
    const file = machine.file("token", "short\n")
    machine.file(NAME, `[auth]\ntoken_file = "${file}"\n`)
    expect((await machine.run("config check")).code).toBe(78)
    machine.file("credentials/api-token", `${TOKEN}\n`)
    const environment = { CREDENTIALS_DIRECTORY: machine.path("credentials") }
    const { code, err } = await machine.run("config check", { environment })
    expect(code).toBe(78)
    expect(err).toContain(`the token file ${file} holds a token of fewer than 32 characters`)
    machine.file("token", `${TOKEN}\n`)
    expect((await machine.run("config check", { environment })).code).toBe(0)
  })

  test("never a file of the current directory", async () => {
    expect((await machine.run("config path")).err).not.toContain(" ./")
    for (const path of (await machine.run("config path --json")).out.match(/"\/[^"]*"/g) ?? [])
      expect(path).toStartWith('"/')
  })
})

test("a variable that is nearly one of ours is told; one that somebody else may have set is not", async () => {
  const environment = {
    IPGATE_LISEN: "127.0.0.1:1",
    IPGATE_PORT: "tcp://10.0.0.1:80",
    IPGATE_SERVICE_HOST: "h",
  }
  for (const command of ["config check", "serve --check"]) {
    expect(await machine.run(command, { environment })).toEqual({
      code: 0,
      out: "the configuration is valid\n",
      err: "warning: IPGATE_LISEN is set and means nothing; did you mean IPGATE_LISTEN?\n",
    })
  }
})

describe("show", () => {
  test("a file with every value, which gives the same configuration again", async () => {
    machine.file(
      NAME,
      '[server]\nlisten = ["127.0.0.1:1", "unix:/x"]\nsocket_group = "g"\n\n[log]\nlevel = "warn"\n',
    )
    const { out } = await machine.run("config show")
    const sections = parse(out) as Record<string, object>
    const keys = Object.entries(sections).flatMap(([section, members]) =>
      Object.keys(members).map((name) => `${section}.${name}`),
    )
    expect(keys.toSorted()).toEqual(CONFIG_KEYS.map(({ key }) => key as string).toSorted())
    expect(sections.server).toMatchObject({ listen: ["127.0.0.1:1", "unix:/x"], socket_group: "g" })
    const copy = machine.file("copy.toml", out)
    expect((await machine.run(`config show --config ${copy}`)).out).toBe(out)
  })

  test("where each value comes from", async () => {
    const path = machine.file(NAME, '[log]\n\nlevel = "warn"\n')
    const environment = { IPGATE_LOG_FORMAT: "json" }
    const { out } = await machine.run("config show --origin --db /x.db", { environment })
    const rows = new Map(out.split("\n").map((line) => [line.split(" ")[0], line.split(/ {2,}/).slice(1)]))
    expect(rows.get("log.level")).toEqual(['"warn"', `${path}:3`])
    expect(rows.get("log.format")).toEqual(['"json"', "IPGATE_LOG_FORMAT"])
    expect(rows.get("database.url")).toEqual(['"/x.db"', "command line"])
    expect(rows.get("log.refusals")).toEqual(['"summary"', "default"])
    expect(rows.get("server.socket_group")).toEqual(["-", "default"])
  })

  test("the same for programs", async () => {
    const { out } = await machine.run("config show --json")
    const shown = JSON.parse(out) as Array<{ key: string; value: unknown; origin: string }>
    expect(shown.map(({ key }) => key)).toEqual(CONFIG_KEYS.map(({ key }) => key))
    expect(shown[0]).toEqual({ key: "server.listen", value: ["127.0.0.1:8765"], origin: "default" })
  })

  test.each(["config show", "config show --origin", "config show --json"])(
    "%s: no token",
    async (command) => {
      const { out, err } = await machine.run(command, { environment: { IPGATE_TOKEN: TOKEN } })
      expect(out + err).not.toContain(TOKEN)
      expect(out).toContain("***")
      if (command === "config show") expect(() => parse(out)).not.toThrow()
    },
  )

  test("what somebody wrote into it cannot drive a terminal", async () => {
    const environment = { IPGATE_SOCKET_GROUP: "\x1b[2J\u202e" }
    for (const command of ["config show", "config show --origin", "config show --json"]) {
      const { out } = await machine.run(command, { environment })
      expect(out).not.toMatch(/\p{Cc}(?<!\n)|\u202e/u)
    }
  })

  test("an invalid one is not shown", async () => {
    machine.file(NAME, "nonsense")
    expect(await machine.run("config show")).toMatchObject({ code: 2, out: "" })
  })
})

describe("path", () => {
  test("the file that is read", async () => {
    const path = machine.file(NAME, "")
    expect(await machine.run("config path")).toEqual({ code: 0, out: `${path}\n`, err: "" })
    expect((await machine.run("config path", { environment: { IPGATE_CONFIG: path } })).out).toBe(`${path}\n`)
  })

  test("also of one with a mistake, and not of one that is missing or has no name", async () => {
    const path = machine.file(NAME, "[server\n")
    expect(await machine.run("config path")).toEqual({ code: 0, out: `${path}\n`, err: "" })
    const missing = await machine.run("config path --config /proc/no/such")
    expect([missing.code, missing.out]).toEqual([2, ""])
    const nameless = await machine.run("config path", { environment: { IPGATE_CONFIG: "" } })
    expect([nameless.code, nameless.err]).toEqual([
      2,
      "ipgate: the configuration file has no name: unset IPGATE_CONFIG, or give a path\n",
    ])
  })

  test("none: exit 1, and where one is looked for", async () => {
    const { code, out, err } = await machine.run("config path")
    expect({ code, out }).toEqual({ code: 1, out: "" })
    expect(err).toContain(`/etc/ipgate/ipgate.toml, ${machine.path(NAME)}`)
    expect(JSON.parse((await machine.run("config path --json")).out)).toEqual({
      file: null,
      searched: ["/etc/ipgate/ipgate.toml", machine.path(NAME)],
    })
  })
})

test("config alone, or with a word that is none, prints what there is and exits with 2", async () => {
  expect((await machine.run("config")).code).toBe(2)
  expect((await machine.run("config shw")).code).toBe(2)
})
