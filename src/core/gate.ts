// The gate: everything that an operator can do to the two lists, and all that can be asked of them.

import type { AuditDetail, AuditQuery, AuditRecord } from "./audit.ts"
import type { EndedEntry } from "./ended-entries.ts"
import type { ListName, PermanentEntry, TemporaryEntry, TemporaryGrant } from "./entry.ts"
import type { FeedEvent, FeedFilter, FeedStart } from "./feed.ts"
import type { Network } from "./network.ts"
import type { Page } from "./page.ts"
import type { Status } from "./status.ts"

/** An active entry that contains all of what was asked about. `expiresAt` is `null` for a permanent one. */
export type Match = { readonly list: ListName; readonly ip: string; readonly expiresAt: number | null }

/**
 * Whether a network is let in, and by which entries: permanent before temporary, then the narrowest first. The
 * first match is the one that decided.
 */
export type Coverage = { readonly allowed: boolean; readonly matches: readonly Match[] }

/** What an import did. `ended` are temporary entries of the bulk whose time had passed: they are left out. */
export type ImportCounts = {
  readonly added: number
  readonly replaced: number
  readonly unchanged: number
  readonly removed: number
  readonly duplicates: number
  readonly ended: number
}

/** With `prune`, permanent entries that the bulk does not name are removed, but never more than `maxRemovals`. */
export type ImportRequest = {
  readonly lines: Uint8Array<ArrayBuffer>
  readonly prune: { readonly maxRemovals: number } | null
}

/** A refused client, and the entry that let it in last, if one has ended lately. */
export type RefusedEntry = {
  readonly ip: string
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  readonly lastEntry: EndedEntry | null
}

/** `unidentified` is part of `denied`: an untrusted peer, or an address that is absent or malformed. */
export type DecisionCounts = {
  readonly allowed: number
  readonly denied: number
  readonly unidentified: number
}

/**
 * The one door to the lists, for the HTTP handlers and for the command line, on-line and off-line. When a promise
 * of a change is fulfilled, the change is durable, is in the audit log, and holds for the next decision. Every
 * method may reject with a `GateError`: `unavailable` or `failed` for a database or server out of order,
 * `unauthorized` where a token is asked for, `forbidden` where the token is not good for that.
 */
export interface Gate {
  /** Rejects with `conflict` if the entry is there. */
  addPermanent(network: Network): Promise<"added">
  /** An absent entry is no error, and nothing is recorded for it. */
  removePermanent(network: Network): Promise<"removed" | "absent">
  /** IPv4 before IPv6, then by address, then by prefix length. */
  listPermanent(page: Page): Promise<PermanentEntry[]>

  /** An active entry gets the new lifetime and reason: `replaced`. */
  addTemporary(grant: TemporaryGrant): Promise<{ result: "added" | "replaced"; expiresAt: number }>
  removeTemporary(network: Network): Promise<"removed" | "absent">
  /** Active entries only, the soonest to end first. */
  listTemporary(page: Page): Promise<TemporaryEntry[]>

  /**
   * Many entries at once, as the lines of `core/entry-line.ts`: all or nothing. Rejects with `invalid`, naming each
   * bad line, before anything is changed. The bytes belong to the gate from here on.
   */
  import(request: ImportRequest): Promise<ImportCounts>
  /** Both lists as the same lines, in pieces, from one consistent state. */
  export(): AsyncIterable<Uint8Array>

  /**
   * The whole database as a file, from one consistent state: both lists, the log, and what else is kept. Rejects with
   * `failed` if it does not come whole.
   */
  backup(): AsyncIterable<Uint8Array>

  /**
   * Every change from a place in the log on, as it is committed, and never twice. Ends when `signal` is aborted, when
   * the server stops, or when the reader is too slow; ask again after the last id to miss nothing.
   */
  follow(start: FeedStart, filter: FeedFilter, signal: AbortSignal): AsyncIterable<FeedEvent>
  /** Clients that were refused lately, the last one first. Only the server that decides knows any. */
  refused(page: Page): Promise<RefusedEntry[]>
  /** How many decisions there were since the start of the server. */
  decisions(): Promise<DecisionCounts>

  /** Newest first. */
  audit(query: AuditQuery): Promise<AuditRecord[]>
  /** The same rows, with who did it. */
  auditDetail(query: AuditQuery): Promise<AuditDetail[]>
  check(network: Network): Promise<Coverage>
  status(): Promise<Status>
}
