// A process of its own that opens databases: `hold` keeps one open until it is ended, `try` tells how each opening went,
// `read` what each gives out, `check` whether each passes SQLite's check, `migrate` is one of a later version whose
// migration takes long.

import { loadAllowlist } from "../../src/app/load-allowlist.ts"
import type { AuditDetail, AuditRecord } from "../../src/core/audit.ts"
import type { PermanentEntry, TemporaryEntry } from "../../src/core/entry.ts"
import { GateError } from "../../src/core/errors.ts"
import type { StoredToken } from "../../src/core/token.ts"
import { TokenBook } from "../../src/core/token-book.ts"
import { Connection, passesCheck } from "../../src/store/connection.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { MIGRATIONS } from "../../src/store/schema.ts"
import { ThreadStore } from "../../src/store/thread-store.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { withClient } from "../support/temp-store.ts"
import { addPermanent, NOW } from "./changes.ts"

/** How an attempt of the process went: `null` if the file was opened. */
export type Refusal = { readonly code: string; readonly message: string; readonly hint?: string } | null

export type Kind = "libsql" | "thread" | "driver"

/** Everything that a store gives out, and how many rows and tokens the memory has not taken over. */
export type Readings = {
  readonly permanent: readonly PermanentEntry[]
  readonly temporary: readonly TemporaryEntry[]
  readonly log: readonly AuditRecord[]
  readonly detail: readonly AuditDetail[]
  readonly followed: readonly AuditRecord[]
  readonly exported: string
  readonly tokens: readonly StoredToken[]
  readonly badRows: number
  readonly badTokens: number
}

if (import.meta.main) {
  const [mode, kind, ...paths] = process.argv.slice(2) as [string, Kind, ...string[]]
  if (mode === "try") {
    const refusals: Refusal[] = []
    for (const path of paths) {
      refusals.push(
        await open(kind, path).then(
          () => null,
          (error) =>
            error instanceof GateError
              ? { code: error.code, message: error.message, ...(error.hint ? { hint: error.hint } : {}) }
              : { code: error.code, message: error.message },
        ),
      )
    }
    console.log(JSON.stringify(refusals))
    process.exit()
  }
  if (mode === "read") {
    const readings: Array<Readings | string> = []
    for (const path of paths) readings.push(await read(path).catch(({ message }: Error) => message))
    console.log(JSON.stringify(readings))
    process.exit()
  }
  if (mode === "check") {
    console.log(JSON.stringify(paths.map((path) => passesCheck(Connection.open(path, 0), "quick_check"))))
    process.exit()
  }
  if (mode === "migrate") lengthenMigrations()
  const commit = await open(kind, paths[0] as string)
  for (const [i, ip] of ["192.0.2.1", "192.0.2.2", "192.0.2.3"].entries()) {
    await commit(ip)
    console.log(i + 1)
  }
  setInterval(() => {}, 1000)
}

async function open(kind: Kind, path: string): Promise<(ip: string) => Promise<unknown>> {
  if (kind === "driver") {
    await withClient(path, (client) => client.batch(["SELECT count(*) FROM permanent"], "write"))
    return async () => {}
  }
  const config = { path, auditRows: 1000 }
  const store = kind === "libsql" ? new LibsqlStore(config) : new ThreadStore(config)
  await store.open(NOW)
  return (ip) => store.commit([addPermanent(ip)])
}

async function read(path: string): Promise<Readings> {
  const store = new LibsqlStore({ path, auditRows: 1000 })
  try {
    await store.open(NOW)
    const page = { limit: 1000, offset: 0 }
    const clock = new FakeClock(NOW)
    const { badRows } = await loadAllowlist(store, clock)
    const tokens = await store.tokens()
    const exported: Uint8Array[] = []
    await store.export(NOW, (lines) => exported.push(lines))
    const { rows } = await store.auditSlice({ after: 0, limit: 1000 })
    return {
      permanent: await store.listPermanent(page),
      temporary: await store.listTemporary(page, NOW),
      log: await store.audit(page),
      detail: await store.auditDetail(page),
      followed: rows.map(({ record }) => record),
      exported: Buffer.concat(exported).toString(),
      tokens,
      badRows,
      badTokens: new TokenBook(clock).learn(tokens),
    }
  } finally {
    await store.close()
  }
}

// Writes far more than fits into the cache, so that half of it is in the file when the process is killed.
function lengthenMigrations(): void {
  const later = MIGRATIONS as string[][]
  later.push([
    "CREATE TABLE later (content BLOB) STRICT",
    "DELETE FROM permanent",
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000)
     INSERT INTO later SELECT randomblob(1000) FROM n`,
  ])
}
