// Whether a database says nothing against itself, asked before anything is written to it.

import { type Connection, DatabaseError, pragma } from "./connection.ts"
import { revisionOf } from "./revision.ts"

/** What each schema version has brought that is read. */
export const READ_BY_VERSION: ReadonlyArray<readonly string[]> = [
  [
    "SELECT key, ip FROM permanent LIMIT 0",
    "SELECT key, ip, expires_at, reason FROM temporary LIMIT 0",
    "SELECT id, at, action, ip, ttl_seconds, reason, actor FROM audit LIMIT 0",
  ],
  [
    "SELECT token FROM audit LIMIT 0",
    `SELECT name, digest, scope, max_ttl_seconds, within, created_at, expires_at, last_used_at, revoked_at
     FROM tokens LIMIT 0`,
  ],
]

// When an entry ends stands in the table and in its index, and nowhere else. Asked for its texts too, the database cannot
// answer for the table from the index. Two sums, because one of whole ends could be more than an integer holds. SQLite's
// own check looks up every row in the index, which with a million takes seconds.
const ENDS = "sum(expires_at >> 24) AS high, sum(expires_at & 0xffffff) AS low FROM temporary"
const ENDS_AGREE = {
  sql: `SELECT t.n = i.n AND t.high IS i.high AND t.low IS i.low AS agree
        FROM (SELECT count(ip) AS n, ${ENDS} NOT INDEXED) AS t,
             (SELECT count(*) AS n, ${ENDS} INDEXED BY temporary_by_expiry) AS i`,
  args: [],
}

/**
 * False for a file that is damaged so that SQLite's quick check, the ends of the temporary entries, or the names of the
 * tables and columns of its schema version tell it. A damaged key is noticed when the lists are read.
 */
export function isSound(connection: Connection, version: number): boolean {
  if (pragma(connection, "quick_check(1)") !== "ok") return false
  try {
    for (const statement of READ_BY_VERSION.slice(0, version).flat()) connection.execute(statement)
    revisionOf(connection)
    return connection.execute(ENDS_AGREE).rows[0]?.agree === 1
  } catch (cause) {
    // What stands where a name of ours should stand.
    if (cause instanceof DatabaseError && cause.code === "SQLITE_ERROR") return false
    throw cause
  }
}
