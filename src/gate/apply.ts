// Takes what the store has committed into the allowlist.

import type { Allowlist } from "../core/allowlist.ts"
import type { AuditRecord } from "../core/audit.ts"
import { type Change, hasTakenEffect } from "../core/change.ts"
import type { EndedEntries, EndedEntry } from "../core/ended-entries.ts"
import type { FeedEvent } from "../core/feed.ts"
import { othersFirst } from "../core/others-first.ts"
import { readPrefixes, recordSize, type SnapshotChunk } from "../store/snapshot.ts"
import type { Committed, Imported } from "../store/store.ts"

/** Entries that are taken over before decisions get their turn again: about a tenth of a millisecond. */
const SLICE = 200

/**
 * Takes over only what had an effect; and every expiry, because an entry that has ended and is not in the database any
 * more has nothing left to wait for. Returns the rows that the changes have written into the log, in their order.
 */
export function applyCommitted(
  allowlist: Allowlist,
  ended: EndedEntries,
  changes: readonly Change[],
  { before, outcomes }: Committed,
): FeedEvent[] {
  const events: FeedEvent[] = []
  let at = 0
  for (const change of changes) {
    const outcome = outcomes[at++]
    const took = outcome !== undefined && hasTakenEffect(outcome)
    if (took || change.op === "expire_temp") allowlist.apply(change)
    if (!took) continue
    // Each change that takes effect writes one row, and the ids of one transaction follow each other.
    const token = change.op === "expire_temp" ? undefined : change.token
    events.push({ kind: "change", id: before + events.length + 1, record: recordOf(change), token })
    if (outcome === "removed") ended.remember(change.network, endOf(change))
  }
  return events
}

function recordOf(change: Change): AuditRecord {
  const isAdded = change.op === "add_temp"
  return {
    at: change.at,
    action: change.op,
    ip: change.network.toString(),
    ttlSeconds: isAdded ? change.ttlSeconds : null,
    reason: isAdded ? change.reason : null,
    actor: change.op === "expire_temp" || change.by === null ? null : change.by.toString(),
  }
}

function endOf({ op, at }: Change): Omit<EndedEntry, "ip"> {
  return {
    list: op === "delete_perm" ? "perm" : "temp",
    endedAt: at,
    how: op === "expire_temp" ? "expired" : "removed",
  }
}

/**
 * Fulfilled when all of an import holds for decisions. Decisions go on meanwhile, in a pause after each slice, and
 * whoever is let in before and after it is let in throughout: what comes is taken over before what goes.
 */
export async function applyImported(
  allowlist: Allowlist,
  { present, absent }: Pick<Imported, "present" | "absent">,
  pause: () => Promise<void> = othersFirst,
): Promise<void> {
  for (const chunk of present) await inSlices(chunk, pause, (slice) => addChunk(allowlist, slice))
  for (const chunk of absent) await inSlices(chunk, pause, (slice) => removeChunk(allowlist, slice))
}

/** The same in one go, for an import whose caller has given up: changes that came after it must not be overtaken. */
export function applyLateImport(allowlist: Allowlist, { present, absent, after }: Imported): FeedEvent[] {
  for (const chunk of present) addChunk(allowlist, chunk)
  for (const chunk of absent) removeChunk(allowlist, chunk)
  return [{ kind: "reload", id: after }]
}

/** Adds the entries of a chunk; returns how many records were no network. */
export function addChunk(allowlist: Allowlist, chunk: SnapshotChunk): number {
  const learnedAt = allowlist.now()
  return readPrefixes(chunk, (network, expiresAt) => {
    if (chunk.list === "perm") allowlist.addPermanent(network)
    else allowlist.addTemporary(network, expiresAt, learnedAt)
  })
}

/** An import takes permanent entries off only. */
function removeChunk(allowlist: Allowlist, chunk: SnapshotChunk): void {
  readPrefixes(chunk, (network) => allowlist.removePermanent(network))
}

async function inSlices(
  chunk: SnapshotChunk,
  pause: () => Promise<void>,
  apply: (slice: SnapshotChunk) => void,
): Promise<void> {
  const { list, family, records } = chunk
  const bytes = SLICE * recordSize(list, family)
  for (let start = 0; start < records.length; start += bytes) {
    apply({ list, family, records: records.subarray(start, start + bytes) })
    await pause()
  }
}
