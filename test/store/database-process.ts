// A process of its own that opens databases: `hold` keeps one open until it is ended, `try` tells how each opening went,
// `migrate` is one of a later version whose migration takes long.

import { GateError } from "../../src/core/errors.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { MIGRATIONS } from "../../src/store/schema.ts"
import { ThreadStore } from "../../src/store/thread-store.ts"
import { withClient } from "../support/temp-store.ts"
import { addPermanent, NOW } from "./changes.ts"

/** How an attempt of the process went: `null` if the file was opened. */
export type Refusal = { readonly code: string; readonly message: string; readonly hint?: string } | null

export type Kind = "libsql" | "thread" | "driver"

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
