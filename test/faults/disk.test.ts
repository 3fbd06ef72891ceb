// A disk that fails under the built server: what it answers, what it decides, what it has kept, and how it recovers.

import { expect, setDefaultTimeout, test } from "bun:test"
import {
  copyFileSync,
  existsSync,
  linkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { type ServerProcess, Workplace } from "../support/binary.ts"
import { fault } from "./fault.ts"
import { SmallDisk } from "./small-disk.ts"
import { type SystemFault, withSystemFault } from "./system-fault.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(120_000)

const LISTED = "192.0.2.1"
const ADDED = "192.0.2.2"
const LATER = "192.0.2.3"

type Health = { readonly status: string; readonly db_ok: boolean }

function add(server: ServerProcess, ip: string): Promise<number> {
  return server.api("POST", "/api/whitelist/perm", { ip }).then(async (answer) => {
    await answer.text()
    return answer.status
  })
}

async function listed(server: ServerProcess): Promise<string[]> {
  const rows = await server.read<Array<{ ip: string }>>("/api/whitelist/perm/list?limit=1000")
  return rows.map(({ ip }) => ip)
}

/** Changes are refused, nobody is let in by them, and whoever was in still is. */
async function expectRefusing(server: ServerProcess): Promise<void> {
  for (let i = 0; i < 5; i++) expect(await add(server, ADDED)).toBe(500)
  expect(await server.decision(LISTED)).toBe(204)
  expect(await server.decision(ADDED)).toBe(401)
  const answer = await fetch(`${server.url}/status`)
  expect(answer.status).toBe(200)
  expect((await answer.json()) as Health).toMatchObject({ status: "degraded", db_ok: false })
}

/** By itself: nobody sends a change. */
async function recovered(server: ServerProcess): Promise<void> {
  while (!(await server.read<Health>("/status")).db_ok) await Bun.sleep(50)
}

/** Works again, has lost nothing, has kept nothing of what it refused, also after a crash. */
async function expectWhole(
  place: Workplace,
  server: ServerProcess,
  options: { env?: Record<string, string> } = {},
) {
  expect(await add(server, LATER)).toBe(204)
  await server.kill()
  const next = await place.serve([], options)
  const found = await listed(next)
  tally("lost", [LISTED, LATER].filter((ip) => !found.includes(ip)).length)
  expect(found).toEqual([LISTED, LATER])
  expect((await next.audit()).map(({ action, ip }) => [action, ip])).toEqual([
    ["add_perm", LATER],
    ["add_perm", LISTED],
  ])
  expect(await next.decision(ADDED)).toBe(401)
  expect(await next.stop()).toBe(0)
}

const SYSTEM_FAULTS: ReadonlyArray<readonly [name: string, fault: SystemFault]> = [
  ["an fsync fails", { calls: "fsync,fdatasync", error: "EIO" }],
  ["a write fails", { calls: "pwrite64", error: "EIO" }],
  ["the log cannot be cut", { calls: "pwrite64,ftruncate", error: "EIO" }],
  ["a write finds the disk full", { calls: "pwrite64", error: "ENOSPC" }],
  ["a write finds the file system read-only", { calls: "pwrite64,ftruncate,fsync", error: "EROFS" }],
]

test.concurrent.each(SYSTEM_FAULTS)(
  `${fault(
    "D-12 D-13",
    "writes and fsyncs of the running server fail, and then succeed again",
    "500, degraded, right decisions; recovery by itself; all that was acknowledged and nothing else, also after a crash",
  )} (%s)`,
  async (_, failing) => {
    await using place = await Workplace.make()
    const server = await place.serve()
    expect(await add(server, LISTED)).toBe(204)
    await withSystemFault(server.pid, place.database, failing, () => expectRefusing(server))
    await recovered(server)
    await expectWhole(place, server)
  },
)

test(
  fault(
    "D-12 D-01",
    "one fsync fails, and the server is killed as soon as it has said so",
    "the change that was refused is gone from the disk too, and does not come back",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    expect(await add(server, LISTED)).toBe(204)
    const once = { calls: "fsync,fdatasync", error: "EIO", once: true }
    await withSystemFault(server.pid, place.database, once, async () => {
      expect(await add(server, ADDED)).toBe(500)
    })
    await server.kill()
    const next = await place.serve()
    expect(await listed(next)).toEqual([LISTED])
    expect((await next.audit()).length).toBe(1)
    expect(await next.decision(ADDED)).toBe(401)
  },
)

test(
  fault(
    "D-12 D-01",
    "an fsync fails and the server is killed before the disk works again",
    "the refused change is wholly there or not at all, and what was acknowledged is there",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    expect(await add(server, LISTED)).toBe(204)
    await withSystemFault(
      server.pid,
      place.database,
      { calls: "fsync,fdatasync", error: "EIO" },
      async () => {
        expect(await add(server, ADDED)).toBe(500)
        await server.kill()
      },
    )
    const next = await place.serve()
    const records = (await next.audit()).map(({ ip }) => ip).toReversed()
    expect(await listed(next)).toEqual(records as string[])
    expect(records[0]).toBe(LISTED)
    expect(await next.decision(ADDED)).toBe(records.includes(ADDED) ? 204 : 401)
    expect(await add(next, LATER)).toBe(204)
  },
)

test(
  fault(
    "D-12 P-05",
    "reading the database fails at the start",
    "exit 5 with one line, and the next start has everything",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    for (const ip of [LISTED, LATER]) expect(await add(server, ip)).toBe(204)
    await server.stop()
    // The first read asks whether it is a database at all; each of these is later, up to the last of the load.
    for (const first of [2, 3, 4, 6]) {
      const prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", place.database, "-e", "trace=pread64"]
      const { code, stderr } = await place.ipgate(["serve", "--listen", "127.0.0.1:0"], {
        prefix: [...prefix, "-e", `inject=pread64:error=EIO:when=${first}+`],
      })
      expect([first, code, stderr.match(/^ipgate: /gm)?.length]).toEqual([first, 5, 1])
      expect(stderr).toContain(place.database)
    }
    const next = await place.serve()
    expect(await listed(next)).toEqual([LISTED, LATER])
  },
)

test(
  fault(
    "D-10 D-11",
    "the disk of the state directory is full, and then has space again",
    "as for every failing write",
  ),
  async () => {
    using disk = new SmallDisk(1_000)
    await using place = await Workplace.make()
    const env = { IPGATE_DB: `file:${join(disk.path, "ipgate.db")}` }
    const server = await place.serve([], { env })
    expect(await add(server, LISTED)).toBe(204)
    disk.fill()
    // What the log has room for is still taken: until it is full too.
    const acknowledged: string[] = []
    for (let i = 0; i < 2_000; i++) {
      const ip = `10.0.${i >> 8}.${i & 255}`
      if ((await add(server, ip)) !== 204) break
      acknowledged.push(ip)
    }
    expect(acknowledged.length).toBeLessThan(2_000)
    for (const ip of acknowledged) await server.api("DELETE", `/api/whitelist/perm/${ip}`)
    expect(await add(server, ADDED)).toBe(500)
    expect(await server.decision(LISTED)).toBe(204)
    expect(await server.decision(ADDED)).toBe(401)
    expect(await server.read<Health>("/status")).toMatchObject({ status: "degraded", db_ok: false })
    // Nor does a start on a full disk harm anything, whether or not it has room enough to begin.
    await server.kill()
    const full = await place.ipgate(["--offline", "status"], { env })
    expect([0, 1, 5]).toContain(full.code)
    disk.empty()
    const next = await place.serve([], { env })
    const found = await listed(next)
    tally("lost", found.includes(LISTED) ? 0 : 1)
    expect(found).toContain(LISTED)
    expect(found.filter((ip) => ip !== LISTED && !acknowledged.includes(ip))).toEqual([])
    expect(await next.decision(ADDED)).toBe(401)
    disk.fill()
    while ((await add(next, `10.9.9.${Math.floor(Math.random() * 256)}`)) !== 500) {
      // Until the log is full.
    }
    disk.empty()
    await recovered(next)
    expect(await add(next, LATER)).toBe(204)
    expect(await next.stop()).toBe(0)
  },
)

test(
  fault(
    "D-13",
    "the file system is read-only at the start",
    "exit 5 with one clear line, and the file keeps every byte",
  ),
  async () => {
    using disk = new SmallDisk(1_000)
    await using place = await Workplace.make()
    const env = { IPGATE_DB: `file:${join(disk.path, "ipgate.db")}` }
    const server = await place.serve([], { env })
    expect(await add(server, LISTED)).toBe(204)
    await server.stop()
    disk.makeReadOnly()
    const { code, stderr } = await place.ipgate(["serve", "--listen", "127.0.0.1:0"], { env })
    expect(code).toBe(5)
    expect(stderr).toContain("read-only")
    disk.makeWritable()
    const next = await place.serve([], { env })
    expect(await listed(next)).toEqual([LISTED])
    await next.stop()
  },
)

type Touch = { readonly away: (path: string) => void; readonly back: (path: string) => void }

const TOUCHES: Readonly<Record<string, Touch>> = {
  "renamed and put back": {
    away: (path) => renameSync(path, `${path}.aside`),
    back: (path) => renameSync(`${path}.aside`, path),
  },
  "replaced and put back": {
    away: (path) => {
      renameSync(path, `${path}.aside`)
      writeFileSync(path, "another file")
    },
    back: (path) => renameSync(`${path}.aside`, path),
  },
  "replaced by a copy of the same size and time, and put back": {
    away: (path) => {
      renameSync(path, `${path}.aside`)
      expect(Bun.spawnSync(["cp", "--preserve=all", `${path}.aside`, path]).exitCode).toBe(0)
    },
    back: (path) => renameSync(`${path}.aside`, path),
  },
  "its log replaced and put back": {
    away: (path) => {
      renameSync(`${path}-wal`, `${path}.aside`)
      writeFileSync(`${path}-wal`, "another log")
    },
    back: (path) => renameSync(`${path}.aside`, `${path}-wal`),
  },
}

test.concurrent.each(Object.entries(TOUCHES))(
  `${fault(
    "D-14",
    "the file is taken away under the server and put back",
    "changes are refused in between; then it goes on without a restart",
  )} (%s)`,
  async (_, { away, back }) => {
    await using place = await Workplace.make()
    const server = await place.serve()
    expect(await add(server, LISTED)).toBe(204)
    away(place.database)
    await expectRefusing(server)
    back(place.database)
    await recovered(server)
    await expectWhole(place, server)
  },
)

test(
  fault(
    "D-14",
    "the file is deleted under the server",
    "no change is acknowledged again, and the lists can be exported",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    expect(await add(server, LISTED)).toBe(204)
    rmSync(place.database)
    await expectRefusing(server)
    const { code, stdout } = await server.ipgate("export", "--format", "values")
    expect([code, stdout]).toEqual([0, `${LISTED}\n`])
    expect(await server.stop()).toBe(0)
    expect(existsSync(place.database)).toBe(false)
  },
)

test(
  fault(
    "D-14",
    "a backup takes the place of the file while the server runs, and the server is started again",
    "the lists of the backup and nothing else; the file that was moved away is whole by itself",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    expect(await add(server, LISTED)).toBe(204)
    expect((await server.ipgate("backup", place.path("copy"))).code).toBe(0)
    expect(await add(server, LATER)).toBe(204)
    renameSync(place.database, place.path("former.db"))
    renameSync(place.path("copy"), place.database)
    expect(await add(server, ADDED)).toBe(500)
    expect(await server.stop()).toBe(0)
    const restored = await place.serve()
    expect(await listed(restored)).toEqual([LISTED])
    expect(await restored.decision(LATER)).toBe(401)
    await restored.stop()
    const former = await place.serve([], { env: { IPGATE_DB: `file:${place.path("former.db")}` } })
    expect(await listed(former)).toEqual([LISTED, LATER])
    await former.stop()
  },
)

test(
  fault(
    "D-14",
    "the file is deleted, and the server is started again",
    "a new database, which nothing of the old one is read into",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    expect(await add(server, LISTED)).toBe(204)
    rmSync(place.database)
    expect(await server.stop()).toBe(0)
    const next = await place.serve()
    expect(await listed(next)).toEqual([])
    expect(await add(next, ADDED)).toBe(204)
    await next.stop()
  },
)

test(
  fault(
    "D-14",
    "the file is deleted, and the server killed",
    "no new database that what is left of the old one is read into",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    expect(await add(server, LISTED)).toBe(204)
    rmSync(place.database)
    await server.kill()
    const { code, stderr } = await place.ipgate(["serve", "--listen", "127.0.0.1:0"])
    expect([code, stderr]).toEqual([5, expect.stringContaining("is gone, but the changes in its log")])
    expect(existsSync(place.database)).toBe(false)
    rmSync(`${place.database}-wal`)
    const next = await place.serve()
    expect(await listed(next)).toEqual([])
    await next.stop()
  },
)

test(
  fault(
    "D-14",
    "a copy is written over the file of the running server",
    "changes are refused, and nothing of the server is mixed into the copy, not even at its stop",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    expect(await add(server, LISTED)).toBe(204)
    expect((await server.ipgate("backup", place.path("copy"))).code).toBe(0)
    expect(await add(server, LATER)).toBe(204)
    copyFileSync(place.path("copy"), place.database)
    await server.logged("listening on ")
    for (let i = 0; i < 3; i++) expect(await add(server, ADDED)).toBe(500)
    expect(await server.decision(LATER)).toBe(204)
    expect(await server.stop()).toBe(0)
    expect(Bun.file(place.database).bytes()).resolves.toEqual(await Bun.file(place.path("copy")).bytes())
  },
)

test("the log of a file that the server has by a link is replaced and put back: changes are refused in between", async () => {
  await using place = await Workplace.make()
  const link = place.path("link.db")
  symlinkSync(place.database, link)
  await (await place.serve()).stop()
  const server = await place.serve([], { env: { IPGATE_DB: `file:${link}` } })
  expect(await add(server, LISTED)).toBe(204)
  const { away, back } = TOUCHES["its log replaced and put back"] as Touch
  away(place.database)
  await expectRefusing(server)
  back(place.database)
  await recovered(server)
  await expectWhole(place, server)
})

test.each(["deleted", "deleted, and an empty one made"])(
  `${fault(
    "D-14",
    "the log beside the file is deleted under the server",
    "the next change brings all of it back",
  )} (%s)`,
  async (how) => {
    await using place = await Workplace.make()
    const server = await place.serve()
    expect(await add(server, LISTED)).toBe(204)
    rmSync(`${place.database}-wal`)
    if (how !== "deleted") writeFileSync(`${place.database}-wal`, "")
    await expectWhole(place, server)
  },
)

test(
  fault(
    "D-24",
    "the database is reached by a symbolic link, and the server killed",
    "nothing is lost by either name",
  ),
  async () => {
    await using place = await Workplace.make()
    const link = place.path("link.db")
    const first = await place.serve()
    await first.stop()
    symlinkSync(place.database, link)
    const env = { IPGATE_DB: `file:${link}` }
    const server = await place.serve([], { env })
    await server.logged("the database is a link")
    expect(await add(server, LISTED)).toBe(204)
    rmSync(`${place.database}-wal`)
    await expectWhole(place, server, { env })
    const next = await place.serve()
    expect(await listed(next)).toEqual([LISTED, LATER])
  },
)

test(
  fault(
    "D-24",
    "the database file has a second name",
    "a warning at the start, and one owner whatever the name",
  ),
  async () => {
    await using place = await Workplace.make()
    await (await place.serve()).stop()
    linkSync(place.database, place.path("second.db"))
    const server = await place.serve()
    await server.logged("second name")
    const { code, stderr } = await place.ipgate(["--offline", "--db", place.path("second.db"), "list"])
    expect([code, stderr.includes("another process holds")]).toEqual([5, true])
    expect(await add(server, LISTED)).toBe(204)
  },
)

test(
  fault("D-25", "a server that starts with umask 000", "files of the state for their owner alone"),
  async () => {
    await using place = await Workplace.make()
    const state = place.path("state")
    const env = { IPGATE_DB: `file:${join(state, "ipgate.db")}` }
    const prefix = ["sh", "-c", 'umask 000; exec "$@"', "sh"]
    const server = await place.serve([], { env, prefix })
    const { code } = await place.ipgate(["backup", join(state, "copy.db")], {
      env: { IPGATE_SERVER: server.url.replace("http://", "") },
      prefix,
    })
    expect(code).toBe(0)
    const mode = (name: string) => (statSync(join(state, name)).mode & 0o777).toString(8)
    expect(mode("")).toBe("700")
    for (const name of ["ipgate.db", "ipgate.db-wal", "copy.db"])
      expect([name, mode(name)]).toEqual([name, "600"])
  },
)

test.concurrent(
  fault(
    "D-12",
    "reads of the running server's database fail, and then succeed again",
    "a list is 500 and never a part of it, decisions go on, and changes are refused or durable",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    // More pages than the database keeps in memory, so that a list has to be read from the disk.
    const lines = Array.from({ length: 120_000 }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
    const file = await place.write("many.txt", `${LISTED}\n${lines.join("\n")}\n`)
    expect((await server.ipgate("import", file)).code).toBe(0)
    const before = await listed(server)
    const failing = { calls: "pread64", error: "EIO" }
    await withSystemFault(server.pid, place.database, failing, async () => {
      for (const query of ["perm/list?limit=1000&offset=60000", "perm/list?limit=1000&offset=110000"]) {
        const answer = await server.api("GET", `/api/whitelist/${query}`)
        await answer.text()
        expect([query, answer.status]).toEqual([query, 500])
      }
      expect(await server.decision(LISTED)).toBe(204)
      expect(await server.decision("10.1.2.3")).toBe(204)
      expect(await server.decision(ADDED)).toBe(401)
      const status = await add(server, ADDED)
      expect([204, 500]).toContain(status)
      expect(await server.decision(ADDED)).toBe(status === 204 ? 204 : 401)
      if (status === 204) await server.api("DELETE", `/api/whitelist/perm/${ADDED}`)
    })
    await recovered(server)
    expect(await listed(server)).toEqual(before)
    expect(await add(server, LATER)).toBe(204)
    const isThere = (await server.decision(ADDED)) === 204
    await server.kill()
    const next = await place.serve()
    expect(await listed(next)).toEqual(before)
    expect(await next.read("/status")).toMatchObject({
      perm_whitelist_count: lines.length + 2 + (isThere ? 1 : 0),
    })
    expect(await next.decision(LATER)).toBe(204)
  },
)
