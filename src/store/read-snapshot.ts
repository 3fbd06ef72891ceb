// Reads all entries out of the database, chunk by chunk, and takes none whose row contradicts itself.

import type { Family } from "../core/address.ts"
import type { ListName } from "../core/entry.ts"
import type { Connection } from "./connection.ts"
import { clearWrongKeys } from "./contradictions.ts"
import { keySize } from "./entry-key.ts"
import { recordSize, type SnapshotChunk } from "./snapshot.ts"
import { snapshotChunk } from "./statements.ts"

const CHUNK_ROWS = 50_000
const NEWLINE = 10
const ZERO = 48

export function readSnapshot(connection: Connection, receive: (chunk: SnapshotChunk) => void): void {
  for (const list of ["perm", "temp"] as const) {
    for (const family of [4, 6] as const) readList(connection, list, family, receive)
  }
}

/** Gives the entries of a list in chunks of whole records. A row that contradicts itself comes as a record of zeros. */
export function readList(
  connection: Connection,
  list: ListName,
  family: Family,
  receive: (chunk: SnapshotChunk) => void,
): void {
  // Keys begin with the family, so this is just before the first key of the family.
  let after = new Uint8Array([family])
  for (;;) {
    const [row] = connection.execute(snapshotChunk(list, family, after, CHUNK_ROWS)).rows
    if (row?.count === 0) return
    const keys = bytesIn(row?.keys)
    const count = keys.length / keySize(family)
    if (row?.count !== count) throw new Error("the database did not give every key")
    // Copied before the keys are cleared and handed over. SQLite promises no order for what it concatenates, but none of
    // these keys comes after any of the next chunk: whichever is the last here, no entry is passed over.
    after = keys.slice(-keySize(family))
    clearWrongKeys(keys, bytesIn(row.texts), family)
    receive({ list, family, records: list === "perm" ? keys : withEnds(keys, bytesIn(row.ends), family) })
    if (count < CHUNK_ROWS) return
  }
}

/** Puts behind each key the end that stands on its line. */
function withEnds(keys: Uint8Array, ends: Uint8Array, family: Family): Uint8Array<ArrayBuffer> {
  const from = keySize(family)
  const size = recordSize("temp", family)
  const records = new Uint8Array((keys.length / from) * size)
  const view = new DataView(records.buffer)
  let at = 0
  for (let key = 0, record = 0; key < keys.length; key += from, record += size) {
    for (let i = 0; i < from; i++) records[record + i] = keys[key + i] ?? 0
    let end = 0
    for (let digit = ends[at++]; digit !== undefined && digit !== NEWLINE; digit = ends[at++]) {
      end = end * 10 + digit - ZERO
    }
    view.setFloat64(record + from, end)
  }
  return records
}

function bytesIn(blob: unknown): Uint8Array<ArrayBuffer> {
  if (!(blob instanceof ArrayBuffer)) throw new Error("the database gave no bytes")
  return new Uint8Array(blob)
}
