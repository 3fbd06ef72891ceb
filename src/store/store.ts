// The store: what the rest of the product may ask of a database. Nothing above this interface knows SQL.

import type { AuditDetail, AuditQuery, AuditRecord } from "../core/audit.ts"
import type { Actor, Change, Outcome } from "../core/change.ts"
import type { PermanentEntry, TemporaryEntry } from "../core/entry.ts"
import type { FeedFilter } from "../core/feed.ts"
import type { ImportCounts } from "../core/gate.ts"
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
/** `ended` is how many temporary entries had ended meanwhile, and have been recorded and removed. */
export type Opened = { readonly created: boolean; readonly ended: number }

/**
 * What a transaction did: the ids of the newest audit row before and after it. Each change that takes effect writes
 * exactly one row, and the ids of these rows follow each other.
 */
export type Committed = {
  readonly before: number
  readonly after: number
  readonly outcomes: readonly Outcome[]
}

/** `at` is milliseconds since 1970. With `prune`, permanent entries that the bulk lacks are removed, up to a number. */
export type ImportOptions = {
  readonly at: number
  readonly by: Actor
  readonly token?: string | undefined
  readonly prune: { readonly maxRemovals: number } | null
}

/** What an import did, and the entries that are on the lists, or off them, because of it. */
export type Imported = ImportCounts & {
  /** The ids of the newest audit row before and after. */
  readonly before: number
  readonly after: number
  readonly present: readonly SnapshotChunk[]
  readonly absent: readonly SnapshotChunk[]
}

/** Up to `limit` rows after the id `after`, or with `null` the newest ones. */
export type AuditSliceQuery = FeedFilter & { readonly after: number | null; readonly limit: number }

/** `oldest` and `newest` are the ids of the whole log: what is before `oldest` is gone. */
export type AuditSlice = {
  readonly oldest: number
  readonly newest: number
  readonly rows: ReadonlyArray<{ readonly id: number; readonly record: AuditRecord }>
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
  /**
   * Writes a bulk of entry lines (see `core/entry-line.ts`) in one transaction: all or nothing. Rejects with
   * `invalid`, naming the bad lines, before anything is changed.
   */
  import(text: Uint8Array<ArrayBuffer>, options: ImportOptions): Promise<Imported>
  /** Hands over both lists as entry lines, in pieces of one consistent state; entries that end after `now`. */
  export(now: number, receive: (lines: Uint8Array<ArrayBuffer>) => void): Promise<void>
  /** Hands over every entry of both lists, in chunks. */
  snapshot(receive: (chunk: SnapshotChunk) => void): Promise<void>
  /**
   * Writes a consistent copy of the whole database, for the owner alone, into a new folder beside it, and returns the
   * path of the copy. The folder is the caller's to remove; what a killed process has left is removed by `open`.
   */
  backUp(): Promise<string>
  listPermanent(page: Page): Promise<PermanentEntry[]>
  /** Entries that end after `now`. */
  listTemporary(page: Page, now: number): Promise<TemporaryEntry[]>
  audit(query: AuditQuery): Promise<AuditRecord[]>
  /** The same rows, with their ids and the tokens that they were written for. */
  auditDetail(query: AuditQuery): Promise<AuditDetail[]>
  /** Rows of the log with their ids, the oldest first: those after an id, or the newest ones. */
  auditSlice(query: AuditSliceQuery): Promise<AuditSlice>
  /** Fulfilled if the database answers. */
  ping(): Promise<void>
  /** Fulfilled if the database takes a change, tried with one that has no effect. */
  probe(): Promise<void>
  close(): Promise<void>
}
