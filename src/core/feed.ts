// The feed of changes: what a follower is told, and from where on.

import type { AuditAction, AuditRecord } from "./audit.ts"
import type { Network } from "./network.ts"

/**
 * - `change`: a row of the audit log, with its id; `token` names who did it, for the server's own log.
 * - `reload`: more has happened than can be told one by one; whoever shows the lists must read them again.
 * - `at`: everything up to this id has been told. Comes after the replay, and again whenever nothing else came for a while.
 */
export type FeedEvent =
  | {
      readonly kind: "change"
      readonly id: number
      readonly record: AuditRecord
      readonly token?: string | undefined
    }
  | { readonly kind: "reload"; readonly id: number }
  | { readonly kind: "at"; readonly id: number }

/** From the row after an id, or from the newest rows on: `tail` of them. */
export type FeedStart = { readonly after: number } | { readonly tail: number }

/** Only these rows; a name that is missing does not narrow. */
export type FeedFilter = { readonly action?: AuditAction; readonly network?: Network }

export function matches({ action, network }: FeedFilter, record: AuditRecord): boolean {
  return (
    (action === undefined || record.action === action) &&
    (network === undefined || record.ip === network.toString())
  )
}
