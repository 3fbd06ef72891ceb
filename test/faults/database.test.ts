// The database under pressure: what is on the disk before an answer, how long the files get, who may come in between.

import { Database } from "bun:sqlite"
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync, statSync } from "node:fs"
import type { Connection } from "../../src/store/connection.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { sourceFiles } from "../architecture/source-files.ts"
import { addPermanent, deletePermanent, NOW } from "../store/changes.ts"
import { Workplace } from "../support/binary.ts"
import { Prng } from "../support/prng.ts"
import { copyDatabase, temporaryPaths } from "../support/temp-store.ts"
import { fault } from "./fault.ts"
import { GROUP, KEPT_ROWS } from "./rotating-process.ts"
import { rounds } from "./rounds.ts"
import { traced } from "./system-fault.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(300_000)
const newPath = temporaryPaths()

test(
  fault(
    "D-02",
    "the system calls of the server while changes are made",
    "each answer leaves after an fsync of its change",
  ),
  async () => {
    await using place = await Workplace.make()
    const trace = place.path("trace")
    const server = await place.serve()
    const calls = "trace=pwrite64,fsync,fdatasync,sendto,sendmsg,write,writev"
    await traced(server.pid, ["-y", "-s", "24", "-o", trace, "-e", calls], async () => {
      for (let i = 0; i < 20; i++) {
        expect((await server.api("POST", "/api/whitelist/perm", { ip: `192.0.2.${i}` })).status).toBe(204)
      }
    })

    let answers = 0
    let written = 0
    let synced = false
    for (const line of readFileSync(trace, "utf8").split("\n")) {
      if (/ pwrite64\(.*-wal>/.test(line)) {
        written++
        synced = false
      } else if (/ f(data)?sync\(.*-wal>\) += 0$| f(data)?sync resumed>\) += 0$/.test(line)) {
        synced = true
      } else if (line.includes('"HTTP/1.1 204')) {
        expect([answers, written > 0, synced]).toEqual([answers, true, true])
        answers++
        written = 0
      }
    }
    expect(answers).toBe(20)
  },
)

test(
  fault(
    "D-20",
    "kill -9 while the log is being cut",
    "at most so many rows, the newest, without a gap, each acknowledged one",
  ),
  async () => {
    const random = new Prng(rounds(1, 2))
    const path = newPath()
    for (let round = 0; round < rounds(6, 40); round++) {
      const child = Bun.spawn([process.execPath, `${import.meta.dir}/rotating-process.ts`, path], {
        stderr: "inherit",
      })
      let acknowledged = 0
      let left = KEPT_ROWS / GROUP + random.below(30)
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
        const lines = text.trim().split("\n")
        acknowledged = Number(lines.at(-1))
        left -= lines.length
        if (left <= 0) child.kill("SIGKILL")
      }
      await child.exited
      tally("crashCycles", 1)
      const database = new Database(copyDatabase(path, newPath()))
      const row = database.query("SELECT count(*), min(id), max(id) FROM audit").values()[0] as number[]
      const [entries] = database.query("SELECT count(*) FROM temporary").values()[0] as number[]
      database.close()
      const [count = 0, oldest = 0, newest = 0] = row
      tally("lost", newest < acknowledged ? 1 : 0)
      expect(newest).toBeGreaterThanOrEqual(acknowledged)
      expect([count, newest - oldest + 1, newest % GROUP]).toEqual([KEPT_ROWS, KEPT_ROWS, 0])
      expect(entries).toBe(newest)
    }
  },
)

describe(
  fault(
    "D-03 D-22",
    "many changes, and a connection that is replaced again and again",
    "the right settings, and a log of a few megabytes",
  ),
  () => {
    test("the file is opened anew after doubt", async () => {
      const path = newPath()
      const store = new LibsqlStore({ path, auditRows: 1_000 })
      await store.open(NOW)
      let longest = 0
      for (let i = 0; i < rounds(60, 400); i++) {
        if (i % 5 === 4) Reflect.set(store, "inDoubt", true)
        const networks = Array.from({ length: 256 }, (_, n) => `10.0.${i & 255}.${n}`)
        await store.commit(networks.map((ip) => addPermanent(ip)))
        if (i % 2 === 1) await store.commit(networks.map((ip) => deletePermanent(ip)))
        longest = Math.max(longest, statSync(`${path}-wal`).size)
        const connection: Connection = Reflect.get(store, "opened")
        const setting = (name: string) => Object.values(connection.execute(`PRAGMA ${name}`).rows[0] ?? {})[0]
        expect(["locking_mode", "journal_mode", "synchronous"].map(setting)).toEqual(["exclusive", "wal", 2])
      }
      expect(longest).toBeGreaterThan(0)
      expect(longest).toBeLessThan(16 * 1024 * 1024)
      await store.close()
    })
  },
)

test(fault("D-26", "the imports of the whole program", "one SQLite, in one file"), () => {
  const users = sourceFiles("src", "cli").filter(({ text }) =>
    /["'](bun:sqlite|node:sqlite|libsql|@libsql\/[^"']*)["']/.test(text),
  )
  expect(users.map(({ path }) => path)).toEqual(["src/store/connection.ts"])
})

test(
  fault(
    "M-01",
    "the CLI removes entries while the server is under load, and off-line beside it",
    "the very next decision is 401; off-line is refused",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    let stop = false
    const load = (async () => {
      for (let i = 0; !stop; i++)
        await server.api("POST", "/api/whitelist/temp", { ip: `10.0.0.${i & 255}`, ttl_seconds: 60 })
    })()
    for (let round = 0; round < rounds(8, 200); round++) {
      const ip = `192.0.2.${round & 255}`
      expect((await server.api("POST", "/api/whitelist/perm", { ip })).status).toBe(204)
      expect(await server.decision(ip)).toBe(204)
      const offline = await place.ipgate(["--offline", "deny", ip])
      expect([offline.code, offline.stderr.includes("another process holds the database")]).toEqual([5, true])
      expect(await server.decision(ip)).toBe(204)
      expect((await server.ipgate("deny", ip)).code).toBe(0)
      const decision = await server.decision(ip)
      tally("letIn", decision === 204 ? 1 : 0)
      expect(decision).toBe(401)
    }
    stop = true
    await load
  },
)

test(
  fault(
    "M-03",
    "a thousand changes at once",
    "all are taken, in a few transactions, and decisions go on meanwhile",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    let done = false
    let asked = 0
    const asking = (async () => {
      for (; !done; asked++) expect(await server.decision("198.51.100.1")).toBe(401)
    })()
    const ips = Array.from({ length: 1_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
    const statuses = await Promise.all(
      ips.map(async (ip) => (await server.api("POST", "/api/whitelist/perm", { ip })).status),
    )
    done = true
    await asking
    expect(statuses).toEqual(ips.map(() => 204))
    expect(asked).toBeGreaterThan(0)
    expect(await server.read("/status")).toMatchObject({ perm_whitelist_count: 1_000 })
    expect((await server.audit()).length).toBe(1_000)
  },
)
