// Whether a database says nothing against itself, asked before anything is written to it.

import type { Family } from "../core/address.ts"
import { LATEST_TIME } from "../core/clock.ts"
import { AUDIT_CHECKS } from "./audit-checks.ts"
import { type Connection, passesCheck } from "./connection.ts"
import { keySize } from "./entry-key.ts"
import { expiryIndexAgrees } from "./expiry-index.ts"
import { hasOwnSchema } from "./own-schema.ts"

/** What is asked of the tables that came with one schema version. */
type Brought = {
  /** Each gives one row, whose `sound` is 0 if there is something that no version of ours has written. */
  readonly questions: readonly string[]
  /** Tables so small that SQLite can be asked about their CHECKs, and row by row about their indexes. */
  readonly small: readonly string[]
}

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

// The ids of the log are given out one after the other and taken back with what is rolled back, and only the oldest rows
// are ever removed. The trigger that does so counts from the id of a new row: a number that is too large would empty the log.
const IDS_FOLLOW = `SELECT NOT EXISTS (SELECT 1 FROM audit)
  OR ((SELECT max(id) FROM audit) IS (SELECT seq FROM sqlite_sequence WHERE name = 'audit')
      AND (SELECT max(id) FROM audit) - (SELECT min(id) FROM audit) + 1 = (SELECT count(*) FROM audit)) AS sound`

/** What each schema version has brought. */
export const BROUGHT_BY_VERSION: readonly Brought[] = [
  {
    questions: [
      keysAreFound("permanent"),
      keysAreFound("temporary"),
      hasNone("temporary", "expires_at < 0"),
      hasNone("temporary", `expires_at > ${LATEST_TIME}`),
      hasNone("sqlite_sequence", "typeof(seq) <> 'integer'"),
      IDS_FOLLOW,
      hasNone(
        "audit",
        Object.values(AUDIT_CHECKS)
          .map((check) => `NOT (${check})`)
          .join(" OR "),
      ),
    ],
    small: [],
  },
  { questions: [], small: ["tokens"] },
]

/**
 * False for a file that is damaged so that the text of its schema, SQLite's quick check, the CHECKs of the tables, the two
 * places of each end, or the ids of the log tell it. What else a damaged key can be is noticed when the lists are read.
 */
export function isSound(connection: Connection, version: number): boolean {
  // First: what follows relies on the names.
  if (!hasOwnSchema(connection, version) || !hasSoundPages(connection)) return false
  const brought = BROUGHT_BY_VERSION.slice(0, version)
  return (
    brought.flatMap(({ questions }) => questions).every((question) => isTrue(connection, question)) &&
    brought
      .flatMap(({ small }) => small)
      .every((table) => passesCheck(connection, "integrity_check", table)) &&
    expiryIndexAgrees(connection)
  )
}

/**
 * Without the CHECKs of the tables: with a million entries and a full log SQLite takes twice as long for those as for all
 * the rest, and nearly twice as long as for the questions above.
 */
function hasSoundPages(connection: Connection): boolean {
  connection.execute("PRAGMA ignore_check_constraints = ON")
  try {
    return passesCheck(connection, "quick_check")
  } finally {
    connection.execute("PRAGMA ignore_check_constraints = OFF")
  }
}

function isTrue(connection: Connection, question: string): boolean {
  return connection.execute(question).rows[0]?.sound === 1
}
