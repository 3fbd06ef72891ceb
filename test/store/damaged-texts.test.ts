// Texts in the file that are not valid UTF-8: the driver ends the process at one, so none may reach it as a text.

import { expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { Connection } from "../../src/store/connection.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { MIGRATIONS } from "../../src/store/schema.ts"
import * as sql from "../../src/store/statements.ts"
import { readTokens } from "../../src/store/token-rows.ts"
import { network } from "../support/parsed.ts"
import { editedCopy, temporaryPaths } from "../support/temp-store.ts"
import { addPermanent, addTemporary, NOW } from "./changes.ts"
import type { Readings } from "./database-process.ts"

const newPath = temporaryPaths()

const SCRIPT = `${import.meta.dir}/database-process.ts`

/** What another process finds, which must not be ended by it. */
async function inProcess<T>(mode: "read" | "check", paths: readonly string[]): Promise<T[]> {
  const child = Bun.spawn([process.execPath, SCRIPT, mode, "libsql", ...paths], {
    stderr: "pipe",
    timeout: 20_000,
  })
  const [output, problem, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  expect([code, problem]).toEqual([0, ""])
  return JSON.parse(output)
}

/** A closed database with one entry on each list, one record in the log and one token, changed by these statements. */
async function database(...statements: readonly string[]): Promise<string> {
  const path = newPath()
  const store = new LibsqlStore({ path, auditRows: 1000 })
  await store.open(NOW)
  await store.commit([addPermanent("192.0.2.1")])
  await store.commit([addTemporary("192.0.2.2", { reason: "list reason" })])
  await store.addToken({
    name: "laptop",
    digest: "ab".repeat(32),
    scope: "temp-only",
    maxTtlSeconds: 60,
    within: "10.0.0.0/8",
    createdAt: NOW,
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
  })
  await store.close()
  return editedCopy(path, newPath, [
    "DELETE FROM audit WHERE id = 1",
    "UPDATE audit SET ip = '203.0.113.3', reason = 'log reason', actor = '203.0.113.4', token = 'phone'",
    ...statements,
    // Of what was there before nothing is left in the file.
    "VACUUM",
  ])
}

/** A copy of the file in which a bit at the beginning of a text is another one: where it first is behind the schema. */
function flipped(path: string, text: string): string {
  const bytes = readFileSync(path)
  const at = bytes.indexOf(text, 4096)
  expect([text, at > 0]).toEqual([text, true])
  const copy = newPath()
  writeFileSync(copy, bytes.with(at, (bytes[at] ?? 0) ^ 0x80))
  return copy
}

test("the file gives out what was written to it", async () => {
  const [readings] = await inProcess<Readings>("read", [await database()])
  const record = {
    at: NOW,
    action: "add_temp",
    ip: "203.0.113.3",
    ttlSeconds: 60,
    reason: "log reason",
    actor: "203.0.113.4",
  } as const
  expect(readings).toMatchObject({
    permanent: [{ ip: "192.0.2.1" }],
    temporary: [{ ip: "192.0.2.2", reason: "list reason", expiresAt: NOW + 60_000 }],
    log: [record],
    detail: [{ ...record, id: 2, token: "phone" }],
    followed: [record],
    exported: `192.0.2.1\n192.0.2.2\t${new Date(NOW + 60_000).toISOString()}\tlist reason\n`,
    tokens: [{ name: "laptop", digest: "ab".repeat(32), scope: "temp-only", within: "10.0.0.0/8" }],
    badRows: 0,
    badTokens: 0,
  })
})

test.each([
  ["192.0.2.1", { badRows: 1, badTokens: 0 }],
  ["192.0.2.2", { badRows: 1, badTokens: 0 }],
  ["list reason", { badRows: 0, badTokens: 0 }],
  ["203.0.113.3", { badRows: 0, badTokens: 0 }],
  ["log reason", { badRows: 0, badTokens: 0 }],
  ["203.0.113.4", { badRows: 0, badTokens: 0 }],
  ["phone", { badRows: 0, badTokens: 0 }],
  ["10.0.0.0/8", { badRows: 0, badTokens: 1 }],
])("a flipped bit in the text %s is shown, and all else is as it was", async (text, bad) => {
  const path = await database()
  const [intact, readings] = await inProcess<Readings>("read", [await database(), flipped(path, text)])
  const shown: Readings = JSON.parse(JSON.stringify(intact).replaceAll(text, `\ufffd${text.slice(1)}`))
  // An import would refuse a line that begins with no network.
  const exported = shown.exported.replace(/^\ufffd.*\n/m, "")
  expect(readings).toEqual({ ...shown, ...bad, exported })
})

test("a flipped bit where only some words may stand, or what stands in two places, is damage that the start refuses", async () => {
  const path = await database()
  const refused = await inProcess<string>("read", [
    flipped(path, "add_temp"),
    flipped(path, "temp-only"),
    flipped(path, "laptop"),
    await database("UPDATE sqlite_sequence SET seq = CAST(x'ff' AS TEXT)"),
  ])
  expect(refused).toEqual(Array(4).fill(expect.stringContaining("is damaged or is not a database")))
})

test("a text is what was stored, with zeros, a byte order mark, nothing at all, and more bad bytes than one", async () => {
  const readings = await inProcess<Readings>("read", [
    await database("UPDATE temporary SET reason = 'a' || char(0) || 'b'"),
    await database("UPDATE temporary SET reason = char(0xfeff) || 'a'"),
    await database("UPDATE temporary SET reason = ''", "UPDATE audit SET reason = '', actor = NULL"),
    await database("UPDATE temporary SET reason = CAST(x'61fffe62c3' AS TEXT)"),
  ])
  expect(readings.map(({ temporary }) => temporary[0]?.reason)).toEqual([
    "a\0b",
    "\ufeffa",
    "",
    "a\ufffd\ufffdb\ufffd",
  ])
  expect(readings[2]?.log).toMatchObject([{ reason: "", actor: null }])
  expect(readings[0]?.exported).toContain("\ta\\x00b\n")
})

test("a damaged network forges no line of an export", async () => {
  const forged = await database("UPDATE temporary SET ip = '10.0.0.1' || char(10) || '2'")
  const [readings] = await inProcess<Readings>("read", [forged])
  expect(readings?.exported).toBe("192.0.2.1\n")
})

test("what SQLite finds wrong with a file may have a name in it that is no text", async () => {
  const path = await editedCopy(await database(), newPath, [
    "CREATE TABLE other (a TEXT)",
    "INSERT INTO other VALUES (NULL)",
    "PRAGMA writable_schema = ON",
    `UPDATE sqlite_schema SET sql = CAST(x'${Buffer.from("CREATE TABLE other (a\xff TEXT NOT NULL)", "latin1").toHex()}' AS TEXT)
     WHERE name = 'other'`,
    "PRAGMA writable_schema = OFF",
  ])
  expect(await inProcess<boolean>("check", [path, await database()])).toEqual([false, true])
})

test("no column crosses the driver as a text, whatever type the file says that it has", () => {
  const model = Connection.inMemory()
  for (const statement of MIGRATIONS.flat()) model.execute(statement)
  // The columns of the real tables, without their types and CHECKs, and a text in each.
  const connection = Connection.inMemory()
  for (const table of ["permanent", "temporary", "audit", "tokens"]) {
    const names = model.execute(`SELECT name FROM pragma_table_info('${table}')`).rows.map(({ name }) => name)
    const kept = names.filter((name) => name !== "id")
    connection.execute(
      `CREATE TABLE ${table} (${kept.join(", ")}${names.includes("id") ? ", id INTEGER PRIMARY KEY" : ""})`,
    )
    connection.execute(
      `INSERT INTO ${table} (${kept.join(", ")}) VALUES (${kept.map(() => "'text'").join(", ")})`,
    )
  }
  // What the questions below look for. To SQLite a text is greater than any number, and less than any blob.
  connection.execute("UPDATE permanent SET key = x'0400'")
  connection.execute("UPDATE audit SET action = 'add_perm', ip = '192.0.2.1'")
  const page = { limit: 10, offset: 0 }
  const filter = { action: "add_perm", network: network("192.0.2.1") } as const
  for (const statement of [
    sql.listPermanent(page),
    sql.listTemporary(page, NOW),
    sql.auditRows({ ...page, ...filter }),
    sql.auditSlice({ after: 0, limit: 10, ...filter }),
    sql.snapshotChunk("perm", 4, new Uint8Array([4]), 10),
    sql.OLDEST,
  ]) {
    const { rows } = connection.execute(statement)
    expect(rows).toHaveLength(1)
    expect(Object.entries(rows[0] ?? {}).filter(([, value]) => typeof value === "string")).toEqual([])
  }
  const [token] = readTokens(connection)
  expect(token).toEqual({
    name: "text",
    digest: Buffer.from("text").toHex(),
    scope: "text",
    within: "text",
    maxTtlSeconds: 0,
    createdAt: 0,
    expiresAt: 0,
    lastUsedAt: 0,
    revokedAt: 0,
  })
})
