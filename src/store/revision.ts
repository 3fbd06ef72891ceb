// Where the audit log stands.

import type { Connection, Statement } from "./connection.ts"

const REVISION: Statement = {
  // As a number even where the file says it is a text: SQLite reads it as one too, and the driver must never see another.
  sql: `SELECT max(coalesce((SELECT CAST(seq AS INTEGER) FROM sqlite_sequence WHERE name = 'audit'), 0),
                   coalesce((SELECT max(id) FROM audit), 0)) AS revision`,
  args: [],
}

/**
 * The newest audit row's id, also when rotation or an empty log left no row. The next row follows the greater of what
 * was given out and what there is (SQLite's AUTOINCREMENT), which differ only in a file that a start refuses.
 */
export function revisionOf(connection: Connection): number {
  return Number(connection.execute(REVISION).rows[0]?.revision)
}
