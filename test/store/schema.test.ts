// What the database itself guarantees, whoever writes to it: types, checks, versions; and what becomes of bad rows.

import { afterEach, describe, expect, test } from "bun:test"
import { mkdirSync, statSync, watch } from "node:fs"
import { dirname, join } from "node:path"
import { loadAllowlist } from "../../src/app/load-allowlist.ts"
import { LATEST_TIME } from "../../src/core/clock.ts"
import { LONGEST_TTL_SECONDS } from "../../src/core/entry.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { APPLICATION_ID, MIGRATIONS } from "../../src/store/schema.ts"
import { BROUGHT_BY_VERSION } from "../../src/store/soundness.ts"
import { fault } from "../faults/fault.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { address } from "../support/parsed.ts"
import { copyDatabase, editedCopy, query, temporaryPaths, withClient } from "../support/temp-store.ts"
import {
  addPermanent,
  addTemporary,
  deletePermanent,
  deleteTemporary,
  expireTemporary,
  logOf,
  NOW,
  permanentOf,
  temporaryOf,
} from "./changes.ts"

const KILLED = fault(
  "D-19 D-16",
  "a process is killed in its migration, or at any moment of its first start",
  "the old version whole, and the next start works",
)

const newPath = temporaryPaths()

const opened: LibsqlStore[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

async function open(path: string): Promise<LibsqlStore> {
  const store = new LibsqlStore({ path, auditRows: 1000 })
  opened.push(store)
  await store.open(NOW)
  return store
}

/** A closed database that has seen every kind of change. */
async function usedDatabase(): Promise<string> {
  const path = newPath()
  const store = await open(path)
  await store.commit([
    addPermanent("10.0.0.0/8"),
    addPermanent("2001:db8::/32"),
    addPermanent("192.0.2.1"),
    deletePermanent("192.0.2.1"),
    addTemporary("192.0.2.1"),
    addTemporary("192.0.2.1", { ttlSeconds: 1, reason: "again" }),
    addTemporary("2001:db8::1", { ttlSeconds: LONGEST_TTL_SECONDS, reason: "long" }),
    addTemporary("192.0.2.2"),
    deleteTemporary("192.0.2.2"),
    addTemporary("192.0.2.3"),
    expireTemporary("192.0.2.3", NOW + 60_000),
  ])
  await store.close()
  return path
}

describe("the schema", () => {
  test("of each version is known to what asks whether a file is sound", () => {
    expect(BROUGHT_BY_VERSION.length).toBe(MIGRATIONS.length)
  })

  test(fault("J-04", "the tables of the database", "all are strict"), async () => {
    const tables = await query(
      await usedDatabase(),
      newPath,
      `SELECT name, strict FROM pragma_table_list
       WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
    )
    expect(tables.map(({ name, strict }) => [name, strict])).toEqual([
      ["audit", 1],
      ["permanent", 1],
      ["temporary", 1],
      ["tokens", 1],
    ])
  })

  test(
    fault("J-04", "numbers written by the driver, which binds them as floating point", "stored as integers"),
    async () => {
      const path = await usedDatabase()
      const kinds = async (table: string, columns: readonly string[]) => {
        const kind = columns.map((column) => `typeof(${column})`).join(" || ' ' || ")
        const rows = await query(path, newPath, `SELECT DISTINCT ${kind} AS kind FROM ${table} ORDER BY kind`)
        return rows.map((row) => row.kind)
      }
      expect(await kinds("permanent", ["key", "ip"])).toEqual(["blob text"])
      expect(await kinds("temporary", ["key", "ip", "expires_at", "reason"])).toEqual([
        "blob text integer text",
      ])
      expect(await kinds("audit", ["id", "at", "action", "ip", "ttl_seconds", "reason", "actor"])).toEqual([
        "integer integer text text integer null text",
        "integer integer text text integer text text",
        "integer integer text text null null null",
        "integer integer text text null null text",
      ])
    },
  )

  test("names the application and the version in the file", async () => {
    const path = await usedDatabase()
    const [application] = await query(path, newPath, "PRAGMA application_id")
    const [version] = await query(path, newPath, "PRAGMA user_version")
    expect([application?.[0], version?.[0]]).toEqual([APPLICATION_ID, MIGRATIONS.length])
    expect(Buffer.from(APPLICATION_ID.toString(16), "hex").toString()).toBe("ipgt")
  })

  test(
    fault(
      "J-03",
      "rows out of range, among them integers that the driver cannot read, by plain SQL",
      "refused by the schema",
    ),
    async () => {
      const key4 = "x'040a00000120'"
      const key6 = "x'0620010db800000000000000000000000180'"
      const permanent = (key: string) => `INSERT INTO permanent (key, ip) VALUES (${key}, 'an address')`
      const temporary = (key: string, expiresAt: string) =>
        `INSERT INTO temporary (key, ip, expires_at) VALUES (${key}, 'an address', ${expiresAt})`
      const audit = (columns: string, values: string) =>
        `INSERT INTO audit (at, action, ${columns}) VALUES (0, 'add_temp', ${values})`
      const good = [
        permanent(key4),
        permanent(key6),
        temporary(key4, "0"),
        temporary(key6, `${LATEST_TIME}`),
        audit("ttl_seconds", "1"),
        audit("ttl_seconds", `${LONGEST_TTL_SECONDS}`),
        "INSERT INTO audit (at, action) VALUES (-62135596800000, 'add_perm')",
      ]
      const bad = [
        ...["x''", "x'04'", "x'040a000001'", "x'040a0000012000'", "NULL", "'040a00'", "1"].map(permanent),
        // The first byte says the family, and with it the size.
        ...["x'060a00000120'", "x'000a00000120'", "x'050a00000120'"].map(permanent),
        ...["x'0420010db800000000000000000000000180'", "x'ff20010db800000000000000000000000180'"].map(
          permanent,
        ),
        ...["x''", "x'060a00000120'", "x'0420010db800000000000000000000000180'"].map((key) =>
          temporary(key, "0"),
        ),
        ...["-1", `${LATEST_TIME + 1}`, "9223372036854775807", "0.5", "NULL", "'soon'"].map((expiresAt) =>
          temporary("x'04c000020120'", expiresAt),
        ),
        ...["0", "-1", `${LONGEST_TTL_SECONDS + 1}`, "1.5", "'60s'"].map((ttl) => audit("ttl_seconds", ttl)),
        "INSERT INTO audit (at, action) VALUES (0, 'flush')",
        "INSERT INTO audit (at, action) VALUES (0, NULL)",
        "INSERT INTO audit (at, action) VALUES (NULL, 'add_perm')",
        // Beyond what a date can be: one such row would make the driver throw for every page that has it.
        "INSERT INTO audit (at, action) VALUES (9223372036854775807, 'add_perm')",
        "INSERT INTO audit (at, action) VALUES (-9007199254740993, 'add_perm')",
      ]
      const path = newPath()
      await (await open(path)).close()
      await withClient(copyDatabase(path, newPath()), async (client) => {
        const taken = async (statement: string) =>
          client.execute(statement).then(
            () => "taken",
            (error) => `refused: ${error.code.split("_").slice(0, 2).join("_")}`,
          )
        for (const statement of good)
          expect([statement, await taken(statement)]).toEqual([statement, "taken"])
        for (const statement of bad) {
          expect([statement, await taken(statement)]).toEqual([statement, "refused: SQLITE_CONSTRAINT"])
        }
      })
    },
  )
})

describe(
  fault(
    "A-21",
    "rows whose key is no network, put into the file by plain SQL",
    "let nobody in, are counted, and disturb no other row",
  ),
  () => {
    // Keys that pass the checks of the table and still name no network: host bits, or a length out of range.
    const BAD_KEYS = [
      "040a00000108",
      "04ffffffff00",
      "040000000021",
      "04c0000201ff",
      "0620010db800000000000000000000000120",
      "0620010db800000000000000000000000081",
    ]

    test("let nobody in, are counted, and disturb no other row", async () => {
      const path = await usedDatabase()
      const edited = await editedCopy(path, newPath, [
        ...BAD_KEYS.map((key) => `INSERT INTO permanent (key, ip) VALUES (x'${key}', 'bad')`),
        ...BAD_KEYS.map(
          (key) => `INSERT INTO temporary (key, ip, expires_at) VALUES (x'${key}', 'bad', ${LATEST_TIME})`,
        ),
      ])
      const { allowlist, badRows } = await loadAllowlist(await open(edited), new FakeClock(NOW))
      expect(badRows).toBe(2 * BAD_KEYS.length)
      expect([allowlist.permanentCount, allowlist.temporaryCount]).toEqual([2, 2])
      const asked = [
        "10.255.255.255",
        "192.0.2.1",
        "2001:db8::2",
        "11.0.0.0",
        "255.255.255.255",
        "2001:db9::",
      ]
      expect(asked.map((ip) => allowlist.allows(address(ip)))).toEqual([
        true,
        true,
        true,
        false,
        false,
        false,
      ])
    })
  },
)

describe(KILLED, () => {
  const SCRIPT = `${import.meta.dir}/database-process.ts`

  /** Starts a later version on the file, and kills it when its migration has written megabytes. */
  async function killedInMigration(path: string): Promise<void> {
    const child = Bun.spawn([process.execPath, SCRIPT, "migrate", "libsql", path], { stderr: "inherit" })
    while (child.exitCode === null) {
      const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
      if (log !== undefined && log.size > 4_000_000) break
      await Bun.sleep(1)
    }
    child.kill("SIGKILL")
    await child.exited
    expect(child.signalCode).toBe("SIGKILL")
  }

  test("half way through a migration leaves the old version whole", async () => {
    const path = copyDatabase(await usedDatabase(), newPath())
    await killedInMigration(path)
    const store = await open(path)
    expect(await permanentOf(store)).toEqual(["10.0.0.0/8", "2001:db8::/32"])
    expect((await temporaryOf(store)).map(({ ip }) => ip)).toEqual(["192.0.2.1", "2001:db8::1"])
    expect((await logOf(store)).length).toBe(11)
    await store.close()
    const [version] = await query(path, newPath, "PRAGMA user_version")
    expect(version?.[0]).toBe(MIGRATIONS.length)
    expect(await query(path, newPath, "SELECT name FROM sqlite_schema WHERE name = 'later'")).toEqual([])
  })

  test("at any moment of its first start does not keep the next one from starting", async () => {
    for (let delay = 0; delay < 10; delay++) {
      const path = join(newPath("state"), "gate.db")
      mkdirSync(dirname(path))
      const changed = Promise.withResolvers<void>()
      const watcher = watch(dirname(path), () => changed.resolve())
      const child = Bun.spawn([process.execPath, SCRIPT, "hold", "libsql", path], { stdout: "ignore" })
      await changed.promise
      await Bun.sleep(delay)
      child.kill("SIGKILL")
      await child.exited
      watcher.close()
      const store = await open(path)
      expect((await store.commit([addPermanent("192.0.2.9")])).outcomes).toEqual(["added"])
      await store.close()
    }
  })
})
