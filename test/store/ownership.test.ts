// One owner of the file: a second process is refused, a foreign or damaged file too, and neither changes a byte.

import { afterEach, describe, expect, spyOn, test } from "bun:test"
import { existsSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { createClient } from "@libsql/client/sqlite3"
import { Connection, DatabaseError, pragma } from "../../src/store/connection.ts"
import { createDatabaseFile } from "../../src/store/database-file.ts"
import { entryKey } from "../../src/store/entry-key.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { takeOwnership } from "../../src/store/ownership.ts"
import { MIGRATIONS } from "../../src/store/schema.ts"
import type { Store } from "../../src/store/store.ts"
import { ThreadStore } from "../../src/store/thread-store.ts"
import { fault } from "../faults/fault.ts"
import { network } from "../support/parsed.ts"
import { copyDatabase, digest, editedCopy, query, temporaryPaths } from "../support/temp-store.ts"
import { addPermanent, addTemporary, NOW, permanentOf } from "./changes.ts"
import type { Kind, Refusal } from "./database-process.ts"

const SECOND_PROCESS = fault(
  "D-04 D-09",
  "a second process opens the file, with ipgate or with a driver of its own",
  "it is refused, and costs the owner nothing",
)
const REFUSED_FILES = fault(
  "D-15 D-19",
  "files that are cut, empty, damaged in any page, foreign, or of a newer version",
  "refused, and not a byte of them changes",
)

const newPath = temporaryPaths()

const IMPORT = { at: NOW, by: null, prune: null }

const opened: Store[] = []
const processes: Array<{ kill(signal: "SIGKILL"): void; readonly exited: Promise<number> }> = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
  for (const child of processes.splice(0)) {
    child.kill("SIGKILL")
    await child.exited
  }
})

function store(path: string): Store {
  const made = new LibsqlStore({ path, auditRows: 1000 })
  opened.push(made)
  return made
}

function threadStore(path: string): Store {
  const made = new ThreadStore({ path, auditRows: 1000 })
  opened.push(made)
  return made
}

async function withOneEntry(path = newPath()): Promise<LibsqlStore> {
  const made = new LibsqlStore({ path, auditRows: 1000 })
  opened.push(made)
  await made.open(NOW)
  await made.commit([addPermanent("192.0.2.1")])
  return made
}

const SCRIPT = `${import.meta.dir}/database-process.ts`

/** Another process tries to open each path, and ends. */
async function tryInProcess(kind: Kind, paths: readonly string[]): Promise<Refusal[]> {
  const child = Bun.spawn([process.execPath, SCRIPT, "try", kind, ...paths], { stderr: "inherit" })
  processes.push(child)
  const [output] = await Promise.all([child.stdout.text(), child.exited])
  return JSON.parse(output)
}

/** Another process opens the path, is told that three entries are written, and keeps the file. */
async function heldByProcess(kind: Kind, path: string): Promise<{ kill: () => Promise<void> }> {
  const child = Bun.spawn([process.execPath, SCRIPT, "hold", kind, path], { stderr: "inherit" })
  processes.push(child)
  let output = ""
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    output += text
    if (output === "1\n2\n3\n") break
  }
  expect(output).toBe("1\n2\n3\n")
  return {
    kill: async () => {
      child.kill("SIGKILL")
      await child.exited
    },
  }
}

function expectHeld(refusal: Refusal, path: string): void {
  expect(refusal).toMatchObject({
    code: "unavailable",
    message: `another process holds the database ${path}`,
  })
  expect(refusal?.hint).toContain("--offline")
}

describe(SECOND_PROCESS, () => {
  test.each(["libsql", "thread"] as const)("is refused while this one holds the file (%s)", async (kind) => {
    const path = newPath()
    const owner = store(path)
    await owner.open(NOW)
    const [refusal = null] = await tryInProcess(kind, [path])
    expectHeld(refusal, path)
    // The attempt has cost the owner nothing.
    expect((await owner.commit([addPermanent("192.0.2.1")])).outcomes).toEqual(["added"])
    expect(await permanentOf(owner)).toEqual(["192.0.2.1"])
  })

  test("is refused while a thread of this one holds the file", async () => {
    const path = newPath()
    const owner = threadStore(path)
    await owner.open(NOW)
    const [refusal = null] = await tryInProcess("libsql", [path])
    expectHeld(refusal, path)
    expect((await owner.commit([addPermanent("192.0.2.1")])).outcomes).toEqual(["added"])
  })

  test("cannot even read with a driver of its own", async () => {
    const path = newPath()
    const owner = store(path)
    await owner.open(NOW)
    const [refusal = null] = await tryInProcess("driver", [path])
    expect(refusal?.code).toBe("SQLITE_BUSY")
    expect((await owner.commit([addPermanent("192.0.2.1")])).outcomes).toEqual(["added"])
  })

  test.each(["libsql", "thread"] as const)("that holds the file keeps this one out (%s)", async (kind) => {
    const path = newPath()
    await heldByProcess(kind, path)
    for (const second of [store(path), threadStore(path)]) {
      const refusal = await second.open(NOW).catch((error) => error)
      expectHeld(refusal, path)
    }
  })

  test.each(["libsql", "thread"] as const)(
    "that was killed leaves all it told, at once (%s)",
    async (kind) => {
      const path = newPath()
      const { kill } = await heldByProcess(kind, path)
      await kill()
      const next = store(path)
      expect(await next.open(NOW)).toEqual({ created: false, ended: 0 })
      expect(await permanentOf(next)).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3"])
      expect((await next.audit({ limit: 10, offset: 0 })).length).toBe(3)
    },
  )
})

test("a second store of this process is refused too, and the first works on", async () => {
  const path = newPath()
  const owner = store(path)
  await owner.open(NOW)
  for (const second of [store(path), threadStore(path)]) {
    expectHeld(await second.open(NOW).catch((error) => error), path)
    await second.close()
  }
  expect((await owner.commit([addPermanent("192.0.2.1")])).outcomes).toEqual(["added"])
})

describe(REFUSED_FILES, () => {
  /** A closed database with a few pages, all of them in the file itself. */
  async function database(): Promise<string> {
    const path = newPath()
    const made = store(path)
    await made.open(NOW)
    await made.commit(Array.from({ length: 200 }, (_, i) => addPermanent(`192.0.2.${i}`)))
    await made.commit(
      Array.from({ length: 200 }, (_, i) => addTemporary(i === 0 ? "2001:db8::" : `2001:db8::${i}`)),
    )
    await made.close()
    return editedCopy(path, newPath, [])
  }

  const PAGE = 4096

  // All in one process that ends afterwards, as a server that cannot start does.
  async function expectRefused(
    files: ReadonlyArray<readonly [path: string, message: string]>,
  ): Promise<void> {
    const paths = files.map(([path]) => path)
    const before = paths.map(state)
    const refusals = await tryInProcess("libsql", paths)
    expect(paths.map(state)).toEqual(before)
    expect(refusals).toEqual(
      files.map(([path, message]) => ({
        code: "unavailable",
        message: `${path} ${message}`,
        hint: expect.any(String) as unknown as string,
      })),
    )
  }

  // An empty log beside the file holds nothing, and changes nothing that the file says.
  function state(path: string) {
    const log = `${path}-wal`
    return {
      path,
      file: digest(path),
      log: existsSync(log) && statSync(log).size > 0 ? digest(log) : null,
      journal: existsSync(`${path}-journal`),
    }
  }

  function written(bytes: string | Uint8Array): string {
    const path = newPath()
    writeFileSync(path, bytes)
    return path
  }

  const DAMAGED = "is damaged or is not a database; it was left as it is"
  const FOREIGN = "is not an ipgate database; it was left as it is"

  test("not a database", async () => {
    const random = new Uint8Array(3 * PAGE).map((_, i) => (i * 31 + (i >> 8)) & 255)
    const files = [random, "ip,reason\n", "\n", " \n", "SQLite format 3\0", new Uint8Array(2 * PAGE), ""]
    await expectRefused(files.map((bytes) => [written(bytes), DAMAGED]))
  })

  test("not a database, beside the log of one that stood there: the log is named", async () => {
    const path = written("no database at all")
    writeFileSync(`${path}-wal`, "frames of another file")
    const error = await new LibsqlStore({ path, auditRows: 100 }).open(NOW).catch((error) => error)
    expect(error.message).toContain(DAMAGED)
    expect(error.hint).toContain(`move the log away and restore a backup`)
    expect(error.hint).toContain(`${path}-wal`)
    const alone = await new LibsqlStore({ path: written("no"), auditRows: 100 })
      .open(NOW)
      .catch((error) => error)
    expect(alone.hint).toBe("restore it from a backup, or move it away to start with empty lists")
  })

  test("a database of another program, also with changes that are only in its log", async () => {
    const empty = written("")
    const plain = await editedCopy(empty, newPath, [
      "CREATE TABLE permanent (key, ip)",
      "INSERT INTO permanent VALUES (1, 2)",
    ])
    const wal = await withLog(["PRAGMA journal_mode = WAL", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)"])
    const named = await editedCopy(empty, newPath, ["PRAGMA application_id = 1", "CREATE TABLE t (x)"])
    await expectRefused([plain, wal, named].map((path) => [path, FOREIGN]))
  })

  test("a database of a newer version, also with changes that are only in its log", async () => {
    const known = MIGRATIONS.length
    const newer = [`PRAGMA user_version = ${known + 1}`, "CREATE TABLE later (x)"]
    const path = await database()
    const message = `was written by a newer ipgate (schema ${known + 1}; this one knows up to ${known}); it was left as it is`
    await expectRefused([
      [await editedCopy(path, newPath, newer), message],
      [await withLog(newer, path), message],
    ])
  })

  test("a file that was cut off, anywhere", async () => {
    const bytes = readFileSync(await database())
    const sizes = [
      1,
      15,
      16,
      99,
      100,
      512,
      PAGE - 1,
      PAGE,
      PAGE + 1,
      2 * PAGE,
      bytes.length - PAGE,
      bytes.length - 1,
    ]
    await expectRefused(sizes.map((size) => [written(bytes.subarray(0, size)), DAMAGED]))
  })

  test("a file with one page that is not what was written, whichever page", async () => {
    const bytes = readFileSync(await database())
    const pages = bytes.length / PAGE
    expect(pages).toBeGreaterThan(8)
    const files = Array.from({ length: pages }, (_, page) =>
      written(bytes.map((byte, i) => (Math.floor(i / PAGE) === page ? ~byte : byte))),
    )
    await expectRefused(files.map((path) => [path, DAMAGED]))
  })

  test("a file whose pages contradict each other, though each row can be read", async () => {
    const bytes = readFileSync(await database())
    // SQLite's file format, 1.3: the number of free pages. A page too many would be handed out although it is in use.
    const free = bytes.readUInt32BE(36)
    const wrong = Buffer.from(bytes)
    wrong.writeUInt32BE(free + 1, 36)
    await expectRefused([[written(wrong), DAMAGED]])
  })

  // SQLite's own check is not asked about the CHECKs of the large tables: all of them have to be asked about all the same.
  test("a file with a row that a CHECK of its table refuses, whichever CHECK", async () => {
    const keys = ["", "04", "0400000000", "04000000000000", "060000000000", "050000000000", "03ffffffffff"]
    const wrongKeys = [...keys, `04${"00".repeat(17)}`, `05${"00".repeat(17)}`, `07${"00".repeat(17)}`]
    const tokenOf = (values: string) =>
      `INSERT INTO tokens (name, digest, scope, max_ttl_seconds, within, created_at, expires_at) VALUES (${values})`
    const digest = "zeroblob(32)"
    const rows: Readonly<Record<string, readonly string[]>> = {
      "permanent key": wrongKeys.map((key) => `INSERT INTO permanent VALUES (x'${key}', '0.0.0.0')`),
      "temporary key": wrongKeys.map((key) => `INSERT INTO temporary VALUES (x'${key}', '0.0.0.0', 1, NULL)`),
      "temporary expires_at": [-1, 253402300800000].map(
        (end) => `INSERT INTO temporary VALUES (x'040000000120', '0.0.0.1', ${end}, NULL)`,
      ),
      "audit at": [-8640000000000001, 8640000000000001].map(
        (at) => `INSERT INTO audit (at, action) VALUES (${at}, 'add_perm')`,
      ),
      "audit action": ["INSERT INTO audit (at, action) VALUES (1, 'add_perl')"],
      "audit ttl_seconds": [0, 315360001].map(
        (ttl) => `INSERT INTO audit (at, action, ttl_seconds) VALUES (1, 'add_temp', ${ttl})`,
      ),
      "tokens name": [tokenOf(`'', ${digest}, 'read', NULL, NULL, 1, NULL`)],
      "tokens digest": [tokenOf("'a', zeroblob(31), 'read', NULL, NULL, 1, NULL")],
      "tokens scope": [tokenOf(`'a', ${digest}, 'root', 1, NULL, 1, NULL`)],
      "tokens max_ttl_seconds": [tokenOf(`'a', ${digest}, 'self', 0, NULL, 1, NULL`)],
      "tokens within": [tokenOf(`'a', ${digest}, 'self', 1, '10.0.0.0/8', 1, NULL`)],
      "tokens created_at": [tokenOf(`'a', ${digest}, 'read', NULL, NULL, -1, NULL`)],
      "tokens expires_at": [tokenOf(`'a', ${digest}, 'read', NULL, NULL, 1, -1`)],
      tokens: [tokenOf(`'a', ${digest}, 'read', 1, NULL, 1, NULL`)],
    }
    expect(Object.keys(rows).length).toBe(MIGRATIONS.flat().join().match(/CHECK/g)?.length ?? 0)
    const path = await database()
    const unchecked = (row: string) =>
      editedCopy(path, newPath, ["PRAGMA ignore_check_constraints = ON", row])
    const files = await Promise.all(Object.values(rows).flat().map(unchecked))
    await expectRefused(files.map((path) => [path, DAMAGED]))
  })

  /** A copy in which one byte is another one: the one at `offset` from the only place that has these bytes. */
  function changedByte(bytes: Buffer, place: Uint8Array, offset: number, change = 1): string {
    const at = bytes.indexOf(place)
    expect([at >= 0, bytes.indexOf(place, at + 1)]).toEqual([true, -1])
    return written(bytes.with(at + offset, (bytes[at + offset] ?? 0) ^ change))
  }

  test("a file whose index of the ends holds another key, or another end, than its table", async () => {
    // The first one: others may stand a second time in what a page that was split has left behind.
    const bytes = readFileSync(await editedCopy(await database(), newPath, ["VACUUM"]))
    const ip = "2001:db8::"
    const key = entryKey(network(ip))
    const end = Buffer.alloc(6)
    end.writeUIntBE(NOW + 60_000, 0, 6)
    const inIndex = Buffer.concat([end, key])
    // In the table the text stands behind the key, and in the index nothing does.
    const inTable = Buffer.concat([key, Buffer.from(ip), end])
    const files = [
      ...[5, 6, 10, 21, 22, 23].map((offset) => changedByte(bytes, inIndex, offset)),
      ...[1, 17, key.length + ip.length + 5].map((offset) => changedByte(bytes, inTable, offset)),
    ]
    await expectRefused(files.map((path) => [path, DAMAGED]))
  })

  test("a file whose index of the digests holds another one than its tokens", async () => {
    const secret = Buffer.alloc(32, "digest")
    const add = {
      sql: "INSERT INTO tokens (name, digest, scope, created_at) VALUES ('helpdesk', ?, 'read', 1)",
      args: [secret],
    }
    const bytes = readFileSync(await editedCopy(await database(), newPath, [add]))
    const inIndex = Buffer.concat([secret, Buffer.from("helpdesk")])
    await expectRefused([[changedByte(bytes, inIndex, 7), DAMAGED]])
  })

  test("a file whose log would be cut at a wrong place by the next change", async () => {
    const path = await database()
    const bytes = readFileSync(path)
    const counter = Buffer.from(
      [..."audit"].map((letter) => letter.charCodeAt(0)).concat(400 >> 8, 400 & 255),
    )
    const edits = [
      "UPDATE sqlite_sequence SET seq = 399",
      "UPDATE sqlite_sequence SET seq = '400 and more'",
      "DELETE FROM sqlite_sequence",
      "UPDATE audit SET id = 400 + 65536 WHERE id = 400",
      "UPDATE audit SET id = 0 WHERE id = 1",
      "DELETE FROM audit WHERE id = 200",
    ]
    const edited = await Promise.all(edits.map((edit) => editedCopy(path, newPath, [edit])))
    const files = [...edited, changedByte(bytes, counter, 5, 0x40), changedByte(bytes, counter, 1)]
    await expectRefused(files.map((path) => [path, DAMAGED]))
  })

  // Also with bytes that are no UTF-8, at which the driver ends the process if it is given them.
  test("a file with another letter in the text of its schema, whichever", async () => {
    const path = newPath()
    const made = store(path)
    await made.open(NOW)
    await made.close()
    const whole = await editedCopy(path, newPath, [])
    const bytes = readFileSync(whole)
    const texts = await query(
      whole,
      newPath,
      "SELECT sql FROM sqlite_schema WHERE type <> 'trigger' AND sql <> ''",
    )
    const files = texts.flatMap(({ sql }) => {
      const place = Buffer.from(String(sql))
      return Array.from({ length: Math.ceil(place.length / 5) }, (_, i) =>
        changedByte(bytes, place, 5 * i, i % 2 ? 1 : 0x80),
      )
    })
    expect(files.length).toBeGreaterThan(300)
    const action = Buffer.from("'delete_perm'")
    await expectRefused([...files, changedByte(bytes, action, 3)].map((path) => [path, DAMAGED]))
  })

  test("a file in which something of its version is missing, or with a trigger that is not of it", async () => {
    const path = await database()
    const edits = [
      "CREATE TRIGGER other AFTER INSERT ON audit BEGIN DELETE FROM permanent; END",
      "DROP INDEX temporary_by_expiry",
      "PRAGMA user_version = 1",
    ]
    const files = await Promise.all(edits.map((edit) => editedCopy(path, newPath, [edit])))
    await expectRefused(files.map((path) => [path, DAMAGED]))
  })

  test("but none with a table or an index of somebody else's", async () => {
    const path = await database()
    for (const edit of ["CREATE TABLE notes (x)", "CREATE INDEX audit_by_ip ON audit (ip)", "ANALYZE"]) {
      const made = new LibsqlStore({ path: await editedCopy(path, newPath, [edit]), auditRows: 100 })
      expect(await made.open(NOW)).toMatchObject({ created: false })
      await made.close()
    }
  })

  test("but none that this program has written: new, rotated, imported into, copied, with another length of the log", async () => {
    const opening = async (file: string, auditRows: number) => {
      const made = new LibsqlStore({ path: file, auditRows })
      await made.open(NOW)
      return made
    }
    const lines = (from: number) =>
      new TextEncoder().encode(
        Array.from({ length: 60 }, (_, i) => `10.0.${from}.${i}${i % 2 ? "" : "\t60"}\n`).join(""),
      )
    let path = newPath()
    for (const [i, auditRows] of [1000, 30, 7, 1000, 1].entries()) {
      const made = await opening(path, auditRows)
      await made.commit([addPermanent(`192.0.2.${i}`), addPermanent("192.0.2.0"), addTemporary("192.0.2.1")])
      await expect(made.import(new TextEncoder().encode("no address\n"), IMPORT)).rejects.toThrow()
      await made.import(lines(i), { ...IMPORT, prune: { maxRemovals: 1000 } })
      await made.import(lines(i), IMPORT)
      const copy = await made.backUp()
      await made.close()
      // The driver keeps the lock of a file until the process ends.
      path = copyDatabase(path, newPath())
      const restored = await opening(copyDatabase(copy, newPath()), auditRows)
      expect((await restored.commit([addPermanent("192.0.2.99")])).outcomes).toEqual(["added"])
      await restored.close()
    }
  })

  /** A database with a log that is not empty: what a killed process leaves. */
  async function withLog(statements: readonly string[], from = written("")): Promise<string> {
    const live = copyDatabase(from, newPath())
    const client = createClient({ url: `file:${live}`, concurrency: 1 })
    for (const statement of statements) await client.execute(statement)
    const path = copyDatabase(live, newPath())
    client.close()
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
    return path
  }
})

describe("after a change that leaves open what the disk holds", () => {
  const connectionOf = (store: LibsqlStore): Connection => Reflect.get(store, "opened")

  /** From now on the disk reports an error at each of these statements once. */
  function failOnceAt(connection: Connection, ...texts: readonly string[]): void {
    const left = new Set(texts)
    spyOn(connection, "execute").mockImplementation((statement) => {
      if (left.delete(typeof statement === "string" ? statement : statement.sql))
        throw new DatabaseError("SQLITE_IOERR", "disk I/O error", {})
      return Connection.prototype.execute.call(connection, statement)
    })
  }

  test("the file is opened anew at once, and holds what was acknowledged and nothing else", async () => {
    const made = await withOneEntry()
    const before = connectionOf(made)
    failOnceAt(before, "COMMIT")
    const failed = await made.commit([addPermanent("192.0.2.2")]).catch((error) => error)
    expect(failed).toMatchObject({ code: "failed", message: "database failure: the disk reported an error" })
    expect(connectionOf(made)).not.toBe(before)
    expect(await permanentOf(made)).toEqual(["192.0.2.1"])
    expect(await made.commit([addPermanent("192.0.2.3")])).toEqual({
      before: 1,
      after: 2,
      outcomes: ["added"],
    })
  })

  test("none is tried on the old connection, which goes when its log could be copied", async () => {
    const made = await withOneEntry()
    const before = connectionOf(made)
    failOnceAt(before, "COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)")
    const { message } = await made.commit([addPermanent("192.0.2.2")]).catch((error) => error)
    expect(message).toBe("database failure: the disk reported an error")
    expect(connectionOf(made)).toBe(before)
    expect(await made.commit([addPermanent("192.0.2.3")])).toEqual({
      before: 1,
      after: 2,
      outcomes: ["added"],
    })
    expect(connectionOf(made)).not.toBe(before)
    expect(await permanentOf(made)).toEqual(["192.0.2.1", "192.0.2.3"])
  })

  test("none is tried until the file has been opened anew, also if that fails midway at first", async () => {
    const path = newPath()
    const made = await withOneEntry(path)
    const before = connectionOf(made)
    failOnceAt(before, "COMMIT")
    // In between another program takes the file, and only holds it.
    const close = before.close.bind(before)
    let other: Connection | undefined
    spyOn(before, "close").mockImplementation(() => {
      close()
      Bun.gc(true)
      other = Connection.open(path, 0)
      other.execute("BEGIN EXCLUSIVE")
    })
    const failures = []
    for (const ip of ["192.0.2.2", "192.0.2.3"])
      failures.push(await made.commit([addPermanent(ip)]).catch(({ message }) => message))
    expect(failures).toEqual([
      "database failure: the disk reported an error",
      `database failure: another process holds the database ${path}`,
    ])
    other?.execute("ROLLBACK")
    other?.close()
    await made.probe()
    expect(await made.commit([addPermanent("192.0.2.4")])).toEqual({
      before: 1,
      after: 2,
      outcomes: ["added"],
    })
    expect(await permanentOf(made)).toEqual(["192.0.2.1", "192.0.2.4"])
  })

  test("of which the file holds another record than was acknowledged, changes fail until a restart", async () => {
    const path = newPath()
    const made = await withOneEntry(path)
    connectionOf(made).execute("INSERT INTO audit (at, action) VALUES (1, 'add_perm')")
    const message =
      "database failure: the file does not hold what was acknowledged; changes fail until a restart"
    const refusal = () => made.commit([addPermanent("192.0.2.2")]).catch((error) => error)
    expect((await refusal()).code).toBe("failed")
    expect(await refusal()).toMatchObject({ code: "failed", message })
    // Whatever the file holds later: nobody can tell what came in between.
    connectionOf(made).batch([
      "DELETE FROM audit WHERE id = 2",
      "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'audit'",
    ])
    expect(await refusal()).toMatchObject({ code: "failed", message })
    await expect(made.probe()).rejects.toThrow(message)
    expect(await permanentOf(made)).toEqual(["192.0.2.1"])
    await made.close()
    const next = store(copyDatabase(path, newPath()))
    await next.open(NOW)
    expect((await next.commit([addPermanent("192.0.2.2")])).outcomes).toEqual(["added"])
  })
})

test("what a process that was killed has left in the log is in the file itself when it has been opened", async () => {
  const path = newPath()
  const held = await heldByProcess("libsql", path)
  await held.kill()
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
  const next = store(path)
  await next.open(NOW)
  expect(statSync(`${path}-wal`).size).toBe(0)
  expect(await permanentOf(next)).toHaveLength(3)
})

test("the CHECKs of the tables hold in a database that was there before, although its own rows were looked at without them", async () => {
  const path = newPath()
  const first = new LibsqlStore({ path, auditRows: 1000 })
  await first.open(NOW)
  await first.close()
  const next = store(copyDatabase(path, newPath()))
  await next.open(NOW)
  const refused = next.commit([addTemporary("192.0.2.1", { ttlSeconds: 0 })])
  await expect(refused).rejects.toThrow("the database reported SQLITE_CONSTRAINT")
})

test("whoever has made the file outlasts one that reads it in the same moment and then ends", async () => {
  const path = newPath()
  createDatabaseFile(path)
  const reader = Bun.spawn(
    [
      process.execPath,
      "-e",
      `const database = new (require("bun:sqlite").Database)(process.argv.at(-1))
       database.run("BEGIN")
       database.query("SELECT count(*) FROM permanent").all()
       console.log("reads")
       setTimeout(() => process.exit(database.inTransaction ? 0 : 1), 500)`,
      path,
    ],
    { stdout: "pipe", stderr: "inherit" },
  )
  processes.push(reader)
  await reader.stdout.getReader().read()
  const connection = takeOwnership(path, true)
  expect(pragma(connection, "journal_mode")).toBe("wal")
  connection.close()
  expect(await reader.exited).toBe(0)
})

describe("a change after somebody has touched the file of an open database", () => {
  test.each([
    ["moved it away", "the database file was removed or replaced under the server", renamed],
    ["written to it", "another program has written to the database file", writtenTo],
    ["replaced its log", "the write-ahead log was replaced under the server", otherLog],
  ] as const)("has failed, and is not to be tried again: %s", async (_, what, touch) => {
    const path = newPath()
    const made = await withOneEntry(path)
    touch(path)
    const refusal = await made.commit([addPermanent("192.0.2.2")]).catch((error) => error)
    expect(refusal).toMatchObject({ code: "failed", message: `database failure: ${what}` })
    expect(await permanentOf(made)).toEqual(["192.0.2.1"])
  })

  function renamed(path: string): void {
    renameSync(path, newPath())
  }

  function writtenTo(path: string): void {
    utimesSync(path, 1, 1)
  }

  function otherLog(path: string): void {
    renameSync(`${path}-wal`, newPath())
    writeFileSync(`${path}-wal`, "another log")
  }
})
