// ipgate doctor without a chain: each fault of an installation by itself, and a sound one without any.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, truncateSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { systemClock } from "../../src/core/clock.ts"
import { formatListenAddress } from "../../src/listen-address.ts"
import { CliMachine, type CliSettings } from "../support/cli.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { type RunningServer, runServer, TOKEN } from "../support/running-server.ts"

let machine: CliMachine
let server: RunningServer | null
beforeEach(() => {
  machine = new CliMachine({ clock: new FakeClock(Date.now()) })
  chmodSync(machine.home, 0o700)
  server = null
})
afterEach(async () => {
  await server?.stop()
  machine.remove()
})

/** An installation as `ipgate serve` makes it: a state directory, a token, a server with a unix socket. */
async function install(): Promise<Record<string, string>> {
  mkdirSync(machine.path("state/ipgate"), { recursive: true, mode: 0o700 })
  machine.file("state/ipgate/api-token", `${TOKEN}\n`)
  const socket = machine.path("gate.sock")
  server = await runServer({
    clock: systemClock,
    directory: machine.path("state/ipgate"),
    listen: [
      { kind: "tcp", hostname: "127.0.0.1", port: 0 },
      { kind: "unix", path: socket },
    ],
  })
  const listen = server.addresses.map(formatListenAddress)
  return { IPGATE_SERVER: listen[0] as string, IPGATE_LISTEN: listen.join(",") }
}

type Finding = { code: string; message: string; change: string[] }

async function examine(
  command: string,
  environment: CliSettings["environment"] = {},
  settings: CliSettings = {},
) {
  const { code, out, err } = await machine.run(`${command} --json`, { ...settings, environment })
  if (out === "") throw new Error(err)
  const { findings, changed, checked } = JSON.parse(out) as {
    findings: Finding[]
    changed: boolean
    checked: string[]
  }
  expect(changed).toBe(false)
  for (const { message, change } of findings) {
    expect(message).not.toBe("")
    expect(change.length).toBeGreaterThan(0)
  }
  return { code, codes: findings.map(({ code }) => code), findings, checked }
}

describe("a sound installation", () => {
  test("with its server: nothing is wrong", async () => {
    const environment = await install()
    expect(await examine("doctor", environment)).toMatchObject({ code: 0, codes: [] })
    const { code, out, err } = await machine.run("doctor", { environment })
    expect([code, out, err]).toEqual([
      0,
      "nothing is wrong: token, permissions, server, database, clock, listeners\n",
      "",
    ])
  })
})

describe("finds", () => {
  test("that no server answers, and exits with 5", async () => {
    const environment = await install()
    await server?.stop()
    server = null
    const { code, codes } = await examine("doctor", environment)
    expect([code, codes]).toEqual([5, ["server"]])
  })

  test.each([
    ["the state directory that others can write", "state/ipgate", 0o777, "permissions"],
    ["the state directory that its group can write", "state/ipgate", 0o770, "permissions"],
    ["a database that is open to others", "state/ipgate/ipgate.db", 0o644, "permissions"],
    ["its log of changes, open to others", "state/ipgate/ipgate.db-wal", 0o604, "permissions"],
    ["a token that is open to others", "state/ipgate/api-token", 0o644, "token"],
    ["a socket that everybody can ask", "gate.sock", 0o666, "permissions"],
    ["a directory in which everybody can replace the socket", ".", 0o777, "permissions"],
  ] as const)("%s", async (_, path, mode, found) => {
    const environment = await install()
    chmodSync(machine.path(path), mode)
    const { code, codes, findings } = await examine("doctor", environment)
    expect([code, codes]).toEqual([1, [found]])
    if (found === "permissions") expect(findings[0]?.change[0]).toStartWith("chmod ")
    // Its own message names chmod; another file would be no help.
    else expect(findings[0]?.change).toEqual([expect.stringContaining("openssl rand -hex 32 makes one")])
  })

  test("nothing in the modes that are right", async () => {
    const environment = await install()
    for (const [path, mode] of [
      ["state/ipgate", 0o750],
      ["state/ipgate/ipgate.db", 0o640],
      ["state/ipgate/api-token", 0o640],
      ["gate.sock", 0o660],
      [".", 0o1777],
    ] as const) {
      chmodSync(machine.path(path), mode)
    }
    expect(await examine("doctor", environment)).toMatchObject({ code: 0, codes: [] })
  })

  test.each([
    ["no token file", null],
    ["an empty one", ""],
    ["a short token", "short\n"],
  ])("%s", async (_, content) => {
    const environment = await install()
    const path = machine.file("elsewhere", content ?? "")
    const { code, codes } = await examine("doctor", {
      ...environment,
      IPGATE_TOKEN_FILE: content === null ? machine.path("nowhere") : path,
    })
    expect([code, codes]).toEqual([1, ["token"]])
  })

  test("a token that the server refuses", async () => {
    const environment = await install()
    const path = machine.file("other-token", `${TOKEN.toUpperCase()}\n`)
    const { code, codes, findings } = await examine("doctor", { ...environment, IPGATE_TOKEN_FILE: path })
    expect([code, codes]).toEqual([1, ["token"]])
    expect(findings[0]?.message).toContain("refuses")
  })

  test("a listener of the configuration where nothing answers", async () => {
    const environment = await install()
    const closed = await closedPort()
    const { code, codes, findings } = await examine("doctor", {
      ...environment,
      IPGATE_LISTEN: `${environment.IPGATE_LISTEN},127.0.0.1:${closed},unix:${machine.path("none.sock")}`,
    })
    expect([code, codes]).toEqual([1, ["listener", "listener"]])
    expect(findings[0]?.message).toContain(`127.0.0.1:${closed}`)
  })

  test("a clock that is not the server's", async () => {
    const environment = await install()
    for (const [seconds, direction] of [
      [-60, "ahead of"],
      [60, "behind"],
    ] as const) {
      const clock = new FakeClock(Date.now() + seconds * 1000)
      const { code, codes, findings } = await examine("doctor", environment, { clock })
      expect([code, codes]).toEqual([1, ["clock"]])
      expect(findings[0]?.message).toContain(direction)
    }
  })

  test("a log that knows the future", async () => {
    const environment = await install()
    await server?.addPermanent("203.0.113.7")
    const { codes, findings } = await examine("doctor", environment, {
      clock: new FakeClock(Date.now() - 3_600_000),
    })
    expect(codes).toEqual(["clock", "clock"])
    expect(findings[0]?.message).toContain("the log has a record of")
  })

  describe("without a server, off-line,", () => {
    const database = () => machine.path("state/ipgate/ipgate.db")
    beforeEach(() => {
      mkdirSync(machine.path("state/ipgate"), { recursive: true, mode: 0o700 })
      machine.file("state/ipgate/api-token", `${TOKEN}\n`)
    })

    test("no database at all, and makes none", async () => {
      const { code, codes, findings } = await examine("doctor --offline")
      expect([code, codes]).toEqual([1, ["database"]])
      expect(findings[0]?.message).toContain("there is no database")
      expect((await examine("doctor --offline")).codes).toEqual(["database"])
    })

    test("nothing in a sound one", async () => {
      expect((await machine.run("--offline allow 203.0.113.7")).code).toBe(0)
      // The driver of this process keeps the lock of that file, so a copy of it is looked at.
      const copy = machine.path("state/ipgate/copy.db")
      for (const end of ["", "-wal"]) {
        writeFileSync(`${copy}${end}`, await Bun.file(`${database()}${end}`).bytes(), { mode: 0o600 })
      }
      const environment = { IPGATE_DB: `file:${copy}` }
      expect(await examine("doctor --offline", environment)).toMatchObject({ code: 0, codes: [] })
    })

    test.each([
      ["an empty file", (path: string) => writeFileSync(path, "", { mode: 0o600 })],
      ["a file of something else", (path: string) => writeFileSync(path, "x".repeat(8192), { mode: 0o600 })],
    ])("%s in place of a database", async (_, make) => {
      make(database())
      const { code, codes } = await examine("doctor --offline")
      expect([code, codes]).toEqual([1, ["database"]])
    })

    test("a database that lost its end", async () => {
      await machine.run("--offline allow 203.0.113.7")
      const copy = machine.path("state/ipgate/copy.db")
      const bytes = await Bun.file(database()).bytes()
      writeFileSync(copy, bytes, { mode: 0o600 })
      truncateSync(copy, Math.floor(bytes.length / 2))
      const { codes } = await examine("doctor --offline", { IPGATE_DB: `file:${copy}` })
      expect(codes).toEqual(["database"])
    })

    test("a temporary directory that is mounted noexec", async () => {
      const mounts =
        "/dev/sda1 / ext4 rw 0 0\ntmpfs /tmp tmpfs rw,nosuid,noexec 0 0\ntmpfs /tmpfs tmpfs rw 0 0\n"
      const readFile = (path: string) => (path === "/proc/self/mounts" ? mounts : null)
      const withTmp = async (directory: string) =>
        (await examine("doctor --offline", { TMPDIR: directory, IPGATE_TOKEN: TOKEN }, { readFile })).codes
      expect(await withTmp("/tmp")).toEqual(["temporary-directory", "database"])
      expect(await withTmp("/tmp/below")).toEqual(["temporary-directory", "database"])
      expect(await withTmp("")).toEqual(["temporary-directory", "database"])
      expect(await withTmp("/tmpfs")).toEqual(["database"])
      expect(await withTmp("/var/tmp")).toEqual(["database"])
    })
  })
})

describe("--via", () => {
  let silent: Server | null = null
  afterEach(() => {
    silent?.close()
    silent = null
  })

  test("a URL where nobody answers: exit code 5, and nothing is left on the lists", async () => {
    const environment = await install()
    const { code, out, err } = await machine.run(`doctor --via http://127.0.0.1:${await closedPort()}/`, {
      environment,
    })
    expect([code, out]).toEqual([5, ""])
    expect(err).toContain("is out of reach")
    expect(await server?.lists()).toEqual({ permanent: [], temporary: [] })
    expect(await server?.audit()).toEqual([])
  })

  test("a name that has no address: exit code 5", async () => {
    const environment = await install()
    const { code, err } = await machine.run("doctor --via http://no-such-host.invalid/", { environment })
    expect([code, err]).toEqual([5, expect.stringContaining("no-such-host.invalid has no address")])
  })

  test("a server that speaks something else, or closes: exit code 5", async () => {
    const environment = await install()
    silent = createServer((socket) => socket.end("220 mail.example.org ESMTP\r\n"))
    await new Promise<void>((resolve) => silent?.listen(0, "127.0.0.1", resolve))
    const address = silent.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const { code } = await machine.run(`doctor --via http://127.0.0.1:${port}/`, { environment })
    expect(code).toBe(5)
    expect(await server?.audit()).toEqual([])
  })

  test("an ipgate where nobody answers: exit code 5; a wrong token: 4", async () => {
    const environment = await install()
    const away = { IPGATE_SERVER: `127.0.0.1:${await closedPort()}` }
    expect((await machine.run("doctor --via http://127.0.0.1:9/", { environment: away })).code).toBe(5)
    const path = machine.file("other-token", `${TOKEN.toUpperCase()}\n`)
    const wrong = { ...environment, IPGATE_TOKEN_FILE: path }
    expect((await machine.run(`doctor --via ${server?.url}/`, { environment: wrong })).code).toBe(4)
    const none = { ...environment, IPGATE_TOKEN_FILE: machine.path("no-token") }
    expect(await machine.run(`doctor --via ${server?.url}/`, { environment: none })).toMatchObject({
      code: 4,
      err: expect.stringContaining(`the token file ${machine.path("no-token")} does not exist`),
    })
  })

  test("a token that may not change the lists: exit code 4, and no word of entries that there are none of", async () => {
    const environment = await install()
    const { out } = await machine.run("token create reader --scope read", { environment })
    const reader = { ...environment, IPGATE_TOKEN_FILE: machine.file("reader-token", out) }
    expect(await machine.run(`doctor --via ${server?.url}/auth`, { environment: reader })).toEqual({
      code: 4,
      out: "",
      err: "ipgate: the token reader may read, but change nothing and make no backup\n",
    })
  })

  // The server itself in place of a proxy: everybody gets a 404, and nobody is asked about.
  test("a chain without a proxy that asks: one finding, for people and for programs", async () => {
    const environment = await install()
    const { code, out, err } = await machine.run(`doctor --via ${server?.url}/page`, { environment })
    expect([code, err]).toEqual([1, ""])
    expect(out).toStartWith("not-asked (IPv4): everybody gets status 404, and ipgate is not asked")
    for (const name of ["nginx", "caddy", "haproxy", "traefik", "envoy"])
      expect(out).toContain(`  change  ${name}: `)
    const answer = await machine.run(`doctor --via ${server?.url}/page --json`, { environment })
    expect(JSON.parse(answer.out)).toMatchObject({
      changed: false,
      via: `${server?.url}/page`,
      tested: ["IPv4"],
      findings: [{ code: "not-asked", over: ["IPv4"] }],
    })
  })

  test("the lists are as they were after a run", async () => {
    const environment = await install()
    await server?.addPermanent("203.0.113.0/25")
    const before = await server?.lists()
    await machine.run(`doctor --via ${server?.url}/auth`, { environment })
    expect(await server?.lists()).toEqual(before)
  })

  test.each([
    ["no URL", "doctor --via example.org"],
    ["another kind of URL", "doctor --via ftp://example.org/"],
    ["off-line", "doctor --offline --via http://127.0.0.1:1/"],
    ["an argument", "doctor http://127.0.0.1:1/"],
  ])("%s: exit code 2", async (_, command) => {
    expect((await machine.run(command)).code).toBe(2)
  })
})

async function closedPort(): Promise<number> {
  const socket = createServer()
  await new Promise<void>((resolve) => socket.listen(0, "127.0.0.1", resolve))
  const address = socket.address()
  await new Promise((resolve) => socket.close(resolve))
  if (typeof address !== "object" || address === null) throw new Error("no port")
  return address.port
}
