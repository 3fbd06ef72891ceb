// Which gate a command gets, with which token, by which configuration; and what it says when there is none.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { fault } from "../faults/fault.ts"
import { CliMachine, throughBothGatesOnce } from "../support/cli.ts"
import { type RunningServer, runServer, TOKEN } from "../support/running-server.ts"
import { copyDatabase } from "../support/temp-store.ts"

const COMMANDS = [
  "allow 203.0.113.7",
  "allow 203.0.113.7 --ttl 1h",
  "allow 203.0.113.7 --dry-run",
  "deny 203.0.113.7",
  "deny 203.0.113.7 --dry-run",
  "check 203.0.113.7",
  "list",
  "logs",
  "export",
  "export --format json",
  "logs -f",
  "denied",
]

/** None of them waits for anything here. */
const sleep = () => Promise.reject(new Error("slept"))

let machine: CliMachine

beforeEach(() => {
  machine = new CliMachine()
})

afterEach(() => machine.remove())

describe(
  fault(
    "L-07 L-08",
    "every command without a token, with a wrong one, with one that is no token",
    "exit 4, and no word of the token",
  ),
  () => {
    const OTHER = "another-token-of-more-than-32-characters"
    let server: RunningServer

    beforeAll(async () => {
      server = await runServer()
    })

    afterAll(() => server.stop())

    const withServer = (environment: Record<string, string> = {}) => ({
      environment: { IPGATE_SERVER: server.url, ...environment },
    })
    const form = "  a line holds one token of at least 32 characters: openssl rand -hex 32 makes one\n"
    const hint = "  give a token file that you can read with --token-file or IPGATE_TOKEN_FILE\n"

    test.each(COMMANDS)("that is missing is exit 4 for %s", async (command) => {
      const { code, out, err } = await machine.run(command, { ...withServer(), sleep })
      expect({ code, out }).toEqual({ code: 4, out: "" })
      expect(err).toBe(
        `ipgate: the token file ${machine.path("state/ipgate/api-token")} does not exist\n${hint}`,
      )
    })

    test.each(COMMANDS)("that is refused is exit 4 for %s", async (command) => {
      const { code, out, err } = await machine.run(command, { ...withServer({ IPGATE_TOKEN: OTHER }), sleep })
      expect({ code, out }).toEqual({ code: 4, out: "" })
      expect(err).toBe(
        "ipgate: missing or invalid token\n  give the server's token with --token-file or IPGATE_TOKEN_FILE\n",
      )
    })

    test.each([
      ["open to others", `${TOKEN}\n`, 0o604, "is open to other users: chmod 0640", form],
      ["too short", "short\n", 0o600, "holds a token of fewer than 32 characters", form],
      ["empty", "\n\n", 0o600, "is empty", form],
      ["with spaces", `${TOKEN} x\n`, 0o600, "holds a token with spaces or special characters", form],
    ])("in a file that is %s is exit 4", async (_, content, mode, message, hint) => {
      const path = machine.file("token", content, mode)
      const { code, out, err } = await machine.run(`list --token-file ${path}`, withServer())
      expect({ code, out }).toEqual({ code: 4, out: "" })
      expect(err).toStartWith(`ipgate: the token file ${path} ${message}`)
      expect(err).toEndWith(hint)
    })

    test("that is unusable in the environment is exit 4, and is not shown", async () => {
      const { code, err } = await machine.run("list", withServer({ IPGATE_TOKEN: "hunter2" }))
      expect(code).toBe(4)
      expect(err).toStartWith("ipgate: IPGATE_TOKEN holds a token of fewer than 32 characters\n")
      expect(err).not.toContain("hunter2")
    })

    test("is told to programs as JSON on stderr", async () => {
      const { code, out, err } = await machine.run("list --json", withServer({ IPGATE_TOKEN: OTHER }))
      expect({ code, out }).toEqual({ code: 4, out: "" })
      expect(JSON.parse(err)).toEqual({
        error: {
          code: "unauthorized",
          message: "missing or invalid token",
          hint: "give the server's token with --token-file or IPGATE_TOKEN_FILE",
          exit_code: 4,
        },
      })
      expect(err).not.toContain(OTHER)
    })

    // Each row has everything that the rows below it have, and one thing more that must win over all of it.
    test.each([
      ["--token-file", 5],
      ["IPGATE_TOKEN_FILE", 4],
      ["IPGATE_TOKEN", 3],
      ["the credential of systemd", 2],
      ["the configuration file", 1],
      ["the file that the server has made", 0],
    ])("of %s comes before those after it", async (_, strongest) => {
      const good = (rank: number) => (rank === strongest ? TOKEN : OTHER)
      const given = (rank: number) => rank <= strongest
      machine.file("state/ipgate/api-token", good(0))
      if (given(1)) {
        const path = machine.file("configured", good(1))
        machine.file("config/ipgate/config.toml", `[auth]\ntoken_file = "${path}"\n`)
      }
      machine.file("credentials/api-token", good(2))
      machine.file("named", good(4))
      const option = given(5) ? `--token-file ${machine.file("option", good(5))}` : ""
      const environment = {
        ...(given(2) ? { CREDENTIALS_DIRECTORY: machine.path("credentials") } : {}),
        ...(given(3) ? { IPGATE_TOKEN: good(3) } : {}),
        ...(given(4) ? { IPGATE_TOKEN_FILE: machine.path("named") } : {}),
      }
      expect(await machine.run(`list --perm ${option}`, withServer(environment))).toMatchObject({
        code: 0,
        err: "",
      })
    })

    test("of a file with several is the first", async () => {
      const path = machine.file("tokens", `${TOKEN}\n${OTHER}\n`)
      expect((await machine.run(`list --token-file ${path}`, withServer())).code).toBe(0)
      const swapped = machine.file("swapped", `${OTHER}\n${TOKEN}\n`)
      expect((await machine.run(`list --token-file ${swapped}`, withServer())).code).toBe(4)
    })

    test("is not needed off-line", async () => {
      expect(await machine.run("allow 203.0.113.7 --offline")).toMatchObject({ code: 0 })
    })

    test("off-line, a database that there was not is made, and that is said once", async () => {
      const path = machine.path("mondy.db")
      const made = `warning: made a new, empty database ${path}, because there was none: nobody is let in yet\n`
      expect(await machine.run(`list --offline --db ${path}`)).toMatchObject({ code: 0, err: made })
      // A copy, because a database is given free with the process at the latest.
      const copy = machine.path("monday.db")
      copyDatabase(path, copy)
      expect(await machine.run(`list --offline --db ${copy}`)).toMatchObject({ code: 0, err: "" })
      const quiet = await machine.run(`list --offline --quiet --db ${machine.path("other.db")}`)
      expect(quiet).toMatchObject({ code: 0, err: "" })
    })
  },
)

describe(fault("L-07", "every command without a server", "exit 5, JSON for programs"), () => {
  const environment = { IPGATE_TOKEN: TOKEN }
  const hint =
    "  is it running (`ipgate serve`, or `systemctl status ipgate`)? --offline works on the database directly\n"

  test.each([...COMMANDS, "status"])("is exit 5 with a hint for %s", async (command) => {
    const server = `unix:${machine.path("no.sock")}`
    expect(await machine.run(`${command} --server ${server}`, { environment, sleep })).toEqual({
      code: 5,
      out: "",
      err: `ipgate: no ipgate server answers at ${server}\n${hint}`,
    })
  })

  test("is told to programs as JSON on stderr", async () => {
    const server = `unix:${machine.path("no.sock")}`
    const { code, out, err } = await machine.run(`list --json --server ${server}`, { environment })
    expect({ code, out }).toEqual({ code: 5, out: "" })
    expect(JSON.parse(err)).toEqual({
      error: {
        code: "unavailable",
        message: `no ipgate server answers at ${server}`,
        hint: "is it running (`ipgate serve`, or `systemctl status ipgate`)? --offline works on the database directly",
        exit_code: 5,
      },
    })
  })

  test("is never replaced by the database", async () => {
    await machine.run("allow 203.0.113.7 --offline")
    expect((await machine.run("list --server unix:/proc/no/such.sock", { environment })).code).toBe(5)
  })
})

describe("off-line", () => {
  test("while a server holds the database is exit 5, and changes nothing", async () => {
    const server = await runServer()
    // A few only, because each waits for the lock as long as it would for a process that is just ending.
    for (const command of ["allow 203.0.113.7", "deny 203.0.113.7 --dry-run", "list", "export"]) {
      const { code, out, err } = await machine.run(`${command} --offline --db ${server.databasePath}`)
      expect({ code, out }).toEqual({ code: 5, out: "" })
      expect(err).toStartWith(
        `ipgate: another process holds the database ${server.databasePath}\n  a running server owns its database: `,
      )
    }
    expect(await server.lists()).toEqual({ permanent: [], temporary: [] })
    expect(await server.audit()).toEqual([])
    await server.stop()
  })

  test("with a file that is no database is exit 5", async () => {
    const path = machine.file("notes.txt", "not a database, but something dear to somebody")
    const { code, out, err } = await machine.run(`list --offline --db ${path}`)
    expect({ code, out }).toEqual({ code: 5, out: "" })
    expect(err).toContain(path)
  })

  test("a usage error opens no database", async () => {
    expect((await machine.run("allow nonsense --offline")).code).toBe(2)
    expect((await machine.run("list --temp --perm --offline")).code).toBe(2)
    expect(existsSync(machine.path("state"))).toBe(false)
  })
})

describe("options that exclude each other", () => {
  const path = "file:/proc/no/such/directory/ipgate.db"

  test.each(["--offline --server 127.0.0.1:1", "-s unix:/x --offline", `--offline --db ${path} -s x`])(
    "%s",
    async (options) => {
      expect(await machine.run(`list ${options}`)).toEqual({
        code: 2,
        out: "",
        err: "ipgate: --offline and --server exclude each other\n",
      })
    },
  )

  test("--db without --offline", async () => {
    for (const options of [`--db ${path}`, `--db ${path} --server 127.0.0.1:1`]) {
      expect(await machine.run(`list ${options}`)).toEqual({
        code: 2,
        out: "",
        err:
          "ipgate: --db goes with --offline: a running server has its own database\n" +
          "  add --offline, or use --server\n",
      })
    }
  })

  test("the variables of the other way do not", async () => {
    const environment = { IPGATE_SERVER: "127.0.0.1:1", IPGATE_DB: `file:${machine.path("ipgate.db")}` }
    expect((await machine.run("list --offline", { environment })).code).toBe(0)
  })
})

describe("precedence", () => {
  const socket = (name: string) => `unix:/proc/no/such/${name}.sock`

  test.each([
    ["the option", 4],
    ["the variable", 3],
    ["the named configuration file", 2],
    ["the user's configuration file", 1],
  ])("of the server: %s comes before those after it", async (_, strongest) => {
    const given = (rank: number) => rank <= strongest
    machine.file("config/ipgate/config.toml", `[client]\nserver = "${socket("1")}"\n`)
    const named = machine.file("named.toml", `[client]\nserver = "${socket("2")}"\n`)
    const environment = {
      IPGATE_TOKEN: TOKEN,
      ...(given(2) ? { IPGATE_CONFIG: named } : {}),
      ...(given(3) ? { IPGATE_SERVER: socket("3") } : {}),
    }
    const { code, err } = await machine.run(`list ${given(4) ? `--server ${socket("4")}` : ""}`, {
      environment,
    })
    expect(code).toBe(5)
    expect(err).toContain(socket(String(strongest)))
  })

  test("of the configuration: the option comes before the variable, and a bad one is exit 2", async () => {
    const option = machine.file("option.toml", `[client]\nserver = "${socket("option")}"\n`)
    const variable = machine.file("variable.toml", `[client]\nserver = "${socket("variable")}"\n`)
    const environment = { IPGATE_TOKEN: TOKEN, IPGATE_CONFIG: variable }
    expect((await machine.run(`list -c ${option}`, { environment })).err).toContain(socket("option"))
    expect((await machine.run("list", { environment })).err).toContain(socket("variable"))
    const { code, out, err } = await machine.run(
      ["list", "-c", machine.file("bad.toml", "[client]\nservr = 1")],
      {
        environment,
      },
    )
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain("did you mean client.server?")
  })

  test.each([
    ["the option", "option.db", 3],
    ["the variable", "variable.db", 2],
    ["the configuration file", "configured.db", 1],
    ["the state directory", "state/ipgate/ipgate.db", 0],
  ])("of the database: %s comes before those after it", async (_, name, strongest) => {
    const files = ["state/ipgate/ipgate.db", "configured.db", "variable.db", "option.db"]
    const given = (rank: number) => rank <= strongest
    if (given(1)) {
      machine.file("config/ipgate/config.toml", `[database]\nurl = "file:${machine.path("configured.db")}"\n`)
    }
    const environment = given(2) ? { IPGATE_DB: machine.path("variable.db") } : {}
    const option = given(3) ? `--db file:${machine.path("option.db")}` : ""
    expect(await machine.run(`allow 203.0.113.7 --offline ${option}`, { environment })).toMatchObject({
      code: 0,
    })
    expect(files.filter((file) => existsSync(machine.path(file)))).toEqual([name])
  })
})

describe("the server's address", () => {
  test("is host:port, a URL with or without a slash, or a socket", async () => {
    const path = machine.path("ipgate.sock")
    const server = await runServer({
      listen: [
        { kind: "tcp", hostname: "127.0.0.1", port: 0 },
        { kind: "unix", path },
      ],
    })
    const { url } = server
    for (const text of [
      url,
      `${url}/`,
      url.replace("http://", ""),
      url.replace("127.0.0.1", "localhost"),
      `unix:${path}`,
    ]) {
      expect(await machine.run(`status -q --server ${text}`)).toEqual({ code: 0, out: "", err: "" })
    }
    await server.stop()
  })
})

describe("global options stand before and after the command", () => {
  throughBothGatesOnce((world) => {
    test.each(["--json list", "list --json", "-q --json list --perm", "list -q --perm --json"])(
      "%s",
      async (command) => {
        expect(await world().run(command)).toEqual({ code: 0, out: "[]\n", err: "" })
      },
    )
  })
})
