// ipgate backup under load and what the README says about putting a copy back, done as it is written there.

import { Database } from "bun:sqlite"
import { expect, setDefaultTimeout, test } from "bun:test"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs"
import { connect, type Socket } from "node:net"
import { fault } from "../faults/fault.ts"
import { rounds } from "../faults/rounds.ts"
import { AS_ORDINARY_USER, type ServerProcess, TOKEN, Workplace } from "../support/binary.ts"

setDefaultTimeout(120_000)

/** Whom `AS_ORDINARY_USER` becomes. */
const NOBODY = 65_534

/** Looked at by another SQLite than the one that wrote it, in a file that no server has open. */
function contentsOf(path: string) {
  const database = new Database(path, { readonly: true })
  try {
    const column = (sql: string) =>
      database
        .query(sql)
        .values()
        .map(([value]) => value)
    return {
      check: column("PRAGMA integrity_check")[0],
      permanent: column("SELECT ip FROM permanent ORDER BY key") as string[],
      log: column("SELECT action || ' ' || ip FROM audit ORDER BY id") as string[],
    }
  } finally {
    database.close()
  }
}

async function add(server: ServerProcess, ip: string): Promise<void> {
  const answer = await server.api("POST", "/api/whitelist/perm", { ip })
  expect([ip, answer.status]).toEqual([ip, 204])
}

test(
  fault(
    "D-18",
    "backups and exports while changes are made",
    "each is one state that there was, of lists and log alike",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    let stop = false
    let acknowledged = 0
    const writing = (async () => {
      for (; !stop; acknowledged++) await add(server, `10.0.${acknowledged >> 8}.${acknowledged & 255}`)
    })()
    const states: number[] = []
    for (let i = 0; i < rounds(10, 50); i++) {
      const before = acknowledged
      const path = place.path(`copy-${i}.db`)
      const made = await server.ipgate("backup", path)
      expect([made.code, made.stderr]).toEqual([0, ""])
      expect(made.stdout).toBe(`wrote ${path} (${statSync(path).size} bytes)\n`)
      const { check, permanent, log } = contentsOf(path)
      expect(check).toBe("ok")
      expect(log).toEqual(permanent.map((_, n) => `add_perm 10.0.${n >> 8}.${n & 255}`))
      const exported = (await server.ipgate("export", "--format", "values")).stdout.trim().split("\n")
      expect(exported.length).toBeGreaterThanOrEqual(permanent.length)
      expect(exported).toEqual(exported.map((_, n) => `10.0.${n >> 8}.${n & 255}`))
      expect(permanent.length).toBeGreaterThanOrEqual(before)
      states.push(permanent.length)
      rmSync(path)
    }
    stop = true
    await writing
    expect(states).toEqual(states.toSorted((a, b) => a - b))
    // Nothing is left beside the database, nor beside the copies.
    expect(readdirSync(place.directory).filter((name) => /backup|part|copy/.test(name))).toEqual([])
    await server.stop()
  },
)

test("a copy is made off-line too, and not over a file that is there", async () => {
  await using place = await Workplace.make()
  const server = await place.serve()
  await add(server, "192.0.2.1")
  await server.stop()
  const copy = place.path("copy.db")
  const made = await place.ipgate(["--offline", "--json", "backup", copy])
  expect([made.code, JSON.parse(made.stdout)]).toEqual([0, { file: copy, bytes: statSync(copy).size }])
  expect((statSync(copy).mode & 0o777).toString(8)).toBe("600")
  expect(contentsOf(copy).permanent).toEqual(["192.0.2.1"])

  const again = await place.ipgate(["--offline", "backup", copy])
  expect([again.code, again.stderr]).toEqual([
    2,
    `ipgate: ${copy} exists\n  give another name, or --force to replace it\n`,
  ])
  expect((await place.ipgate(["--offline", "backup", copy, "--force"])).code).toBe(0)
  const nowhere = await place.ipgate(["--offline", "backup", place.path("nowhere/copy.db")])
  expect([nowhere.code, nowhere.stderr]).toEqual([
    2,
    `ipgate: ${place.path("nowhere/copy.db")} cannot be written: the directory ${place.path("nowhere")} does not exist\n`,
  ])
  const long = place.path("x".repeat(300))
  const refused = await place.ipgate(["--offline", "backup", long])
  expect(refused).toMatchObject({ code: 2, stdout: "" })
  expect(refused.stderr).toStartWith(`ipgate: ${long} cannot be written: ENAMETOOLONG`)
  const output = await place.ipgate(["--offline", "backup", "-"])
  expect([output.code, output.stderr]).toEqual([
    2,
    "ipgate: a backup goes into a file, not to standard output\n  give the name of a file\n",
  ])
})

test("a copy that was looked into says what keeps the next one from taking its place", async () => {
  await using place = await Workplace.make()
  const server = await place.serve()
  const copy = place.path("copy.db")
  expect((await server.ipgate("backup", copy)).code).toBe(0)
  expect((await place.ipgate(["--offline", "--db", copy, "list"])).code).toBe(0)
  const again = await server.ipgate("backup", copy, "--force")
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining(`remove ${copy}-wal first`)])
  rmSync(`${copy}-wal`)
  expect((await server.ipgate("backup", copy, "--force")).code).toBe(0)
})

test("a copy takes the place of no database in use, of no device and of no folder", async () => {
  await using place = await Workplace.make()
  const server = await place.serve()
  await add(server, "192.0.2.1")
  const { ino } = statSync(place.database)
  const own = await server.ipgate("backup", place.database, "--force")
  expect([own.code, own.stderr]).toEqual([2, expect.stringContaining("is in use as a database")])
  expect(statSync(place.database).ino).toBe(ino)
  await add(server, "192.0.2.2")

  const device = place.path("device")
  expect(Bun.spawnSync(["mkfifo", device]).exitCode).toBe(0)
  mkdirSync(place.path("folder"))
  for (const path of [device, place.path("folder")]) {
    const { code, stderr } = await server.ipgate("backup", path, "--force")
    expect([code, stderr]).toEqual([2, `ipgate: ${path} is no file\n  give another name\n`])
  }
  expect(statSync(device).isFIFO()).toBe(true)
})

test("a server that is killed in the middle leaves no copy, neither here nor there", async () => {
  await using place = await Workplace.make()
  const server = await place.serve()
  const lines = Array.from({ length: 200_000 }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  await place.write("many.txt", lines.join("\n"))
  expect((await server.ipgate("import", place.path("many.txt"))).code).toBe(0)
  const made = server.ipgate("backup", place.path("copy.db"))
  while (!readdirSync(place.directory).some((name) => name.startsWith("ipgate.db.backup-")))
    await Bun.sleep(1)
  await server.kill()
  expect((await made).code).not.toBe(0)
  const next = await place.serve()
  expect(readdirSync(place.directory).filter((name) => /backup|part|copy/.test(name))).toEqual([])
  expect(await next.decision("10.3.0.1")).toBe(204)
})

test("an administrator's own files beside the database stay at a start, also those that cannot be looked at", async () => {
  await using place = await Workplace.make()
  const give = (path: string) => {
    if (AS_ORDINARY_USER.length > 0) chownSync(path, NOBODY, NOBODY)
  }
  // Root could look at everything; a copy of the program, because the checkout may lie where that user cannot look.
  const ordinary = { prefix: AS_ORDINARY_USER, binary: place.copyBinary().binary }
  give(place.directory)
  give(place.tokenFile)
  const first = await place.serve([], ordinary)
  await first.stop()
  const files = [
    "ipgate.db.backup-2026-11-20",
    "ipgate.db.backup-monday",
    "ipgate.db.backup-sunday/ipgate.db",
    "ipgate.db.new-notes.txt",
    "ipgate.db.new-closed/database",
    "ipgate.db.backup-closed/database",
  ]
  for (const name of files) await Bun.write(place.path(name), "a copy")
  for (const name of ["new", "backup"]) chmodSync(place.path(`ipgate.db.${name}-closed`), 0)
  const left = mkdtempSync(place.path("ipgate.db.backup-"))
  await Bun.write(`${left}/database`, "what a killed server leaves")
  give(left)
  const next = await place.serve([], ordinary)
  await next.stop()
  for (const name of ["new", "backup"]) chmodSync(place.path(`ipgate.db.${name}-closed`), 0o755)
  for (const name of files) expect([name, existsSync(place.path(name))]).toEqual([name, true])
  expect(existsSync(left)).toBe(false)
})

test(
  fault(
    "D-17 D-27",
    "an old copy is put back as the README says",
    "its lists, none of whose ended entries lets anybody in, each end recorded once at its own time",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    await add(server, "192.0.2.1")
    await server.api("POST", "/api/whitelist/temp", { ip: "203.0.113.7", ttl_seconds: 1, reason: "short" })
    await server.api("POST", "/api/whitelist/temp", { ip: "203.0.113.8", ttl_seconds: 3_600 })
    const [short] = await server.read<Array<{ expires: string }>>("/api/whitelist/temp")
    const copy = place.path("monday.db")
    expect((await server.ipgate("backup", copy)).code).toBe(0)
    await add(server, "192.0.2.2")
    await server.api("DELETE", "/api/whitelist/perm/192.0.2.1")
    await server.logged("listening on ")
    while (Date.now() <= Date.parse(short?.expires ?? "")) await Bun.sleep(50)

    // As a machine that has crashed leaves it: the log of the lost state would be read into the copy.
    await server.kill()
    await restore(place, copy)

    for (const end of ["kill", "stop"] as const) {
      const next = await place.serve()
      expect(
        (await next.read<Array<{ ip: string }>>("/api/whitelist/perm/list")).map(({ ip }) => ip),
      ).toEqual(["192.0.2.1"])
      const decisions = ["192.0.2.1", "192.0.2.2", "203.0.113.7", "203.0.113.8"].map((ip) =>
        next.decision(ip),
      )
      expect(await Promise.all(decisions)).toEqual([204, 401, 401, 204])
      expect((await next.audit()).map(({ action, ip, timestamp }) => [action, ip, timestamp])).toEqual([
        ["expire_temp", "203.0.113.7", short?.expires],
        ["add_temp", "203.0.113.8", expect.any(String)],
        ["add_temp", "203.0.113.7", expect.any(String)],
        ["add_perm", "192.0.2.1", expect.any(String)],
      ])
      expect(await next.read("/status")).toMatchObject({
        perm_whitelist_count: 1,
        temp_whitelist_count: 1,
        db_ok: true,
      })
      await next[end]()
    }
  },
)

/** The commands of the README, with the paths of this place. */
async function restore(place: Workplace, copy: string): Promise<void> {
  const readme = readFileSync(`${import.meta.dir}/../../README.md`, "utf8")
  const commands = /<!-- restore -->\n+```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? ""
  const own = commands
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("systemctl"))
    .map((line) => line.replaceAll("/var/lib/ipgate/ipgate.db", place.database).replace("monday.db", copy))
  expect(own.length).toBeGreaterThan(1)
  for (const line of own)
    expect([line, await place.run(["sh", "-c", line.replace("-o ipgate -g ipgate ", "")])]).toMatchObject([
      line,
      { code: 0 },
    ])
}

test("a copy is a database like any other: a server starts on it where it lies", async () => {
  await using place = await Workplace.make()
  const server = await place.serve()
  await add(server, "192.0.2.1")
  const copy = place.path("copy.db")
  expect((await server.ipgate("backup", copy)).code).toBe(0)
  copyFileSync(copy, place.path("other.db"))
  chmodSync(place.path("other.db"), 0o600)
  const other = await place.serve([], { env: { IPGATE_DB: `file:${place.path("other.db")}` } })
  expect(await other.decision("192.0.2.1")).toBe(204)
})

test("downloads that nobody takes: changes go on, a ninth is refused with Retry-After, and places become free", async () => {
  await using place = await Workplace.make()
  const server = await place.serve()
  // More than the system keeps for a connection whose client does not read.
  const lines = Array.from(
    { length: 200_000 },
    (_, i) => `2001:db8:ffff:ffff:ffff:ffff:${(i >> 16).toString(16)}ff:${(i & 65535).toString(16)}`,
  )
  expect(
    (await server.ipgate("import", await place.write("entries.txt", lines.join("\n"), 0o600))).code,
  ).toBe(0)
  const { hostname, port } = new URL(server.url)
  const export_ = () =>
    fetch(`${server.url}/api/whitelist/export`, { headers: { Authorization: `Bearer ${TOKEN}` } })
  const idle: Socket[] = []
  try {
    for (let i = 0; i < 8; i++) {
      const socket = connect(Number(port), hostname)
      socket.write(
        `GET /api/whitelist/export HTTP/1.1\r\nHost: gate.test\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
      )
      idle.push(socket)
      await new Promise((resolve) => socket.once("readable", resolve))
    }
    const refused = await export_()
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "5"])
    expect(await refused.text()).toBe("8 exports and backups are under way already; try again later\n")
    const backup = await server.ipgate("backup", place.path("copy.db"))
    expect([backup.code, backup.stderr]).toEqual([1, expect.stringContaining("are under way already")])
    await add(server, "192.0.2.1")
  } finally {
    for (const socket of idle) socket.destroy()
  }
  const deadline = performance.now() + 30_000
  let answer = await export_()
  while (answer.status !== 200 && performance.now() < deadline) {
    await answer.text()
    await Bun.sleep(100)
    answer = await export_()
  }
  expect((await answer.text()).split("\n")[0]).toBe("192.0.2.1")
  expect(await server.stop()).toBe(0)
})
