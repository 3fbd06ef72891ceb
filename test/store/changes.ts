// Changes and their audit records, as the tests of the store write them.

import type { AuditRecord } from "../../src/core/audit.ts"
import type { Change } from "../../src/core/change.ts"
import type { TemporaryEntry } from "../../src/core/entry.ts"
import type { Store } from "../../src/store/store.ts"
import { address, network } from "../support/parsed.ts"

/** When the changes happen, unless a test says otherwise. */
export const NOW = Date.UTC(2026, 4, 17, 13, 5, 2, 123)

export const CLIENT = "198.51.100.7"

const BY = address(CLIENT)

type When = { readonly at?: number }

export function addPermanent(ip: string, { at = NOW }: When = {}): Change {
  return { op: "add_perm", network: network(ip), at, by: BY }
}

export function deletePermanent(ip: string, { at = NOW }: When = {}): Change {
  return { op: "delete_perm", network: network(ip), at, by: BY }
}

export function addTemporary(
  ip: string,
  { at = NOW, ttlSeconds = 60, expiresAt = at + ttlSeconds * 1000, reason = null }: AddTemporary = {},
): Change {
  return { op: "add_temp", network: network(ip), at, by: BY, ttlSeconds, expiresAt, reason }
}

type AddTemporary = When & {
  readonly ttlSeconds?: number
  readonly expiresAt?: number
  readonly reason?: string | null
}

export function deleteTemporary(ip: string, { at = NOW }: When = {}): Change {
  return { op: "delete_temp", network: network(ip), at, by: BY }
}

/** An expiry that saw the end at `expiresAt`. */
export function expireTemporary(ip: string, expiresAt: number): Change {
  return { op: "expire_temp", network: network(ip), at: expiresAt, expiresAt }
}

/** The one record that a change writes when it takes effect. */
export function recordOf(change: Change): AuditRecord {
  const temporary = change.op === "add_temp" ? change : null
  return {
    at: change.at,
    action: change.op,
    ip: change.network.toString(),
    ttlSeconds: temporary === null ? null : temporary.ttlSeconds,
    reason: temporary === null ? null : temporary.reason,
    actor: change.op === "expire_temp" || change.by === null ? null : change.by.toString(),
  }
}

const EVERYTHING = { limit: 1_000_000, offset: 0 }

/** The whole log, oldest first. */
export async function logOf(store: Store): Promise<AuditRecord[]> {
  return (await store.audit(EVERYTHING)).reverse()
}

/** The texts of the permanent list, in its order. */
export async function permanentOf(store: Store): Promise<string[]> {
  return (await store.listPermanent(EVERYTHING)).map(({ ip }) => ip)
}

/** Every temporary entry, whenever it ends. */
export function temporaryOf(store: Store): Promise<TemporaryEntry[]> {
  return store.listTemporary(EVERYTHING, -1)
}
