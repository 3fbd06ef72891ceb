// Reads all entries out of the database, in chunks.

import type { Family } from "../core/address.ts"
import type { ListName } from "../core/entry.ts"
import type { Connection } from "./connection.ts"
import { recordSize, type SnapshotChunk } from "./snapshot.ts"
import { snapshotChunk } from "./statements.ts"

const CHUNK_ROWS = 50_000

export function readSnapshot(connection: Connection, receive: (chunk: SnapshotChunk) => void): void {
  for (const list of ["perm", "temp"] as const) {
    for (const family of [4, 6] as const) readList(connection, list, family, receive)
  }
}

export function readList(
  connection: Connection,
  list: ListName,
  family: Family,
  receive: (chunk: SnapshotChunk) => void,
): void {
  let after: Uint8Array = new Uint8Array([family])
  for (;;) {
    const row = connection.execute(snapshotChunk(list, family, after, CHUNK_ROWS)).rows[0]
    const text = row?.records
    const last = row?.last
    if (typeof text !== "string" || !(last instanceof ArrayBuffer)) return
    const records = new Uint8Array(text.length / 2)
    records.set(Buffer.from(text, "hex"))
    // Asked before the records are handed over: a buffer that was transferred is empty here.
    const isLast = records.length < CHUNK_ROWS * recordSize(list, family)
    receive({ list, family, records })
    if (isLast) return
    after = new Uint8Array(last)
  }
}
