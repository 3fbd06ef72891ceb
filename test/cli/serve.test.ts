// `ipgate serve`: what it refuses to start with, the token that it makes, and how it ends.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import type { ProcessEnv } from "../../cli/command-env.ts"
import { fault } from "../faults/fault.ts"
import { CliMachine, type CliSettings } from "../support/cli.ts"
import { runServer, TOKEN } from "../support/running-server.ts"

let machine: CliMachine

beforeEach(() => {
  machine = new CliMachine()
})

afterEach(() => machine.remove())

type Signal = Parameters<Parameters<ProcessEnv["untilSignal"]>[0]>[0]

/** Starts `serve` on a unix socket, and hands over when it is ready for signals; `early` ones come before it listens. */
async function started(
  settings: CliSettings,
  use: (server: { socket: string; signal: (name: Signal) => void; log: () => string }) => Promise<void>,
  early: readonly Signal[] = [],
) {
  const socket = machine.path("ipgate.sock")
  let log = ""
  let handler: ((name: Signal) => void) | undefined
  const ready = Promise.withResolvers<(name: Signal) => void>()
  const run = machine.run(`serve --listen unix:${socket} --db ${machine.path("ipgate.db")}`, {
    writeError: (text) => {
      log += text
    },
    logTo: (text, done) => {
      log += text
      done()
      if (text.includes("listening on ") && handler !== undefined) ready.resolve(handler)
    },
    untilSignal: (handle) => {
      handler = handle
      for (const name of early) handle(name)
    },
    ...settings,
  })
  const signal = await Promise.race([
    ready.promise,
    run.then(({ code }) => Promise.reject(new Error(`serve ended with ${code}: ${log}`))),
  ])
  await use({ socket, signal, log: () => log })
  return { ...(await run), log }
}

describe(
  fault("B-06", "a start without and with a token", "made once, 0600, said where; one that is there stays"),
  () => {
    test("makes a token that only its owner can read, says where, and the command line on the same machine finds it", async () => {
      const path = machine.path("state/ipgate/api-token")
      const { code, out, log } = await started({}, async ({ socket, signal }) => {
        expect(statSync(path).mode & 0o777).toBe(0o600)
        expect(await machine.run(`allow 203.0.113.7 --server unix:${socket}`)).toEqual({
          code: 0,
          out: "allowed 203.0.113.7 permanently\n",
          err: "",
        })
        signal("SIGTERM")
      })
      expect({ code, out }).toEqual({ code: 0, out: "" })
      expect(log).toContain(`info made an API token in ${path}\n`)
      expect(log).toContain("info listening on unix:")
      expect(log).not.toContain(readFileSync(path, "utf8").trim())
    })

    test("leaves a token that is there as it is, and does not speak of it", async () => {
      const path = machine.file("state/ipgate/api-token", `${TOKEN}\n`)
      const { log } = await started({}, async ({ signal }) => signal("SIGINT"))
      expect(readFileSync(path, "utf8")).toBe(`${TOKEN}\n`)
      expect(log).not.toContain("api-token")
    })

    test("a token file that is named goes before the token of the environment", async () => {
      const other = "b-token-for-tests-of-48-characters-0123456789ab!"
      const environment = { IPGATE_TOKEN: other, IPGATE_TOKEN_FILE: machine.file("named", `${TOKEN}\n`) }
      await started({ environment }, async ({ socket, signal }) => {
        const codeWith = async (token: string) =>
          (await machine.run(`list --server unix:${socket}`, { environment: { IPGATE_TOKEN: token } })).code
        expect([await codeWith(TOKEN), await codeWith(other)]).toEqual([0, 4])
        signal("SIGTERM")
      })
    })

    test("makes none where one is given", async () => {
      await started({ environment: { IPGATE_TOKEN: TOKEN } }, async ({ socket, signal }) => {
        const settings = { environment: { IPGATE_TOKEN: TOKEN } }
        expect((await machine.run(`list --server unix:${socket}`, settings)).code).toBe(0)
        signal("SIGTERM")
      })
      expect(existsSync(machine.path("state"))).toBe(false)
    })
  },
)

describe("signals", () => {
  const settings = { environment: { IPGATE_TOKEN: TOKEN } }

  test.each(["SIGTERM", "SIGINT"] as const)("%s ends it with exit 0, and it says so", async (name) => {
    const { code, log } = await started(settings, async ({ signal }) => signal(name))
    expect(code).toBe(0)
    expect(log).toContain(`info stopping on ${name}\n`)
    expect(log).toEndWith("info stopped\n")
  })

  test("the second one ends the process at once, with exit 1", async () => {
    const exits: number[] = []
    await started({ ...settings, exitNow: (code) => exits.push(code) }, async ({ signal }) => {
      signal("SIGTERM")
      expect(exits).toEqual([])
      signal("SIGINT")
      expect(exits).toEqual([1])
    })
  })

  const RELOADED = "reloaded the configuration"

  test("SIGHUP before it listens is kept until it does: one reload for all of them", async () => {
    const { log } = await started(
      settings,
      async ({ signal, log }) => {
        while (!log().includes(RELOADED)) await Bun.sleep(1)
        signal("SIGTERM")
      },
      ["SIGHUP", "SIGHUP"],
    )
    expect(log.split(RELOADED)).toHaveLength(2)
  })

  test.each<readonly [string, readonly Signal[], readonly Signal[]]>([
    ["before it listens", ["SIGHUP", "SIGTERM"], []],
    ["after it has listened", [], ["SIGTERM", "SIGHUP"]],
  ])("SIGHUP reloads nothing where SIGTERM ends it %s", async (_, early, late) => {
    const { code, log } = await started(
      settings,
      async ({ signal }) => {
        for (const name of late) signal(name)
      },
      early,
    )
    expect(code).toBe(0)
    expect(log).toContain("stopping on SIGTERM")
    expect(log).not.toContain(RELOADED)
  })

  test("an error that nobody has caught ends it with exit 1 and its cause; a signal does not wait for that", async () => {
    const exits: number[] = []
    let breakDown: (error: unknown) => void = () => {}
    const untilFault: ProcessEnv["untilFault"] = (handle) => {
      breakDown = handle
    }
    const exitNow = (code: number) => exits.push(code)
    const { code, log } = await started({ ...settings, untilFault, exitNow }, async ({ signal }) => {
      breakDown(new Error("out of nowhere"))
      expect(exits).toEqual([])
      signal("SIGTERM")
      expect(exits).toEqual([1])
    })
    expect(code).toBe(1)
    expect(log).toMatch(/error an error that nobody has caught: stopping .*out of nowhere/)
  })
})

test("a variable that is nearly one of ours is told in the log", async () => {
  await started({ environment: { IPGATE_TRUSTED_PROXY: "10.0.0.1" } }, async ({ signal, log }) => {
    expect(log()).toContain(
      "IPGATE_TRUSTED_PROXY is set and means nothing; did you mean IPGATE_TRUSTED_PROXIES?",
    )
    signal("SIGTERM")
  })
})

describe("--check", () => {
  test("says that the configuration is valid, and makes nothing", async () => {
    expect(await machine.run("serve --check")).toEqual({
      code: 0,
      out: "the configuration is valid\n",
      err: "",
    })
    expect(readdirSync(machine.home)).toEqual([])
  })

  test("warns of a variable that is nearly one of ours", async () => {
    const environment = { IPGATE_TRUSTED_PROXY: "10.0.0.1" }
    const { code, err } = await machine.run("serve --check", { environment })
    expect(code).toBe(0)
    expect(err).toContain("IPGATE_TRUSTED_PROXY is set and means nothing")
  })

  test.each([
    ["serve --check --listen 0.0.0.0:8765 --trusted-proxies 192.0.2.10"],
    ["serve --check --listen 127.0.0.1:1 [::1]:2 localhost:3 unix:/run/ipgate.sock"],
    ["serve --check --client-ip-header x-forwarded-for"],
  ])("%s is valid", async (command) => {
    expect(await machine.run(command)).toMatchObject({ code: 0, err: "" })
  })
})

describe("exit 78, with and without --check", () => {
  const token = (content: string, mode?: number) => () =>
    void machine.file("state/ipgate/api-token", content, mode)
  const config = (content: string) => () => void machine.file("config/ipgate/config.toml", content)
  const nothing = () => {}
  const options = (text: string) => ({ text, environment: {} })
  const variable = (name: string, value: string) => ({ text: "", environment: { [name]: value } })

  test.each([
    ["an address that is none", nothing, options("--listen nowhere"), 'command line: "nowhere" is no listen'],
    ["an open address without proxies", nothing, options("--listen 0.0.0.0:1"), "trusted_proxies = "],
    ["a proxy that is no network", nothing, options("--trusted-proxies 10.0.0.5/8"), "has host bits set"],
    [
      "a header of another name",
      nothing,
      options("--client-ip-header X"),
      "use X-Real-IP or X-Forwarded-For",
    ],
    ["a database that is no file", nothing, options("--db https://db"), "use file:/path/to/ipgate.db"],
    [
      "a configuration that is not there",
      nothing,
      options("-c /proc/no/such"),
      "/proc/no/such: the configuration file",
    ],
    ["an unknown key", config("[server]\nlisen = []\n"), options(""), "did you mean server.listen?"],
    ["broken TOML", config("[server\n"), options(""), "config.toml:1: "],
    [
      "a token file that is not there",
      nothing,
      options("--token-file /proc/no/such"),
      "/proc/no/such does not exist\n  make it: ",
    ],
    [
      "a token file open to others",
      token(`${TOKEN}\n`, 0o644),
      options(""),
      "is open to other users: chmod 0640",
    ],
    ["a short token", token("short\n"), options(""), "fewer than 32 characters"],
    ["an empty token file", token(""), options(""), "is empty"],
    ["a token with a space", token(`${TOKEN} ${TOKEN}\n`), options(""), "spaces or special characters"],
    [
      "a short token in the environment",
      nothing,
      variable("IPGATE_TOKEN", "short"),
      "IPGATE_TOKEN holds a token",
    ],
    [
      "a listen address of the environment",
      nothing,
      variable("IPGATE_LISTEN", "x"),
      'IPGATE_LISTEN: "x" is no',
    ],
  ])("%s", async (_, prepare, { text, environment }, message) => {
    prepare()
    for (const check of ["--check", ""]) {
      const { code, out, err } = await machine.run(`serve ${text} ${check}`, { environment })
      expect({ code, out }).toEqual({ code: 78, out: "" })
      expect(err).toStartWith("ipgate: ")
      expect(err).toContain(message)
      expect(err).not.toContain(TOKEN)
    }
  })

  test("all that is wrong is told at once", async () => {
    const { code, err } = await machine.run(
      "serve --listen a --trusted-proxies b --client-ip-header c --db x:y",
    )
    expect(code).toBe(78)
    for (const text of ['"a"', '"b"', '"c"', '"x:y"']) expect(err).toContain(text)
  })

  test("programs get it as JSON on stderr", async () => {
    const { code, out, err } = await machine.run("serve --listen a --check --json")
    expect({ code, out }).toEqual({ code: 78, out: "" })
    expect(JSON.parse(err)).toMatchObject({ error: { code: "config", exit_code: 78 } })
  })
})

describe("a start that fails for another reason", () => {
  test("an unknown option is exit 2: no supervisor wrote it", async () => {
    expect((await machine.run("serve --lisen x")).code).toBe(2)
  })

  test("a database that is held is exit 5", async () => {
    const server = await runServer()
    const { code, err } = await machine.run(`serve --listen 127.0.0.1:0 --db ${server.databasePath}`, {
      environment: { IPGATE_TOKEN: TOKEN },
    })
    expect(code).toBe(5)
    expect(err).toContain(`another process holds the database ${server.databasePath}`)
    await server.stop()
  })

  test("a file that is no database is exit 5, and is left as it was", async () => {
    const path = machine.file("notes.db", "not a database, but something dear to somebody")
    const { code, err } = await machine.run(`serve --listen 127.0.0.1:0 --db ${path}`, {
      environment: { IPGATE_TOKEN: TOKEN },
    })
    expect(code).toBe(5)
    expect(err).toContain(path)
    expect(readFileSync(path, "utf8")).toBe("not a database, but something dear to somebody")
  })

  test("a port in use is exit 1, and names it", async () => {
    const server = await runServer()
    const address = server.url.replace("http://", "")
    const { code, err } = await machine.run(`serve --listen ${address} --db ${machine.path("ipgate.db")}`, {
      environment: { IPGATE_TOKEN: TOKEN },
    })
    expect(code).toBe(1)
    expect(err).toContain(`cannot listen on ${address}`)
    await server.stop()
  })
})
