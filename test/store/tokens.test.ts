// The tokens in the database: the same over every store, and what becomes of a database from before there were any.

import { afterEach, describe, expect, test } from "bun:test"
import { copyFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Change } from "../../src/core/change.ts"
import type { StoredToken } from "../../src/core/token.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { MIGRATIONS } from "../../src/store/schema.ts"
import type { Store, StoreConfig } from "../../src/store/store.ts"
import { ThreadStore } from "../../src/store/thread-store.ts"
import type { TokenStore } from "../../src/store/token-store.ts"
import { copyDatabase, digest, query, temporaryPaths, withClient } from "../support/temp-store.ts"
import {
  addPermanent,
  addTemporary,
  CLIENT,
  deletePermanent,
  logOf,
  NOW,
  permanentOf,
  temporaryOf,
} from "./changes.ts"

/** Made by the version before the tokens; see its rows below. */
const VERSION_1 = join(import.meta.dir, "version-1.db")

const newPath = temporaryPaths()
const opened: Store[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

const STORES: ReadonlyArray<readonly [string, (config: StoreConfig) => Store & TokenStore]> = [
  ["LibsqlStore", (config) => new LibsqlStore(config)],
  ["ThreadStore", (config) => new ThreadStore(config)],
]

function token(name: string, more: Partial<StoredToken> = {}): StoredToken {
  return {
    name,
    digest: new Bun.CryptoHasher("sha256").update(name).digest("hex"),
    scope: "read",
    maxTtlSeconds: null,
    within: null,
    createdAt: NOW,
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
    ...more,
  }
}

function withToken(change: Change, name: string): Change {
  return change.op === "expire_temp" ? change : { ...change, token: name }
}

const HELPDESK = token("helpdesk", {
  scope: "temp-only",
  maxTtlSeconds: 28_800,
  within: "2001:db8::/32",
  expiresAt: NOW + 1000,
})

describe.each(STORES)("%s", (_name, make) => {
  async function open(path = newPath()): Promise<Store & TokenStore> {
    const store = make({ path, auditRows: 1000 })
    opened.push(store)
    await store.open(NOW)
    return store
  }

  test("gives back what was added, by name, also after another start", async () => {
    const path = newPath()
    const store = await open(path)
    expect(await store.tokens()).toEqual([])
    const tokens = [HELPDESK, token("ci"), token("laptop", { scope: "self", maxTtlSeconds: 1 })]
    for (const one of tokens) expect(await store.addToken(one)).toBe("added")
    const sorted = tokens.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    expect(await store.tokens()).toEqual(sorted)
    await store.close()
    // The driver keeps the lock of the first file until this process ends.
    const other = await open(copyDatabase(path, newPath()))
    expect(await other.tokens()).toEqual(sorted)
  })

  test("takes a name once, revoked or not", async () => {
    const store = await open()
    await store.addToken(token("ci"))
    const again = token("ci", { digest: "ab".repeat(32), scope: "write" })
    expect(await store.addToken(again)).toBe("conflict")
    await store.revokeToken("ci", NOW + 1)
    expect(await store.addToken(again)).toBe("conflict")
    expect(await store.tokens()).toEqual([token("ci", { revokedAt: NOW + 1 })])
  })

  test("remembers the first revocation, and tells of a name that is not there", async () => {
    const store = await open()
    await store.addToken(token("ci"))
    expect(await store.revokeToken("ci", NOW + 1)).toBe("revoked")
    expect(await store.revokeToken("ci", NOW + 2)).toBe("unchanged")
    expect(await store.revokeToken("cj", NOW + 2)).toBe("absent")
    expect((await store.tokens()).map(({ revokedAt }) => revokedAt)).toEqual([NOW + 1])
  })

  test("keeps the last use of many", async () => {
    const store = await open()
    await store.addToken(token("a"))
    await store.addToken(token("b"))
    await store.recordTokenUses([
      { name: "a", at: NOW + 5 },
      { name: "gone", at: NOW },
    ])
    expect((await store.tokens()).map(({ name, lastUsedAt }) => [name, lastUsedAt])).toEqual([
      ["a", NOW + 5],
      ["b", null],
    ])
  })

  test("writes into the log who did it, for single changes and for an import", async () => {
    const store = await open()
    await store.commit([
      withToken(addPermanent("192.0.2.1"), "ci"),
      withToken(addTemporary("192.0.2.2"), "helpdesk"),
      addPermanent("192.0.2.3"),
      withToken(deletePermanent("192.0.2.1"), "file"),
    ])
    const lines = new TextEncoder().encode("192.0.2.9\n192.0.2.10\t60\n")
    await store.import(lines, { at: NOW, by: null, token: "ci", prune: { maxRemovals: 10 } })
    const rows = await store.auditDetail({ limit: 100, offset: 0 })
    expect(rows.reverse().map(({ id, action, ip, actor, token }) => [id, action, ip, actor, token])).toEqual([
      [1, "add_perm", "192.0.2.1", CLIENT, "ci"],
      [2, "add_temp", "192.0.2.2", CLIENT, "helpdesk"],
      [3, "add_perm", "192.0.2.3", CLIENT, null],
      [4, "delete_perm", "192.0.2.1", CLIENT, "file"],
      [5, "delete_perm", "192.0.2.3", null, "ci"],
      [6, "add_perm", "192.0.2.9", null, "ci"],
      [7, "add_temp", "192.0.2.10", null, "ci"],
    ])
    // The documented record knows nothing of it.
    expect(Object.keys((await logOf(store))[0] ?? {})).toEqual([
      "at",
      "action",
      "ip",
      "ttlSeconds",
      "reason",
      "actor",
    ])
  })
})

describe("a database of version 1", () => {
  const COLUMNS = "SELECT id, at, action, ip, ttl_seconds, reason, actor FROM audit ORDER BY id"

  test("is one, and is what the test takes it for", async () => {
    expect((await query(VERSION_1, newPath, "PRAGMA user_version"))[0]?.[0]).toBe(1)
    expect(await query(VERSION_1, newPath, "SELECT name FROM sqlite_schema WHERE name = 'tokens'")).toEqual(
      [],
    )
    expect((await query(VERSION_1, newPath, COLUMNS)).length).toBe(10)
  })

  test("is brought up to date, and keeps every row", async () => {
    const path = newPath()
    copyFileSync(VERSION_1, path)
    const before = await query(VERSION_1, newPath, COLUMNS)
    const store = new LibsqlStore({ path, auditRows: 1000 })
    opened.push(store)
    expect(await store.open(NOW + 120_000)).toEqual({ created: false, ended: 0 })
    expect(await permanentOf(store)).toEqual(["10.0.0.0/8", "2001:db8::/32"])
    expect((await temporaryOf(store)).map(({ ip, reason }) => [ip, reason])).toEqual([
      ["192.0.2.1", "long"],
      ["2001:db8::1", ""],
    ])
    expect(await store.tokens()).toEqual([])
    expect((await store.auditDetail({ limit: 100, offset: 0 })).map(({ token }) => token)).toEqual(
      Array(10).fill(null),
    )
    expect(await store.addToken(HELPDESK)).toBe("added")
    await store.commit([withToken(addPermanent("192.0.2.77"), "helpdesk")])
    await store.close()
    expect((await query(path, newPath, "PRAGMA user_version"))[0]?.[0]).toBe(MIGRATIONS.length)
    const after = await query(path, newPath, COLUMNS)
    expect(after.slice(0, -1).map((row) => Object.values(row))).toEqual(
      before.map((row) => Object.values(row)),
    )
  })

  test("has the schema of a new one afterwards", async () => {
    const [upgraded, fresh] = [newPath(), newPath()]
    copyFileSync(VERSION_1, upgraded)
    for (const path of [upgraded, fresh]) {
      const store = new LibsqlStore({ path, auditRows: 1000 })
      await store.open(NOW)
      await store.close()
    }
    const schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
    const of = async (path: string) => (await query(path, newPath, schema)).map((row) => Object.values(row))
    expect(await of(upgraded)).toEqual(await of(fresh))
  })

  test("stays as it is if the migration cannot be done whole", async () => {
    const path = newPath()
    copyFileSync(VERSION_1, path)
    const store = new LibsqlStore({ path, auditRows: 1000 })
    opened.push(store)
    const later = MIGRATIONS as string[][]
    // The tables of the version before are made by then.
    later.push(["ALTER TABLE audit ADD COLUMN token TEXT"])
    try {
      await expect(store.open(NOW)).rejects.toThrow(/duplicate column/)
    } finally {
      later.pop()
    }
    expect((await query(path, newPath, "PRAGMA user_version"))[0]?.[0]).toBe(1)
    expect(await query(path, newPath, "SELECT name FROM sqlite_schema WHERE name = 'tokens'")).toEqual([])
  })

  test("of a newer version is refused, and not a byte of it moves", async () => {
    const draft = newPath()
    copyFileSync(VERSION_1, draft)
    await withClient(draft, async (client) => {
      await client.execute(`PRAGMA user_version = ${MIGRATIONS.length + 1}`)
      await client.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    })
    const path = newPath()
    copyFileSync(draft, path)
    const before = digest(path)
    const store = new LibsqlStore({ path, auditRows: 1000 })
    await expect(store.open(NOW)).rejects.toThrow(/newer ipgate/)
    expect(digest(path)).toBe(before)
  })
})

describe("the table", () => {
  test("refuses rows that are no token of ours", async () => {
    const path = newPath()
    const store = new LibsqlStore({ path, auditRows: 1000 })
    await store.open(NOW)
    await store.close()
    const copy = newPath()
    copyFileSync(path, copy)
    const insert = (scope: string, ttl: string, within: string, digest = "zeroblob(32)") =>
      `INSERT INTO tokens (name, digest, scope, max_ttl_seconds, within, created_at)
       VALUES ('x', ${digest}, '${scope}', ${ttl}, ${within}, 0)`
    await withClient(copy, async (client) => {
      for (const bad of [
        insert("all", "NULL", "NULL"),
        insert("read", "60", "NULL"),
        insert("temp-only", "NULL", "NULL"),
        insert("self", "NULL", "NULL"),
        insert("self", "60", "'10.0.0.0/8'"),
        insert("temp-only", "0", "NULL"),
        insert("read", "NULL", "NULL", "zeroblob(31)"),
        insert("read", "NULL", "NULL", "'a secret in plain text'"),
      ]) {
        await expect(client.execute(bad)).rejects.toThrow(/constraint|cannot store/i)
      }
      await client.execute(insert("temp-only", "60", "'10.0.0.0/8'"))
    })
  })

  test("holds nothing of the secret but its digest", () => {
    const schema = MIGRATIONS[1]?.join("\n") ?? ""
    expect(schema).not.toMatch(/secret/)
    expect(readFileSync(VERSION_1).length % 4096).toBe(0)
  })
})
