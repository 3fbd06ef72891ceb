// Whether a database says nothing against itself, asked before anything is written to it.

import type { Family } from "../core/address.ts"
import { LATEST_TIME } from "../core/clock.ts"
import { AUDIT_CHECKS } from "./audit-checks.ts"
import { type Connection, DatabaseError, pragma } from "./connection.ts"
import { keySize } from "./entry-key.ts"
import { revisionOf } from "./revision.ts"

/** Tables and columns that came with one schema version, and what is asked of them. */
type Brought = {
  /** What is read. */
  readonly read: readonly string[]
  /** Each gives one row, whose `sound` is 0 if there is something that no version of ours has written. */
  readonly questions: readonly string[]
  /** Tables so small that SQLite can be asked about their CHECKs. */
  readonly small: readonly string[]
}

// When an entry ends stands in the table and in its index, and nowhere else. Asked for its texts too, the database cannot
// answer for the table from the index. Two sums, because one of whole ends could be more than an integer holds. SQLite's
// own check looks up every row in the index, which with a million takes seconds.
const ENDS = "sum(expires_at >> 24) AS high, sum(expires_at & 0xffffff) AS low FROM temporary"
const ENDS_AGREE = `SELECT t.n = i.n AND t.high IS i.high AND t.low IS i.low AS sound
  FROM (SELECT count(ip) AS n, ${ENDS} NOT INDEXED) AS t,
       (SELECT count(*) AS n, ${ENDS} INDEXED BY temporary_by_expiry) AS i`

/**
 * Whether all keys of a table are found where the lists are read: between the keys of their family, and of its size. A
 * key that is somewhere else would also hide those behind it.
 */
function keysAreFound(table: string): string {
  const ofFamily = (family: Family) =>
    `(SELECT count(*) FROM ${table}
      WHERE key > x'0${family}' AND key < x'0${family + 1}' AND length(key) = ${keySize(family)})`
  return `SELECT (SELECT count(*) FROM ${table}) = ${ofFamily(4)} + ${ofFamily(6)} AS sound`
}

function hasNone(table: string, condition: string): string {
  return `SELECT NOT EXISTS (SELECT 1 FROM ${table} WHERE ${condition}) AS sound`
}

/** What each schema version has brought. */
export const BROUGHT_BY_VERSION: readonly Brought[] = [
  {
    read: [
      "SELECT key, ip FROM permanent LIMIT 0",
      "SELECT key, ip, expires_at, reason FROM temporary LIMIT 0",
      "SELECT id, at, action, ip, ttl_seconds, reason, actor FROM audit LIMIT 0",
    ],
    questions: [
      keysAreFound("permanent"),
      keysAreFound("temporary"),
      ENDS_AGREE,
      hasNone("temporary", "expires_at < 0"),
      hasNone("temporary", `expires_at > ${LATEST_TIME}`),
      hasNone(
        "audit",
        Object.values(AUDIT_CHECKS)
          .map((check) => `NOT (${check})`)
          .join(" OR "),
      ),
    ],
    small: [],
  },
  {
    read: [
      "SELECT token FROM audit LIMIT 0",
      `SELECT name, digest, scope, max_ttl_seconds, within, created_at, expires_at, last_used_at, revoked_at
       FROM tokens LIMIT 0`,
    ],
    questions: [],
    small: ["tokens"],
  },
]

/**
 * False for a file that is damaged so that SQLite's quick check, the CHECKs of the tables, the two places of each end, or
 * the names of the tables and columns of its schema version tell it. What else a damaged key can be is noticed when the
 * lists are read.
 */
export function isSound(connection: Connection, version: number): boolean {
  if (!hasSoundPages(connection)) return false
  const brought = BROUGHT_BY_VERSION.slice(0, version)
  try {
    for (const statement of brought.flatMap(({ read }) => read)) connection.execute(statement)
    revisionOf(connection)
    return brought.every(
      ({ questions, small }) =>
        questions.every((question) => connection.execute(question).rows[0]?.sound === 1) &&
        small.every((table) => pragma(connection, `quick_check(${table})`) === "ok"),
    )
  } catch (cause) {
    // What stands where a name of ours should stand.
    if (cause instanceof DatabaseError && cause.code === "SQLITE_ERROR") return false
    throw cause
  }
}

/**
 * Without the CHECKs of the tables: with a million entries and a full log SQLite takes twice as long for those as for all
 * the rest, and nearly twice as long as for the questions above.
 */
function hasSoundPages(connection: Connection): boolean {
  connection.execute("PRAGMA ignore_check_constraints = ON")
  try {
    return pragma(connection, "quick_check(1)") === "ok"
  } finally {
    connection.execute("PRAGMA ignore_check_constraints = OFF")
  }
}
