// The store over one libSQL connection, in this thread. Each call blocks the thread until the database has answered.

import type { AuditDetail, AuditQuery, AuditRecord } from "../core/audit.ts"
import type { Change } from "../core/change.ts"
import type { PermanentEntry, TemporaryEntry } from "../core/entry.ts"
import { GateError } from "../core/errors.ts"
import type { Page } from "../core/page.ts"
import type { StoredToken, TokenUse } from "../core/token.ts"
import { toAuditDetail, toAuditRecord } from "./audit-row.ts"
import { writeBackup } from "./backup.ts"
import { type Connection, pragma, type Row, type Statement } from "./connection.ts"
import { createDatabaseFile, removeLeftovers } from "./database-file.ts"
import { exportEntries } from "./export-entries.ts"
import { isDoubtful, openFailure, statementFailure } from "./failures.ts"
import { importEntries } from "./import-entries.ts"
import { OwnFiles } from "./own-files.ts"
import { emptyLog, emptyLogAtEnd, giveUpOwnership, takeOwnership } from "./ownership.ts"
import { readSnapshot } from "./read-snapshot.ts"
import { revisionOf } from "./revision.ts"
import { MIGRATIONS, rotationTrigger, VERSION_STAMP } from "./schema.ts"
import type { SnapshotChunk } from "./snapshot.ts"
import * as sql from "./statements.ts"
import type {
  AuditSlice,
  AuditSliceQuery,
  Committed,
  Imported,
  ImportOptions,
  Opened,
  Store,
  StoreConfig,
} from "./store.ts"
import { textOf } from "./stored-columns.ts"
import * as tokenRows from "./token-rows.ts"
import type { Revoked, TokenStore } from "./token-store.ts"
import { writeChanges } from "./write-changes.ts"

export class LibsqlStore implements Store, TokenStore {
  private opened: Connection | null = null
  private readonly files: OwnFiles
  private last: Promise<unknown> = Promise.resolve()
  /** The id of the newest audit row that was acknowledged. */
  private revision = 0
  /** True after a change whose failure leaves open what the disk holds. */
  private inDoubt = false
  /** Why this process cannot take any more changes. */
  private refusal: GateError | null = null

  constructor(private readonly config: StoreConfig) {
    this.files = new OwnFiles(config.path)
  }

  async open(now: number): Promise<Opened> {
    const { path } = this.config
    try {
      const created = createDatabaseFile(path)
      this.opened = takeOwnership(path, created)
      removeLeftovers(path)
      this.migrate()
      const ended = this.connection.batch(sql.expireEnded(now)).at(-1)?.rowsAffected ?? 0
      // What a killed process left in the log was perhaps never on the disk: it is written anew before more is promised.
      emptyLog(this.connection)
      this.revision = revisionOf(this.connection)
      this.files.remember()
      return { created, ended }
    } catch (cause) {
      this.opened?.close()
      this.opened = null
      throw openFailure(path, cause)
    }
  }

  commit(changes: readonly Change[]): Promise<Committed> {
    return this.change(
      () => this.connection.transaction(() => writeChanges(this.connection, this.revision, changes)),
      ({ after }) => after,
    )
  }

  import(text: Uint8Array<ArrayBuffer>, options: ImportOptions): Promise<Imported> {
    return this.change(
      () => {
        const { connection } = this
        return connection.transaction(() => importEntries(connection, text, options))
      },
      ({ after }) => after,
    )
  }

  export(now: number, receive: (lines: Uint8Array<ArrayBuffer>) => void): Promise<void> {
    return this.inTurn(() => exportEntries(this.connection, now, receive))
  }

  snapshot(receive: (chunk: SnapshotChunk) => void): Promise<void> {
    return this.inTurn(() => readSnapshot(this.connection, receive))
  }

  listPermanent(page: Page): Promise<PermanentEntry[]> {
    return this.rows(sql.listPermanent(page), (row) => ({ ip: textOf(row.ip) }))
  }

  listTemporary(page: Page, now: number): Promise<TemporaryEntry[]> {
    return this.rows(sql.listTemporary(page, now), (row) => ({
      ip: textOf(row.ip),
      reason: textOf(row.reason),
      expiresAt: Number(row.expires_at),
    }))
  }

  audit(query: AuditQuery): Promise<AuditRecord[]> {
    return this.rows(sql.auditRows(query), toAuditRecord)
  }

  auditDetail(query: AuditQuery): Promise<AuditDetail[]> {
    return this.rows(sql.auditRows(query), toAuditDetail)
  }

  async auditSlice(query: AuditSliceQuery): Promise<AuditSlice> {
    const { oldest, newest, rows } = await this.inTurn(() => ({
      oldest: Number(this.connection.execute(sql.OLDEST).rows[0]?.oldest),
      newest: revisionOf(this.connection),
      rows: this.connection.execute(sql.auditSlice(query)).rows,
    }))
    const records = rows.map((row) => ({ id: Number(row.id), record: toAuditRecord(row) }))
    return { oldest, newest, rows: query.after === null ? records.reverse() : records }
  }

  backUp(): Promise<string> {
    return this.inTurn(() => writeBackup(this.connection, this.config.path))
  }

  tokens(): Promise<StoredToken[]> {
    return this.inTurn(() => tokenRows.readTokens(this.connection))
  }

  addToken(token: StoredToken): Promise<"added" | "conflict"> {
    return this.change(() => tokenRows.insertToken(this.connection, token))
  }

  revokeToken(name: string, at: number): Promise<Revoked> {
    return this.change(() => tokenRows.markRevoked(this.connection, name, at))
  }

  recordTokenUses(uses: readonly TokenUse[]): Promise<void> {
    return this.change(() => tokenRows.updateUses(this.connection, uses))
  }

  async ping(): Promise<void> {
    await this.inTurn(() => {
      this.files.check()
      this.connection.execute("SELECT 1")
    })
  }

  async probe(): Promise<void> {
    // The value that it has already: a transaction that reaches the disk and changes nothing.
    await this.change(() => this.connection.batch([`PRAGMA user_version = ${MIGRATIONS.length}`]))
  }

  async close(): Promise<void> {
    const connection = this.opened
    this.opened = null
    if (connection === null) return
    try {
      this.files.check()
    } catch {
      // A file that is not ours any more is left as it is: even the driver's own closing would write to it. But our
      // log beside it would be read into it at the next start, and belongs into our own file, wherever that is now.
      if (this.files.isDisplaced) emptyLogAtEnd(connection)
      return
    } finally {
      this.files.forget()
    }
    // The log of the last changes goes into the file, so that the file alone is the whole database.
    emptyLogAtEnd(connection)
    connection.close()
  }

  // One after the other, also for a call that is made by whoever receives the pieces of an export.
  private inTurn<T>(operation: () => T): Promise<T> {
    const turn = this.last.then(() => attempt(operation))
    this.last = turn.catch(() => {})
    return turn
  }

  private get connection(): Connection {
    if (this.opened === null) throw new GateError("unavailable", "the database is not open")
    return this.opened
  }

  /** A change in its turn. After a failure that leaves doubt, none is tried until the file has proved itself. */
  private change<T>(operation: () => T, revisionOf: (value: T) => number = () => this.revision): Promise<T> {
    return this.inTurn(() => {
      if (this.refusal !== null) throw this.refusal
      const hasLog = this.files.check()
      if (this.inDoubt || !hasLog) this.reopen()
      try {
        const value = operation()
        this.revision = revisionOf(value)
        this.files.remember()
        return value
      } catch (cause) {
        if (isDoubtful(cause)) this.resolveDoubt()
        throw cause
      }
    })
  }

  // At once, so that a crash leaves nothing on the disk of which somebody was told that it failed.
  private resolveDoubt(): void {
    this.inDoubt = true
    try {
      this.reopen()
    } catch {
      // The next change, or the question whether the database works again, tries once more.
    }
  }

  /**
   * Throws away what a failed commit has left, opens the file anew, and compares it with what was acknowledged. As long
   * as the disk fails, this fails too.
   */
  private reopen(): void {
    this.inDoubt = true
    // Statements that nobody has finished would keep the old connection alive, and with it the lock.
    Bun.gc(true)
    try {
      if (this.opened !== null) {
        emptyLog(this.opened)
        giveUpOwnership(this.opened)
        this.opened = null
      }
      this.opened = this.takenAnew()
    } finally {
      // Also where that ends midway: what was written until then is our own, and no other program's.
      this.files.remember()
    }
    const revision = revisionOf(this.connection)
    if (revision !== this.revision) {
      this.refusal = new GateError(
        "failed",
        "database failure: the file does not hold what was acknowledged; changes fail until a restart",
        { cause: new Error(`the newest record is ${revision} in place of ${this.revision}`) },
      )
      throw this.refusal
    }
    this.inDoubt = false
  }

  private takenAnew(): Connection {
    try {
      return takeOwnership(this.config.path, false)
    } catch (cause) {
      const { message } = openFailure(this.config.path, cause)
      throw new GateError("failed", `database failure: ${message}`, { cause })
    }
  }

  // One transaction: a process killed in the middle leaves the old schema whole.
  private migrate(): void {
    const version = Number(pragma(this.connection, "user_version"))
    this.connection.batch([
      ...MIGRATIONS.slice(version).flat(),
      ...rotationTrigger(this.config.auditRows),
      ...VERSION_STAMP,
    ])
  }

  private async rows<T>(statement: Statement, map: (row: Row) => T): Promise<T[]> {
    const result = await this.inTurn(() => this.connection.execute(statement))
    return result.rows.map(map)
  }
}

function attempt<T>(operation: () => T): T {
  try {
    return operation()
  } catch (cause) {
    throw statementFailure(cause)
  }
}
