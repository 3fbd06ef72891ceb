// The store: what the rest of the product may ask of a database. Nothing above this interface knows SQL.

import type { AuditQuery, AuditRecord } from "../core/audit.ts"
import type { Change, Outcome } from "../core/change.ts"
import type { PermanentEntry, TemporaryEntry } from "../core/entry.ts"
import type { Page } from "../core/page.ts"
import type { SnapshotChunk } from "./snapshot.ts"

/** Where the database is, and how it is opened. Plain data: it crosses a thread boundary. */
export type StoreConfig = {
  /** Path of the database file. It is created, with mode 0600, if it does not exist. */
  readonly path: string
  /** How many rows the audit log keeps. */
  readonly auditRows: number
}

/** What opening did: a new, empty database is worth a line in the log, because an empty list lets nobody in. */
export type Opened = { readonly created: boolean }

/**
 * What a transaction did. The revision is the id of the newest audit row, and each change that takes effect writes
 * exactly one row: with a database that other nodes write to, `before` tells whether their changes were missed.
 */
export type Committed = {
  readonly before: number
  readonly after: number
  readonly outcomes: readonly Outcome[]
}

/**
 * One database, owned by this process alone. Every method rejects with a `GateError`: `unavailable` if the database
 * is out of reach or held by another process, `failed` if it refused.
 */
export interface Store {
  /**
   * Opens, checks and migrates the database, and records every temporary entry that ended before `now`. A file that
   * is no ipgate database, is damaged, or comes from a newer version is refused and left as it was.
   */
  open(now: number): Promise<Opened>
  /**
   * Writes all changes in one transaction, in order, each with its audit row. A change that has no effect (a
   * permanent entry that exists, a removal of an absent one) is told by its outcome and does not disturb the others.
   */
  commit(changes: readonly Change[]): Promise<Committed>
  /** Hands over every entry of both lists, in chunks. */
  snapshot(receive: (chunk: SnapshotChunk) => void): Promise<void>
  listPermanent(page: Page): Promise<PermanentEntry[]>
  /** Entries that end after `now`. */
  listTemporary(page: Page, now: number): Promise<TemporaryEntry[]>
  audit(query: AuditQuery): Promise<AuditRecord[]>
  /** Fulfilled if the database answers. */
  ping(): Promise<void>
  close(): Promise<void>
}
