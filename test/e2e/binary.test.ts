// The executable as an administrator gets it: alone, in hostile places, as any user, and when it is told to stop.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import type { ListenAddress } from "../../src/listen-address.ts"
import { fault } from "../faults/fault.ts"
import { AS_ORDINARY_USER, type Finished, type ServerProcess, TOKEN, Workplace } from "../support/binary.ts"
import { RawConnection, requestText } from "../support/raw-http.ts"

const HOSTILE = fault("P-12", "a hostile folder and environment", "no effect, or what the README says")
const SIGNALS = fault(
  "P-01 P-02 P-03",
  "SIGTERM, SIGINT and SIGHUP during changes, a second signal, a request that never ends",
  "what was acknowledged is kept; the second one ends at once; SIGHUP ends nothing",
)
const NO_START = fault(
  "P-09",
  "a start with a database, a port or a configuration that cannot be used",
  "one clear message, its exit code, and the next start works",
)

setDefaultTimeout(60_000)

type TemporaryRow = { ip: string; reason: string; expires: string }

const json = ({ stdout }: Finished) => JSON.parse(stdout)
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** A directory of the workplace in which everybody may write. */
function openDirectory(place: Workplace, name: string): string {
  const path = place.path(name)
  mkdirSync(path, { recursive: true })
  chmodSync(path, 0o777)
  return path
}

describe("the command line and the API tell the same", () => {
  test("each change, list, log and status, whoever made it", async () => {
    await using place = await Workplace.make()
    const server = await place.serve()

    const allowed = await server.ipgate("allow", "203.0.113.7", "--ttl", "8h", "-r", "on call", "--json")
    expect(allowed.code).toBe(0)
    const { changed, results } = json(allowed)
    expect(changed).toBe(true)
    const temporary = { ip: "203.0.113.7", reason: "on call", expires: results[0].expires }
    expect(await server.read<TemporaryRow[]>("/api/whitelist/temp")).toEqual([temporary])
    expect(await server.decision("203.0.113.7")).toBe(204)

    const added = await server.api("POST", "/api/whitelist/perm", { ip: "2001:DB8:0::/48" })
    expect([added.status, added.headers.get("Ipgate-Result")]).toEqual([204, "added"])
    expect(json(await server.ipgate("list", "--json"))).toEqual([
      { list: "perm", ip: "2001:db8::/48", expires: null, reason: null },
      { list: "temp", ...temporary },
    ])
    expect(await server.read<unknown>("/api/whitelist/perm/list")).toEqual([{ ip: "2001:db8::/48" }])
    expect(await server.decision("2001:db8::1")).toBe(204)

    const again = await server.api("POST", "/api/whitelist/perm", { ip: "2001:db8::/48" })
    expect(again.status).toBe(409)
    const known = await server.ipgate("allow", "2001:db8::/48", "--error-unchanged")
    expect([known.code, known.stdout]).toEqual([3, "2001:db8::/48 is already allowed permanently\n"])

    const check = await server.ipgate("check", "2001:db8::1", "192.0.2.1", "--json")
    expect(check.code).toBe(1)
    expect(json(check)).toEqual([
      await server.read("/api/check?ip=2001:db8::1"),
      await server.read("/api/check?ip=192.0.2.1"),
    ])

    expect((await server.ipgate("deny", "2001:db8::/48")).code).toBe(0)
    expect(await server.read<unknown>("/api/whitelist/perm/list")).toEqual([])
    expect(await server.decision("2001:db8::1")).toBe(401)
    const removed = await server.api("DELETE", "/api/whitelist/temp/203.0.113.7")
    expect([removed.status, removed.headers.get("Ipgate-Result")]).toEqual([204, "removed"])
    expect((await server.ipgate("check", "203.0.113.7")).code).toBe(1)
    expect(await server.decision("203.0.113.7")).toBe(401)

    const log = await server.audit()
    expect(json(await server.ipgate("logs", "--json"))).toEqual(log)
    expect(log.map(({ action, ip, api_client_ip }) => [action, ip, api_client_ip])).toEqual([
      ["delete_temp", "203.0.113.7", "127.0.0.1"],
      ["delete_perm", "2001:db8::/48", "127.0.0.1"],
      ["add_perm", "2001:db8::/48", "127.0.0.1"],
      ["add_temp", "203.0.113.7", "127.0.0.1"],
    ])

    const counted = { status: "ok", perm_whitelist_count: 0, temp_whitelist_count: 0, db_ok: true }
    expect(json(await server.ipgate("status", "--json"))).toMatchObject(counted)
    expect(await server.read<unknown>("/status")).toMatchObject(counted)
  })

  test("bad input is refused by both with the same words, and nothing is stored", async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const answer = await server.api("POST", "/api/whitelist/perm", { ip: "10.0.0.5/8" })
    const message = await answer.text()
    expect(answer.status).toBe(400)
    expect(message).toContain("10.0.0.0/8")
    expect(message).toContain("10.0.0.5")
    const command = await server.ipgate("allow", "10.0.0.5/8")
    expect([command.code, command.stdout]).toEqual([2, ""])
    expect(command.stderr).toContain(message.trim())
    expect((await server.ipgate("allow", "203.0.113.7", "--ttl", "1h30x")).code).toBe(2)
    expect(await server.audit()).toEqual([])
  })

  test("addresses come from standard input too", async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const input = "203.0.113.7\n# on call\n\n192.0.2.0/28\n"
    const env = { IPGATE_SERVER: server.url }
    expect((await place.ipgate(["allow", "-"], { env, input })).code).toBe(0)
    expect(await server.read<unknown>("/api/whitelist/perm/list")).toEqual([
      { ip: "192.0.2.0/28" },
      { ip: "203.0.113.7" },
    ])
  })

  test("a wrong token is refused by both", async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const other = await place.write("other-token", `${"x".repeat(40)}\n`, 0o600)
    const command = await server.ipgate("allow", "203.0.113.7", "--token-file", other)
    expect(command.code).toBe(4)
    expect(command.stderr).toContain("--token-file")
    const headers = { Authorization: `Bearer ${"x".repeat(40)}` }
    expect((await fetch(`${server.url}/api/logs`, { headers })).status).toBe(401)
    expect(await server.audit()).toEqual([])
  })
})

describe(
  fault("S-02", "the executable alone in an empty folder", "starts, adds, decides, stops, remembers"),
  () => {
    test("the binary serves, changes, decides and remembers", async () => {
      await using place = await Workplace.make()
      const { folder, binary } = place.copyBinary()
      for (let above = folder; above !== "/"; above = dirname(above)) {
        expect(existsSync(join(above, "node_modules"))).toBe(false)
      }
      const server = await place.serve([], { binary, cwd: folder })
      const client = { binary, cwd: folder, env: { IPGATE_SERVER: server.url } }
      const allowed = await place.ipgate(["allow", "203.0.113.7", "--ttl", "8h"], client)
      expect([allowed.code, allowed.stderr]).toEqual([0, ""])
      expect(await server.decision("203.0.113.7")).toBe(204)
      expect(await server.decision("203.0.113.8")).toBe(401)
      expect(await server.stop()).toBe(0)
      const offline = await place.ipgate(["--offline", "list", "--json"], { binary, cwd: folder })
      expect(json(offline)).toMatchObject([{ list: "temp", ip: "203.0.113.7" }])
      expect(readdirSync(folder)).toEqual(["ipgate"])
    })

    test("help begins with examples, and the version is told", async () => {
      await using place = await Workplace.make()
      const help = await place.ipgate(["--help"])
      expect([help.code, help.stdout.startsWith("Examples:\n")]).toEqual([0, true])
      const told = /^ipgate [0-9]+\.[0-9]+\.[0-9]+ \(bun \S+, libsql \S+, linux-\S+\)\n$/
      expect((await place.ipgate(["--version"])).stdout).toMatch(told)
    })
  },
)

describe(HOSTILE, () => {
  /** A folder in which each file that Bun might obey leaves a mark, or makes ipgate fail. */
  async function trap(place: Workplace): Promise<{ folder: string; mark: string }> {
    const mark = place.path("mark")
    const spring = `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "sprung")\n`
    const files = {
      ".env": `IPGATE_LISTEN=192.0.2.1:1\nIPGATE_SERVER=192.0.2.1:1\nBUN_OPTIONS=--preload=./trap.ts\n`,
      ".env.production": "IPGATE_LISTEN=192.0.2.1:1\nIPGATE_SERVER=192.0.2.1:1\n",
      "bunfig.toml": 'preload = ["./trap.ts"]\n',
      "trap.ts": spring,
      "package.json": '{ "type": "commonjs", "imports": { "#x": "./trap.ts" }, "main": "./trap.ts" }\n',
      "tsconfig.json": '{ "compilerOptions": { "paths": { "*": ["./trap.ts"] } } }\n',
      "src/store/worker.ts": spring,
      "node_modules/commander/index.js": spring,
      "node_modules/@libsql/linux-x64-gnu/index.js": spring,
    }
    for (const [name, content] of Object.entries(files)) await place.write(`trap/${name}`, content)
    return { folder: place.path("trap"), mark }
  }

  test("its .env, bunfig.toml, package.json, tsconfig.json and modules have no effect", async () => {
    await using place = await Workplace.make()
    const { folder, mark } = await trap(place)
    // The trap is alive: Bun itself runs into it.
    const bun = [process.execPath, "-e", "console.log(process.env.IPGATE_LISTEN)"]
    expect((await place.run(bun, { cwd: folder })).stdout).toBe("192.0.2.1:1\n")
    expect(existsSync(mark)).toBe(true)
    await place.run(["rm", mark])

    // Named nowhere but in .env, which would send both to an address that is not of this machine.
    const listen = await place.ipgate(["serve", "--check"], { cwd: folder })
    expect([listen.code, listen.stdout]).toEqual([0, "the configuration is valid\n"])
    const nowhere = await place.ipgate(["status"], { cwd: folder })
    expect(nowhere.stderr).not.toContain("192.0.2.1")

    const server = await place.serve([], { cwd: folder })
    const client = { cwd: folder, env: { IPGATE_SERVER: server.url } }
    expect((await place.ipgate(["allow", "203.0.113.7"], client)).code).toBe(0)
    expect((await place.ipgate(["status"], client)).code).toBe(0)
    expect(await server.decision("203.0.113.7")).toBe(204)
    expect(await server.stop()).toBe(0)
    expect((await place.ipgate(["--offline", "list"], { cwd: folder })).code).toBe(0)
    expect(existsSync(mark)).toBe(false)
  })

  test.each([
    ["BUN_OPTIONS", "--preload=./trap.ts"],
    ["BUN_OPTIONS", "--preload ./trap.ts"],
    ["BUN_OPTIONS", "--require=./trap.ts"],
    ["BUN_OPTIONS", "--import=./trap.ts"],
    ["BUN_INSPECT", "127.0.0.1:0"],
  ])("%s=%s is refused, and no code of the folder runs", async (name, value) => {
    await using place = await Workplace.make()
    const { folder, mark } = await trap(place)
    const { code, stdout } = await place.ipgate(["serve", "--check"], { cwd: folder, env: { [name]: value } })
    expect(code).not.toBe(0)
    expect(stdout).toBe("")
    expect(existsSync(mark)).toBe(false)
  })

  test.each([
    ["NODE_OPTIONS", "--require ./trap.ts"],
    ["NODE_PATH", "./node_modules"],
  ])("%s=%s has no effect", async (name, value) => {
    await using place = await Workplace.make()
    const { folder, mark } = await trap(place)
    const { code, stdout } = await place.ipgate(["serve", "--check"], { cwd: folder, env: { [name]: value } })
    expect([code, stdout]).toEqual([0, "the configuration is valid\n"])
    expect(existsSync(mark)).toBe(false)
  })
})

describe("as a user without rights", () => {
  const ordinary = { IPGATE_DB: undefined, IPGATE_TOKEN_FILE: undefined, IPGATE_CONFIG: undefined }

  test.each([
    ["XDG_STATE_HOME", "state", "state/ipgate"],
    ["HOME", "home", "home/.local/state/ipgate"],
  ])(
    "the state is below %s, closed to others, and commands find the token there",
    async (name, value, at) => {
      await using place = await Workplace.make()
      // A copy, because the checkout may lie where that user cannot look.
      const { binary, folder } = place.copyBinary()
      const env = { ...ordinary, [name]: openDirectory(place, value) }
      const prefix = ["sh", "-c", 'umask 000; exec "$@"', "sh", ...AS_ORDINARY_USER]
      const server = await place.serve([], { binary, cwd: folder, env, prefix })
      const state = place.path(at)
      expect(server.log()).toContain(`made an API token in ${state}/api-token`)
      expect(server.log()).toContain(`path="${state}/ipgate.db"`)
      const files = readdirSync(state).toSorted()
      expect(files).toEqual(["api-token", "ipgate.db", "ipgate.db-wal"])
      expect(files.map((file) => mode(join(state, file)))).toEqual(["600", "600", "600"])
      expect(mode(state)).toBe("700")

      const client = { binary, env: { ...env, IPGATE_SERVER: server.url }, prefix: AS_ORDINARY_USER }
      expect((await place.ipgate(["allow", "203.0.113.7", "--ttl", "8h"], client)).code).toBe(0)
      expect(await server.decision("203.0.113.7")).toBe(204)
      const token = readFileSync(join(state, "api-token"), "utf8")
      expect(token.length).toBeGreaterThan(32)
      expect(await server.stop()).toBe(0)

      const next = await place.serve([], { binary, cwd: folder, env, prefix })
      expect(next.log()).not.toContain("token")
      expect(readFileSync(join(state, "api-token"), "utf8")).toBe(token)
      expect(await next.decision("203.0.113.7")).toBe(204)
    },
  )

  test("a state directory that it may not make is told with what to do, and a start is not tried again", async () => {
    await using place = await Workplace.make()
    const { binary, folder } = place.copyBinary()
    mkdirSync(place.path("closed"), { mode: 0o555 })
    const state = place.path("closed/ipgate")
    const { code, stdout, stderr } = await place.ipgate(["serve", "--listen", "127.0.0.1:0"], {
      binary,
      cwd: folder,
      env: { ...ordinary, XDG_STATE_HOME: place.path("closed") },
      prefix: AS_ORDINARY_USER,
    })
    expect({ code, stdout, stderr }).toEqual({
      code: 78,
      stdout: "",
      stderr: `ipgate: the token file ${state}/api-token cannot be made: EACCES\n  name places that this user may write to with --token-file and --db, or set HOME\n`,
    })
  })

  test("a new database in somebody else's directory, where it may write, is its own", async () => {
    await using place = await Workplace.make()
    const { binary, folder } = place.copyBinary()
    const path = join(openDirectory(place, "open"), "gate.db")
    const env = { IPGATE_DB: `file:${path}` }
    const options = { binary, cwd: folder, env, prefix: AS_ORDINARY_USER }
    const { code, stderr } = await place.ipgate(["--offline", "allow", "203.0.113.7"], options)
    expect([code, stderr]).toEqual([0, expect.stringContaining("made a new, empty database")])
    expect(mode(path)).toBe("600")
    expect((await place.ipgate(["--offline", "check", "203.0.113.7"], options)).code).toBe(0)
  })

  test("a database that it may not write, or not beside, is told by its name", async () => {
    await using place = await Workplace.make()
    const { binary, folder } = place.copyBinary()
    expect((await place.ipgate(["--offline", "list"])).code).toBe(0)
    const [open, closed] = [openDirectory(place, "open"), openDirectory(place, "closed")]
    for (const path of [open, closed]) copyFileSync(place.database, join(path, "gate.db"))
    symlinkSync(join(closed, "gate.db"), join(open, "link.db"))
    chmodSync(join(open, "gate.db"), 0o444)
    chmodSync(join(closed, "gate.db"), 0o666)
    chmodSync(closed, 0o555)
    for (const [database, name] of [
      [join(open, "gate.db"), join(open, "gate.db")],
      [join(closed, "gate.db"), closed],
      [join(open, "link.db"), closed],
    ]) {
      const env = { IPGATE_DB: `file:${database}` }
      const options = { binary, cwd: folder, env, prefix: AS_ORDINARY_USER }
      const { code, stderr } = await place.ipgate(["--offline", "list"], options)
      expect(code).toBe(5)
      expect(stderr).toStartWith(`ipgate: ${name} cannot be written by this user\n  make it writable`)
    }
    chmodSync(closed, 0o755)
  })

  test("the token and the database that it makes are on the disk before they have their names", async () => {
    await using place = await Workplace.make()
    const { binary, folder } = place.copyBinary()
    const state = openDirectory(place, "state")
    const calls = place.path("calls")
    const strace = ["strace", "-D", "-f", "-qq", "-y", "-o", calls, "-e", "trace=fsync,link,linkat"]
    const server = await place.serve([], {
      binary,
      cwd: folder,
      env: { ...ordinary, XDG_STATE_HOME: state },
      prefix: [...strace, ...AS_ORDINARY_USER],
    })
    expect(await server.stop()).toBe(0)
    const lines = readFileSync(calls, "utf8").split("\n")
    const steps = [
      /fsync\(.*\/api-token\.new-\w+\/api-token>/,
      /link(at)?\(.*\/api-token\.new-\w+\/api-token"/,
      /fsync\(.*\/ipgate\.db\.new-\w+\/database>/,
      /link(at)?\(.*\/ipgate\.db\.new-\w+\/database"/,
      /fsync\(\d+<.*\/state\/ipgate>/,
    ].map((step) => lines.findIndex((line) => step.test(line)))
    expect(steps[0]).toBeGreaterThanOrEqual(0)
    expect(steps).toEqual(steps.toSorted((a, b) => a - b))
    expect(new Set(steps).size).toBe(5)
  })

  test("a reload makes no token in the place of one that is gone, and the old one holds", async () => {
    await using place = await Workplace.make()
    const { binary, folder } = place.copyBinary()
    const state = openDirectory(place, "state")
    const env = { ...ordinary, XDG_STATE_HOME: state }
    const server = await place.serve([], { binary, cwd: folder, env, prefix: AS_ORDINARY_USER })
    const made = join(state, "ipgate/api-token")
    const token = readFileSync(made, "utf8").trim()
    rmSync(made)
    server.signal("SIGHUP")
    await server.logged(`the old configuration stays in force: the token file ${made} does not exist`)
    expect(existsSync(made)).toBe(false)
    const headers = { Authorization: `Bearer ${token}` }
    expect((await fetch(`${server.url}/api/logs`, { headers })).status).toBe(200)
    expect(await server.stop()).toBe(0)
  })

  test("a token file that it may not read is told with who may, and not as one that is missing", async () => {
    await using place = await Workplace.make()
    const { binary, folder } = place.copyBinary()
    const closed = await place.write("closed-token", `${TOKEN}\n`, 0o000)
    const { code, stdout, stderr } = await place.ipgate(["list", "--token-file", closed], {
      binary,
      cwd: folder,
      prefix: AS_ORDINARY_USER,
    })
    expect([code, stdout]).toEqual([4, ""])
    expect(stderr).toStartWith(
      `ipgate: the token file ${closed} may not be read by this user\n  use sudo, or join`,
    )
  })
})

// A mount namespace of its own: as root directly, else as the root of a user namespace.
const unshare = ["unshare", ...(process.getuid?.() === 0 ? ["-m"] : ["-rm"])]
const mountNoexec = [...unshare, "sh", "-c", 'mount -t tmpfs -o noexec tmpfs "$0" && exec "$@"']
const canMount = Bun.spawnSync([...mountNoexec, "/mnt", "true"], { stderr: "ignore" }).exitCode === 0

test.each([
  ["is not there", (place: Workplace) => place.path("no-such")],
  ["is a file", (place: Workplace) => place.tokenFile],
])(
  "a temporary directory that %s stops what needs the database with a sentence that names TMPDIR",
  async (_, where) => {
    await using place = await Workplace.make()
    const env = { TMPDIR: where(place), IPGATE_DB: `file:${place.path("other.db")}` }
    for (const args of [
      ["serve", "--listen", "127.0.0.1:0"],
      ["--offline", "list"],
    ]) {
      const { code, stdout, stderr } = await place.ipgate(args, { env })
      expect([code, stdout]).toEqual([5, ""])
      expect(stderr).toContain("set TMPDIR to a directory that is there")
    }
    expect(existsSync(place.path("other.db"))).toBe(false)
  },
)

describe.skipIf(!canMount)("a temporary directory that is mounted noexec", () => {
  test("stops what needs the database with a sentence that names TMPDIR, and no client command", async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const prefix = [...mountNoexec, place.path("tmp")]
    const other = { IPGATE_DB: `file:${place.path("other.db")}` }

    for (const args of [
      ["serve", "--listen", "127.0.0.1:0"],
      ["--offline", "list"],
    ]) {
      const { code, stdout, stderr } = await place.ipgate(args, { prefix, env: other })
      expect([code, stdout]).toEqual([5, ""])
      expect(stderr).toContain("TMPDIR")
    }
    expect(existsSync(place.path("other.db"))).toBe(false)

    const client = { prefix, env: { IPGATE_SERVER: server.url } }
    for (const args of [["status"], ["allow", "203.0.113.7"], ["list"], ["check", "203.0.113.7"], ["logs"]]) {
      const { code, stderr } = await place.ipgate(args, client)
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" })
    }
    expect(await server.decision("203.0.113.7")).toBe(204)
  })
})

describe("what lies about afterwards", () => {
  test("a client command never unpacks the database driver; the server does", async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const unpacked = readdirSync(place.path("tmp"))
    expect(unpacked).toEqual([expect.stringMatching(/\.node$/)])
    const empty = place.path("empty")
    mkdirSync(empty)
    const env = { IPGATE_SERVER: server.url, TMPDIR: empty }
    const commands = [
      ["status"],
      ["allow", "203.0.113.7", "--ttl", "1h"],
      ["check", "203.0.113.7"],
      ["list"],
      ["logs"],
      ["deny", "203.0.113.7"],
      ["--help"],
      ["serve", "--check"],
    ]
    for (const args of commands) {
      expect({ args, code: (await place.ipgate(args, { env })).code }).toEqual({ args, code: 0 })
      expect({ args, left: readdirSync(empty) }).toEqual({ args, left: [] })
    }
  })

  test(
    fault(
      "B-09 L-08",
      "every file, the arguments and the log of a used server are searched for the token",
      "in its own file alone",
    ),
    async () => {
      await using place = await Workplace.make()
      const server = await place.serve()
      await server.ipgate("allow", "203.0.113.7", "--ttl", "1h", "-r", "on call")
      await server.api("DELETE", "/api/whitelist/temp/%zz")
      await server.api("POST", "/api/whitelist/perm", { ip: TOKEN.slice(0, 3) })
      for (const name of ["cmdline", "environ"]) {
        expect(readFileSync(`/proc/${server.pid}/${name}`, "latin1")).not.toContain(TOKEN)
      }
      const holders = () =>
        readdirSync(place.directory, { recursive: true, encoding: "utf8" })
          .filter((name) => statSync(place.path(name)).isFile())
          .filter((name) => readFileSync(place.path(name), "latin1").includes(TOKEN))
      expect(holders()).toEqual(["api-token"])
      expect(await server.stop()).toBe(0)
      expect(holders()).toEqual(["api-token"])
      expect(server.log()).not.toContain(TOKEN)
    },
  )
})

describe("one owner of the database", () => {
  test("a second server, and --offline beside a server, are refused and change nothing", async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    await server.ipgate("allow", "203.0.113.7")
    for (const args of [
      ["serve", "--listen", "127.0.0.1:0"],
      ["--offline", "list"],
      ["--offline", "allow", "203.0.113.8"],
    ]) {
      const { code, stdout, stderr } = await place.ipgate(args)
      expect({ args, code, stdout }).toEqual({ args, code: 5, stdout: "" })
      expect(stderr).toContain(`another process holds the database ${place.database}`)
    }
    expect(await server.decision("203.0.113.7")).toBe(204)
    expect(await server.decision("203.0.113.8")).toBe(401)
    expect((await server.ipgate("allow", "203.0.113.9")).code).toBe(0)
  })

  test("--offline does what the API does, and a server takes over what it did", async () => {
    await using place = await Workplace.make()
    expect((await place.ipgate(["--offline", "allow", "203.0.113.7", "--ttl", "1h"])).code).toBe(0)
    expect((await place.ipgate(["--offline", "allow", "192.0.2.0/28"])).code).toBe(0)
    expect((await place.ipgate(["--offline", "check", "192.0.2.9"])).code).toBe(0)
    const list = json(await place.ipgate(["--offline", "list", "--json"]))
    const log = json(await place.ipgate(["--offline", "logs", "--json"]))
    expect(log.map((row: { api_client_ip: unknown }) => row.api_client_ip)).toEqual([null, null])
    const server = await place.serve()
    expect(json(await server.ipgate("list", "--json"))).toEqual(list)
    expect(await server.audit()).toEqual(log)
    expect(await server.decision("192.0.2.9")).toBe(204)
    await server.kill()
    expect((await place.ipgate(["--offline", "allow", "203.0.113.8"])).code).toBe(0)
  })

  test.each<readonly [string, (place: Workplace) => Promise<void>]>([
    [
      "a server that has stopped",
      async (place) => {
        const server = await place.serve()
        await server.ipgate("allow", "203.0.113.7")
        expect(await server.stop()).toBe(0)
      },
    ],
    [
      "a change with --offline",
      async (place) => expect((await place.ipgate(["--offline", "allow", "203.0.113.7"])).code).toBe(0),
    ],
  ])("%s leaves one file with everything in it", async (_, change) => {
    await using place = await Workplace.make()
    await change(place)
    const wal = `${place.database}-wal`
    expect(existsSync(wal) ? statSync(wal).size : 0).toBe(0)
    copyFileSync(place.database, place.path("copy.db"))
    const env = { IPGATE_DB: `file:${place.path("copy.db")}` }
    expect((await place.ipgate(["--offline", "check", "203.0.113.7"], { env })).code).toBe(0)
  })
})

describe(NO_START, () => {
  test.each([
    ["is missing", null, 0o600, /does not exist/],
    ["is empty", "", 0o600, /is empty/],
    ["holds 31 characters", "secret-of-31-characters-abcdefg", 0o600, /fewer than 32/],
    ["is readable by everybody", TOKEN, 0o644, /open to other users/],
    ["is writable by everybody", TOKEN, 0o602, /open to other users/],
    ["holds a space", `${TOKEN} ${TOKEN}`, 0o600, /spaces/],
  ])("when the token file %s", async (_, content, fileMode, message) => {
    await using place = await Workplace.make()
    const file = place.path("bad-token")
    if (content !== null) await place.write("bad-token", content === "" ? "" : `${content}\n`, fileMode)
    for (const check of [[], ["--check"]]) {
      const args = ["serve", "--listen", "127.0.0.1:0", "--token-file", file, ...check]
      const { code, stdout, stderr } = await place.ipgate(args)
      expect([code, stdout]).toEqual([78, ""])
      expect(stderr).toMatch(message)
      expect(stderr).toContain(file)
      if (content) expect(stderr).not.toContain(content)
    }
    expect(existsSync(place.database)).toBe(false)
  })

  test.each([
    ["an unknown key", '[server]\nlissen = ["127.0.0.1:0"]\n', ["ipgate.toml:2", "server.listen"]],
    ["a value of the wrong type", "[server]\nlisten = 8765\n", ["ipgate.toml:2", "server.listen"]],
    ["broken TOML", "[server\n", ["ipgate.toml"]],
    ["an open listen address", '[server]\nlisten = ["0.0.0.0:0"]\n', ["0.0.0.0:0", "trusted_proxies"]],
    ["two faults", 'colour = "red"\n[auth]\ntrusted_proxies = ["10.0.0.5/8"]\n', ["colour", "10.0.0.0/8"]],
  ])("with %s in the configuration, and says where", async (_, toml, words) => {
    await using place = await Workplace.make()
    await place.write("ipgate.toml", toml)
    const { code, stdout, stderr } = await place.ipgate(["serve"])
    expect([code, stdout]).toEqual([78, ""])
    for (const word of words) expect(stderr).toContain(word)
    expect(existsSync(place.database)).toBe(false)
  })

  test.each([
    ["--listen", ["--listen", "0.0.0.0:0"], {}],
    ["--listen on IPv6", ["--listen", "[::]:0"], {}],
    ["IPGATE_LISTEN", [], { IPGATE_LISTEN: "0.0.0.0:0" }],
    ["one of several", ["--listen", "127.0.0.1:0", "--listen", "0.0.0.0:0"], {}],
  ])("beyond loopback by %s without trusted proxies, and with them it does", async (_, args, env) => {
    await using place = await Workplace.make()
    const refused = await place.ipgate(["serve", ...args], { env })
    expect([refused.code, refused.stdout]).toEqual([78, ""])
    expect(refused.stderr).toContain("--trusted-proxies")
    const proxies = ["--trusted-proxies", "192.0.2.10"]
    expect((await place.ipgate(["serve", "--check", ...args, ...proxies], { env })).code).toBe(0)
  })

  test("on a port that is taken: exit 1, and the next start works", async () => {
    await using place = await Workplace.make()
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve))
    const address = taken.address()
    if (typeof address !== "object" || address === null) throw new Error("no port")
    const at = `127.0.0.1:${address.port}`
    const { code, stdout, stderr } = await place.ipgate(["serve", "--listen", "127.0.0.1:0", "--listen", at])
    await new Promise((resolve) => taken.close(resolve))
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toContain(`cannot listen on ${at}: another process listens there`)
    const server = await place.serve(["--listen", at])
    expect(await server.decision("203.0.113.7")).toBe(401)
  })

  test("on a port that it may not open: exit 1, and what to do", async () => {
    await using place = await Workplace.make()
    const setpriv = ["setpriv", "--inh-caps=-net_bind_service", "--bounding-set=-net_bind_service"]
    const prefix = ["unshare", "--net", "--map-root-user", ...setpriv]
    const { code, stderr } = await place.ipgate(["serve", "--listen", "127.0.0.1:80"], { prefix })
    expect(code).toBe(1)
    expect(stderr).toContain("cannot listen on 127.0.0.1:80: permission denied\n")
    expect(stderr).toContain("a port below 1024 needs CAP_NET_BIND_SERVICE")
  })
})

describe(SIGNALS, () => {
  /** A change whose body is not complete yet: the server has read the head, and waits. */
  async function halfRequest({ addresses: [address] }: ServerProcess) {
    if (address === undefined) throw new Error("no address")
    const body = JSON.stringify({ ip: "203.0.113.9" })
    const connection = await RawConnection.open(address)
    connection.send(
      requestText("POST /api/whitelist/perm", [
        `Authorization: Bearer ${TOKEN}`,
        "Expect: 100-continue",
        `Content-Length: ${body.length}`,
      ]),
    )
    expect((await connection.answer()).status).toBe(100)
    connection.send(body.slice(0, 5))
    return { address, connection, rest: body.slice(5) }
  }

  async function accepts(address: ListenAddress): Promise<boolean> {
    try {
      using _ = await RawConnection.open(address)
      return true
    } catch {
      return false
    }
  }

  test.each(["SIGTERM", "SIGINT"] as const)("%s: what is under way is answered and kept", async (signal) => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const { address, connection, rest } = await halfRequest(server)
    using _ = connection
    server.signal(signal)
    await server.logged(`stopping on ${signal}`)
    // The line comes a moment before the listener is closed.
    while (await accepts(address)) {}
    connection.send(rest)
    expect((await connection.answer()).status).toBe(204)
    expect(await server.exited).toBe(0)
    expect((await place.ipgate(["--offline", "check", "203.0.113.9"])).code).toBe(0)
  })

  test("SIGTERM during many changes: every one that was acknowledged is there", async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const acknowledged: string[] = []
    const writers = Array.from({ length: 100 }, async (_, i) => {
      for (let j = 0; j < 100; j++) {
        const ip = `10.1.${i}.${j}`
        const answer = await server.api("POST", "/api/whitelist/perm", { ip }).catch(() => null)
        if (answer?.status !== 204) return
        acknowledged.push(ip)
        if (acknowledged.length === 150) server.signal("SIGTERM")
      }
    })
    await Promise.all(writers)
    expect(await server.exited).toBe(0)
    expect(acknowledged.length).toBeGreaterThanOrEqual(150)
    const rows: Array<{ ip: string }> = json(await place.ipgate(["--offline", "list", "--json"]))
    const listed = new Set(rows.map(({ ip }) => ip))
    expect(acknowledged.filter((ip) => !listed.has(ip))).toEqual([])
  })

  test("a second SIGTERM does not wait for what is under way", async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const { connection } = await halfRequest(server)
    using _ = connection
    server.signal("SIGTERM")
    await server.logged("stopping on SIGTERM")
    server.signal("SIGTERM")
    expect(await server.exited).toBe(1)
    expect((await place.ipgate(["--offline", "check", "203.0.113.9"])).code).toBe(1)
  })

  test("a request that never ends does not keep the server from stopping", async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const { connection } = await halfRequest(server)
    using _ = connection
    expect(await server.stop()).toBe(0)
  })

  test("SIGHUP reloads, and the server goes on", async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    await server.ipgate("allow", "203.0.113.7")
    server.signal("SIGHUP")
    await server.logged("reloaded the configuration")
    expect(await server.decision("203.0.113.7")).toBe(204)
    expect(await server.stop()).toBe(0)
  })
})

describe("a unix socket", () => {
  test("serves its owner and group alone, decides, and knows no client address", async () => {
    await using place = await Workplace.make()
    const path = place.path("ipgate.sock")
    const umask = ["sh", "-c", 'umask 000; exec "$@"', "sh"]
    const server = await place.serve(["--listen", `unix:${path}`], { prefix: umask })
    expect(mode(path)).toBe("660")
    expect((await server.ipgate("allow", "203.0.113.7")).code).toBe(0)
    expect(await server.decision("203.0.113.7")).toBe(204)
    expect(await server.decision("203.0.113.8")).toBe(401)
    expect((await server.audit()).map(({ api_client_ip }) => api_client_ip)).toEqual([null])
    expect(await server.stop()).toBe(0)
    expect(existsSync(path)).toBe(false)
  })

  test("left behind by a killed server is replaced by the next one", async () => {
    await using place = await Workplace.make()
    const listen = ["--listen", `unix:${place.path("ipgate.sock")}`]
    const killed = await place.serve(listen)
    await killed.kill()
    expect(existsSync(place.path("ipgate.sock"))).toBe(true)
    const server = await place.serve(listen)
    expect((await server.ipgate("status")).code).toBe(0)
  })

  test("is not put in the place of somebody's file", async () => {
    await using place = await Workplace.make()
    const path = await place.write("precious", "precious\n")
    const { code, stderr } = await place.ipgate(["serve", "--listen", `unix:${path}`])
    expect(code).toBe(1)
    expect(stderr).toContain(path)
    expect(readFileSync(path, "utf8")).toBe("precious\n")
  })
})
