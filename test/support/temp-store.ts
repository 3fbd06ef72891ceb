// Database files for tests: in a temporary directory of the test file, and looked at without the store.

import { afterAll } from "bun:test"
import { createHash } from "node:crypto"
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Client, createClient, type InStatement, type Row } from "@libsql/client/sqlite3"

/** Makes a directory that is removed after the tests of the calling file; each call of the result is an unused path. */
export function temporaryPaths(): (name?: string) => string {
  const directory = mkdtempSync(join(tmpdir(), "ipgate-test-"))
  let count = 0
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return (name = "gate.db") => join(directory, `${++count}-${name}`)
}

/**
 * Copies a database with the log beside it: the state that another process would find. The file must not be open in
 * this process, because closing the copy's handle would drop the locks of the other one.
 */
export function copyDatabase(from: string, to: string): string {
  copyFileSync(from, to)
  if (existsSync(`${from}-wal`)) copyFileSync(`${from}-wal`, `${to}-wal`)
  return to
}

/**
 * A copy of a closed database on which the bare driver has run the statements. The driver may keep its locks until the
 * process ends, so it works on a copy of its own, and what comes back is a copy of that.
 */
export async function editedCopy(
  from: string,
  path: () => string,
  statements: readonly InStatement[],
): Promise<string> {
  const draft = copyDatabase(from, path())
  await withClient(draft, async (client) => {
    for (const statement of statements) await client.execute(statement)
    await client.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  })
  return copyDatabase(draft, path())
}

/** The rows of a query on a copy of a closed database. */
export function query(from: string, path: () => string, sql: string): Promise<Row[]> {
  return withClient(copyDatabase(from, path()), async (client) => (await client.execute(sql)).rows)
}

/** Runs `use` with the bare driver on a file; no store of this process may have it open. */
export async function withClient<T>(path: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = createClient({ url: `file:${path}`, concurrency: 1 })
  try {
    return await use(client)
  } finally {
    client.close()
  }
}

export function digest(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex")
}
