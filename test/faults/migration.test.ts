// A file of the first version under the built program: the step to this one is killed, or finds the disk full.

import { Database } from "bun:sqlite"
import { expect, setDefaultTimeout, test } from "bun:test"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { MIGRATIONS } from "../../src/store/schema.ts"
import { Workplace } from "../support/binary.ts"
import { copyDatabase, digest, temporaryPaths } from "../support/temp-store.ts"
import { fault } from "./fault.ts"
import { rounds } from "./rounds.ts"
import { SmallDisk } from "./small-disk.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(300_000)
const newPath = temporaryPaths()

const FIRST_VERSION = join(import.meta.dir, "../store/version-1.db")
const ENTRIES = ["10.0.0.0/8", "2001:db8::/32", "192.0.2.1", "2001:db8::1"]

type State = { readonly version: number; readonly entries: string[]; readonly records: number }

/** What another program finds in a copy of the file and the log beside it. */
function stateOf(path: string): State {
  const database = new Database(copyDatabase(path, newPath()))
  const values = (sql: string) =>
    database
      .query(sql)
      .values()
      .map(([value]) => value)
  const state = {
    version: Number(values("PRAGMA user_version")[0]),
    entries: [...values("SELECT ip FROM permanent"), ...values("SELECT ip FROM temporary")].map(String),
    records: Number(values("SELECT count(*) FROM audit")[0]),
  }
  // The tables and columns are those of the version, and of no other.
  const columns = values("SELECT name FROM pragma_table_info('audit')")
  const tables = values("SELECT name FROM sqlite_schema WHERE type = 'table'")
  expect([columns.includes("token"), tables.includes("tokens")]).toEqual([
    state.version === 2,
    state.version === 2,
  ])
  expect(values("PRAGMA integrity_check")).toEqual(["ok"])
  database.close()
  return state
}

/** Either version, and all that was in the first one. */
function expectWhole(path: string): State {
  const state = stateOf(path)
  tally("lost", ENTRIES.filter((ip) => !state.entries.includes(ip)).length)
  expect([1, MIGRATIONS.length]).toContain(state.version)
  expect([state.entries, state.records]).toEqual([ENTRIES, 10])
  return state
}

async function expectMigrated(place: Workplace, path: string): Promise<void> {
  const env = { IPGATE_DB: `file:${path}` }
  const server = await place.serve([], { env })
  expect(await server.decision("10.1.2.3")).toBe(204)
  expect(await server.decision("2001:db8::1")).toBe(204)
  expect(await server.decision("192.0.2.2")).toBe(401)
  expect((await server.audit()).length).toBe(10)
  expect(await server.stop()).toBe(0)
  expect(expectWhole(path).version).toBe(MIGRATIONS.length)
}

test(
  fault(
    "D-19",
    "kill -9 at each write and each fsync of the migration of a file of the first version",
    "the old version or the new one, each of them whole, and the next start has everything",
  ),
  async () => {
    await using place = await Workplace.make()
    const versions = new Set<number>()
    for (const call of ["pwrite64", "fsync"]) {
      for (let nth = 1; ; nth += call === "fsync" ? 1 : rounds(2, 1)) {
        const path = place.path(`${call}-${nth}.db`)
        copyFileSync(FIRST_VERSION, path)
        const traced = ["-P", path, "-P", `${path}-wal`, "-e", `trace=${call}`]
        const prefix = ["strace", "-f", "-qq", "-o", "/dev/null", ...traced]
        const { code } = await place.ipgate(["--offline", "list"], {
          env: { IPGATE_DB: `file:${path}` },
          prefix: [...prefix, "-e", `inject=${call}:signal=KILL:when=${nth}`],
        })
        if (code === 0) {
          expect(nth).toBeGreaterThan(call === "fsync" ? 3 : 6)
          break
        }
        expect([call, nth, code]).toEqual([call, nth, 137])
        tally("crashCycles", 1)
        versions.add(expectWhole(path).version)
        await expectMigrated(place, path)
      }
    }
    // It was killed on both sides of the commit.
    expect([...versions].sort()).toEqual([1, MIGRATIONS.length])
  },
)

test(
  fault(
    "D-11 D-19",
    "a migration finds the disk full, with no space or with a little",
    "exit 5 with a clear line and the same entries, the file untouched if not a page was free; later it migrates",
  ),
  async () => {
    using disk = new SmallDisk(400)
    await using place = await Workplace.make()
    const path = join(disk.path, "ipgate.db")
    const env = { IPGATE_DB: `file:${path}` }
    const codes = new Set<number>()
    for (const free of [0, 4, 12, 24, 36, 64]) {
      disk.empty()
      await place.run(["sh", "-c", `rm -f ${path} ${path}-wal`])
      copyFileSync(FIRST_VERSION, path)
      const before = digest(path)
      disk.fill(free)
      const { code, stderr } = await place.ipgate(["--offline", "list"], { env })
      codes.add(code)
      if (code !== 0) {
        expect([free, code, stderr.match(/^ipgate: /gm)?.length]).toEqual([free, 5, 1])
        expect(stderr).toContain(path)
        expect(stderr).toContain("full")
      }
      if (free === 0) expect([code, digest(path)]).toEqual([5, before])
      expectWhole(path)
      if (code !== 0) {
        const serving = await place.ipgate(["serve", "--listen", "127.0.0.1:0"], { env })
        expect([free, serving.code]).toEqual([free, 5])
        expectWhole(path)
      }
      disk.empty()
      await expectMigrated(place, path)
    }
    expect([...codes].sort()).toEqual([0, 5])
  },
)
