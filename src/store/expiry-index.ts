// The index of the ends beside the table that it is of: an end and a key stand in these two places, and nowhere else.

import type { Connection, Statement } from "./connection.ts"
import { keySize } from "./entry-key.ts"

const CHUNK_ROWS = 50_000
const NEWLINE = 10

/** Where a scan goes on: after this end and this key. */
type Position = readonly [end: number, key: Uint8Array]

const START: Position = [-1, new Uint8Array()]

/** A sum over records that does not depend on their order, and the last of them. */
type Chunk = { readonly rows: number; readonly sum: number; readonly last: Position }

// One row for many records, because that crosses the driver far faster; as a blob, because the bytes are no text.
const CHUNK = "SELECT count(*) AS rows, CAST(group_concat(key || expires_at, '\n') AS BLOB) AS records"

function chunkOfTable([, key]: Position): Statement {
  return {
    sql: `${CHUNK} FROM (SELECT key, expires_at FROM temporary INDEXED BY sqlite_autoindex_temporary_1
                         WHERE key > ? ORDER BY key LIMIT ${CHUNK_ROWS})`,
    args: [key],
  }
}

function chunkOfIndex([end, key]: Position): Statement {
  return {
    sql: `${CHUNK} FROM (SELECT key, expires_at FROM temporary INDEXED BY temporary_by_expiry
                         WHERE (expires_at, key) > (?, ?) ORDER BY expires_at, key LIMIT ${CHUNK_ROWS})`,
    args: [end, key],
  }
}

/**
 * Whether the index `temporary_by_expiry` holds the entries of the table, each with its end: a different byte in either is
 * noticed, and anything else but once in four thousand million times. The keys of the table have to be ones that are
 * found. SQLite's own check looks up every row in the index, which takes ten times as long.
 */
export function expiryIndexAgrees(connection: Connection): boolean {
  const table = sumOf(connection, chunkOfTable)
  return table !== null && table === sumOf(connection, chunkOfIndex)
}

/** `null` if not all rows can be read one after the other. */
function sumOf(connection: Connection, chunkAfter: (after: Position) => Statement): number | null {
  let left = Number(connection.execute("SELECT count(*) AS rows FROM temporary").rows[0]?.rows)
  let sum = 0
  let after = START
  while (left > 0) {
    const [row] = connection.execute(chunkAfter(after)).rows
    if (!(row?.records instanceof ArrayBuffer)) return null
    const chunk = readRecords(new Uint8Array(row.records))
    // Rows that are out of order could come again and again.
    if (chunk.rows !== row.rows || chunk.rows > left) return null
    left -= chunk.rows
    sum = (sum + chunk.sum) >>> 0
    after = chunk.last
  }
  const [beyond] = connection.execute(chunkAfter(after)).rows
  return beyond?.rows === 0 ? sum : null
}

/** A record is a key and the digits of its end. */
function readRecords(bytes: Uint8Array<ArrayBuffer>): Chunk {
  let rows = 0
  let sum = 0
  let from = 0
  let digits = 0
  for (let at = 0; at < bytes.length; at++) {
    from = at
    digits = at + keySize(bytes[at] === 6 ? 6 : 4)
    // FNV-1a: each step can be undone, so that one different byte always makes a different number.
    let hash = 0x811c9dc5
    while (at < bytes.length && (at < digits || bytes[at] !== NEWLINE)) {
      hash = Math.imul(hash ^ (bytes[at++] ?? 0), 0x01000193)
    }
    sum = (sum + spread(hash)) >>> 0
    rows++
  }
  const end = Number(Buffer.from(bytes.buffer, digits).toString("latin1"))
  return { rows, sum, last: [end, bytes.slice(from, digits)] }
}

/** One number for each. Without it two small differences of two records could cancel each other. */
function spread(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}
