// All entries in chunks of fixed-width records: written beside the database, handed over without a copy, read in memory.

import type { Family } from "../core/address.ts"
import type { ListName } from "../core/entry.ts"
import { Network, type Prefix } from "../core/network.ts"
import { KeyReader, keySize } from "./entry-key.ts"

/** Entries of one list and one family. A record is the key and, on the temporary list, eight bytes of expiry. */
export type SnapshotChunk = {
  readonly list: ListName
  readonly family: Family
  readonly records: Uint8Array<ArrayBuffer>
}

/** Bytes of a record. */
export function recordSize(list: ListName, family: Family): number {
  return keySize(family) + (list === "temp" ? 8 : 0)
}

/**
 * Calls `visit` for each entry; `expiresAt` is 0 on the permanent list. Records that are no network are not visited
 * but counted in the result: a bad row must neither widen the list nor stop the server.
 */
export function readChunk(
  chunk: SnapshotChunk,
  visit: (network: Network, expiresAt: number) => void,
): number {
  return readPrefixes(chunk, (prefix, expiresAt) => {
    // Only the numbers of networks are visited.
    visit(Network.ofPrefix(prefix) as Network, expiresAt)
  })
}

/**
 * The same without an object for each entry: `visit` gets one and the same, which holds the numbers of each in turn, and
 * must not keep it.
 */
export function readPrefixes(
  { list, family, records }: SnapshotChunk,
  visit: (network: Prefix, expiresAt: number) => void,
): number {
  const size = recordSize(list, family)
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  const key = new KeyReader(view, family)
  let bad = 0
  for (let offset = 0; offset + size <= records.length; offset += size) {
    if (key.read(offset)) visit(key, list === "temp" ? endAt(view, offset + size - 8) : 0)
    else bad++
  }
  return bad
}

/** A signed number of eight bytes, without the bigint that a `DataView` makes of it. */
function endAt(view: DataView, offset: number): number {
  return view.getInt32(offset) * 2 ** 32 + view.getUint32(offset + 4)
}
