// Writes a whole bulk of entries in one transaction, with an audit row for each change.

import { tooManyRemovals } from "../core/too-many-removals.ts"
import { Bulk } from "./bulk.ts"
import type { Connection, Result, Statement } from "./connection.ts"
import { entryKey } from "./entry-key.ts"
import { readSnapshot } from "./read-snapshot.ts"
import { revisionOf } from "./revision.ts"
import { readChunk } from "./snapshot.ts"
import { SortedNetworks } from "./sorted-networks.ts"
import { addPermanentRows, addTemporaryRows, expireEnded, removePermanentKeys } from "./statements.ts"
import type { Imported, ImportOptions } from "./store.ts"
import type { TemporaryLine } from "./temporary-lines.ts"

/** Rows that one statement takes as JSON: enough that a statement's own cost no longer counts. */
const BATCH = 5_000
const COLLECT_EVERY = 10

/** To be run in a connection. Throws `invalid`, before any change, if a line is no entry or if pruning would remove more than it may. */
export function importEntries(connection: Connection, text: Uint8Array, options: ImportOptions): Imported {
  const before = revisionOf(connection)
  const bulk = new Bulk(text, options.at)
  // A million parsed lines leave a hundred megabytes of garbage, which nothing else would clear before the peak.
  Bun.gc(true)
  run(connection, expireEnded(options.at))
  const removed = prune(connection, bulk, options)
  const added = addPermanent(connection, bulk, options)
  const replaced = addTemporary(connection, bulk, options)
  return {
    before,
    after: revisionOf(connection),
    added: added + bulk.temporary.length - replaced,
    replaced,
    unchanged: bulk.permanent.length - added,
    removed: removed.length,
    duplicates: bulk.duplicates,
    ended: bulk.ended,
    present: [...bulk.permanent.chunks(), ...bulk.temporary.chunks()],
    absent: removed.chunks(),
  }
}

/** Takes every permanent entry off that the bulk does not name, if that was asked for. */
function prune(connection: Connection, bulk: Bulk, options: ImportOptions): SortedNetworks {
  const removed = new SortedNetworks()
  const { prune } = options
  if (prune === null) return removed
  readSnapshot(connection, (chunk) => {
    if (chunk.list !== "perm") return
    readChunk(chunk, (network) => {
      if (!bulk.hasPermanent(network)) removed.add(network)
    })
  })
  const refusal = tooManyRemovals(removed.length, prune)
  if (refusal !== null) throw refusal
  for (const networks of tidily(removed.batches(BATCH))) {
    run(connection, removePermanentKeys(networks.map(hexKey), options))
  }
  return removed
}

/** How many were not there before. */
function addPermanent(connection: Connection, bulk: Bulk, options: ImportOptions): number {
  let added = 0
  for (const networks of tidily(bulk.permanent.batches(BATCH))) {
    const rows = networks.map((network) => [hexKey(network), network.toString()] as const)
    const [, inserted] = run(connection, addPermanentRows(rows, options))
    added += inserted?.rowsAffected ?? 0
  }
  return added
}

/** How many took the place of an earlier entry. */
function addTemporary(connection: Connection, bulk: Bulk, options: ImportOptions): number {
  let replaced = 0
  for (const lines of tidily(bulk.temporary.batches(BATCH))) {
    const rows = lines.map((line) => temporaryRow(line, options.at))
    const [, removed] = run(connection, addTemporaryRows(rows, options))
    replaced += removed?.rowsAffected ?? 0
  }
  return replaced
}

/** A batch leaves megabytes of texts behind; left alone they would double the memory of a large import. */
function* tidily<Batch>(batches: Iterable<Batch>): Generator<Batch> {
  let count = 0
  for (const batch of batches) {
    if (++count % COLLECT_EVERY === 0) Bun.gc(true)
    yield batch
  }
}

function run(connection: Connection, statements: readonly Statement[]): Result[] {
  return statements.map((statement) => connection.execute(statement))
}

function temporaryRow({ network, until, reason }: TemporaryLine, at: number) {
  return [hexKey(network), network.toString(), until, Math.ceil((until - at) / 1000), reason] as const
}

function hexKey(network: Parameters<typeof entryKey>[0]): string {
  return entryKey(network).toHex()
}
