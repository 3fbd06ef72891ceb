// The audit log: what happened to the two lists.

import type { Network } from "./network.ts"
import type { Page } from "./page.ts"

export const AUDIT_ACTIONS = ["add_temp", "delete_temp", "add_perm", "delete_perm", "expire_temp"] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

export function isAuditAction(text: string): text is AuditAction {
  return (AUDIT_ACTIONS as readonly string[]).includes(text)
}

/** The log keeps this many rows; the database itself deletes older ones. */
export const AUDIT_LOG_ROWS = 200_000

/** One row of the log. `at` is milliseconds since 1970; texts are canonical addresses. */
export type AuditRecord = {
  readonly at: number
  readonly action: AuditAction
  readonly ip: string | null
  readonly ttlSeconds: number | null
  readonly reason: string | null
  readonly actor: string | null
}

/** The same with its id and the name of the token that did it; `null` where there was none, as for an expiry. */
export type AuditDetail = AuditRecord & { readonly id: number; readonly token: string | null }

/** Which rows, newest first. */
export type AuditQuery = Page & { readonly action?: AuditAction; readonly network?: Network }
