// All entries in chunks of fixed-width records: written beside the database, handed over without a copy, read in memory.

import type { Family } from "../core/address.ts"
import type { ListName } from "../core/entry.ts"
import { Network, type Prefix } from "../core/network.ts"
import { KeyReader, keySize } from "./entry-key.ts"

/** Entries of one list and one family. A record is the key and, on the temporary list, a double with the expiry. */
export type SnapshotChunk = {
  readonly list: ListName
  readonly family: Family
  readonly records: Uint8Array<ArrayBuffer>
}

/** Bytes of the expiry, the last ones of a record. A double, because the runtime is slow with other numbers of eight bytes. */
export const END_SIZE = 8

/** Bytes of a record. */
export function recordSize(list: ListName, family: Family): number {
  return keySize(family) + (list === "temp" ? END_SIZE : 0)
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
    if (key.read(offset)) visit(key, list === "temp" ? view.getFloat64(offset + size - END_SIZE) : 0)
    else bad++
  }
  return bad
}
