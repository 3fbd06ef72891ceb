// Reads all entries out of the database, chunk by chunk, and takes none whose row contradicts itself.

import type { Family } from "../core/address.ts"
import type { ListName } from "../core/entry.ts"
import type { Connection, Row } from "./connection.ts"
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
    const last = row?.last
    if (row === undefined || !(last instanceof ArrayBuffer)) return
    const records = recordsIn(row, list, family)
    // Asked before the records are handed over: a buffer that was transferred is empty here.
    const isLast = records.length < CHUNK_ROWS * recordSize(list, family)
    receive({ list, family, records })
    if (isLast) return
    after = new Uint8Array(last)
  }
}

function recordsIn(row: Row, list: ListName, family: Family): Uint8Array<ArrayBuffer> {
  const keys = bytesIn(row.keys)
  clearWrongKeys(keys, bytesIn(row.texts), family)
  return list === "perm" ? keys : withEnds(keys, bytesIn(row.ends), family)
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
    view.setUint32(record + from, end / 2 ** 32)
    view.setUint32(record + from + 4, end)
  }
  return records
}

function bytesIn(blob: unknown): Uint8Array<ArrayBuffer> {
  if (!(blob instanceof ArrayBuffer)) throw new Error("the database gave no bytes")
  return new Uint8Array(blob)
}
