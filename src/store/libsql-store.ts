// The store over one libSQL connection, in this thread. Each call blocks the thread until the database has answered.

import { statSync } from "node:fs"
import type { AuditDetail, AuditQuery, AuditRecord } from "../core/audit.ts"
import type { Change } from "../core/change.ts"
import type { PermanentEntry, TemporaryEntry } from "../core/entry.ts"
import { GateError } from "../core/errors.ts"
import type { Page } from "../core/page.ts"
import type { StoredToken, TokenUse } from "../core/token.ts"
import { toAuditDetail, toAuditRecord } from "./audit-row.ts"
import { Connection, type Row, type Statement } from "./connection.ts"
import { createDatabaseFile } from "./database-file.ts"
import { exportEntries } from "./export-entries.ts"
import { damaged, openFailure, statementFailure } from "./failures.ts"
import { importEntries } from "./import-entries.ts"
import { readSnapshot } from "./read-snapshot.ts"
import { APPLICATION_ID, MIGRATIONS, rotationTrigger, VERSION_STAMP } from "./schema.ts"
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
import * as tokenRows from "./token-rows.ts"
import type { Revoked, TokenStore } from "./token-store.ts"

/** Milliseconds to wait for a lock. Short, because whoever holds this file holds it for as long as it runs. */
const LOCK_TIMEOUT = 200

export class LibsqlStore implements Store, TokenStore {
  private opened: Connection | null = null
  private inode = 0
  private last: Promise<unknown> = Promise.resolve()

  constructor(private readonly config: StoreConfig) {}

  async open(now: number): Promise<Opened> {
    const { path } = this.config
    let created = false
    try {
      created = createDatabaseFile(path)
      this.opened = Connection.open(path, LOCK_TIMEOUT)
      this.takeOwnership()
      this.inode = statSync(path).ino
      if (!created) this.refuseForeign()
      this.setPragmas()
      this.migrate()
      this.connection.batch(sql.expireEnded(now))
      return { created }
    } catch (cause) {
      // Without what close() does: not even the log of a file that is refused may move.
      this.opened?.close()
      this.opened = null
      throw openFailure(path, cause)
    }
  }

  async commit(changes: readonly Change[]): Promise<Committed> {
    const plans = changes.map(sql.changeStatements)
    const statements: Statement[] = [sql.REVISION, ...plans.flatMap((plan) => plan.statements), sql.REVISION]
    const results = await this.inFile(() => this.connection.batch(statements))
    let at = 1
    const outcomes = plans.map(({ statements, outcome }) => {
      const own = results.slice(at, at + statements.length)
      at += statements.length
      return outcome(own)
    })
    return {
      before: Number(results[0]?.rows[0]?.revision),
      after: Number(results[at]?.rows[0]?.revision),
      outcomes,
    }
  }

  import(text: Uint8Array<ArrayBuffer>, options: ImportOptions): Promise<Imported> {
    return this.inFile(() => {
      const { connection } = this
      return connection.transaction(() => importEntries(connection, text, options))
    })
  }

  export(now: number, receive: (lines: Uint8Array<ArrayBuffer>) => void): Promise<void> {
    return this.inTurn(() => exportEntries(this.connection, now, receive))
  }

  snapshot(receive: (chunk: SnapshotChunk) => void): Promise<void> {
    return this.inTurn(() => readSnapshot(this.connection, receive))
  }

  listPermanent(page: Page): Promise<PermanentEntry[]> {
    return this.rows(sql.listPermanent(page), (row) => ({ ip: String(row.ip) }))
  }

  listTemporary(page: Page, now: number): Promise<TemporaryEntry[]> {
    return this.rows(sql.listTemporary(page, now), (row) => ({
      ip: String(row.ip),
      reason: String(row.reason ?? ""),
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
    const [oldest, newest, rows] = await this.inTurn(() =>
      sql.auditSlice(query).map((statement) => this.connection.execute(statement)),
    )
    const records = (rows?.rows ?? []).map((row) => ({ id: Number(row.id), record: toAuditRecord(row) }))
    return {
      oldest: Number(oldest?.rows[0]?.oldest),
      newest: Number(newest?.rows[0]?.revision),
      rows: query.after === null ? records.reverse() : records,
    }
  }

  tokens(): Promise<StoredToken[]> {
    return this.inTurn(() => tokenRows.readTokens(this.connection))
  }

  addToken(token: StoredToken): Promise<"added" | "conflict"> {
    return this.inFile(() => tokenRows.insertToken(this.connection, token))
  }

  revokeToken(name: string, at: number): Promise<Revoked> {
    return this.inFile(() => tokenRows.markRevoked(this.connection, name, at))
  }

  recordTokenUses(uses: readonly TokenUse[]): Promise<void> {
    return this.inFile(() => tokenRows.updateUses(this.connection, uses))
  }

  async ping(): Promise<void> {
    await this.inFile(() => this.connection.execute("SELECT 1"))
  }

  async probe(): Promise<void> {
    await this.inFile(() => {
      // The value that it has already: a transaction that reaches the disk and changes nothing.
      this.connection.batch([`PRAGMA user_version = ${MIGRATIONS.length}`])
    })
  }

  async close(): Promise<void> {
    // The log of the last changes goes into the file, so that the file alone is the whole database.
    const connection = this.opened
    this.opened = null
    if (connection === null) return
    try {
      connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    } catch {
      // It stays beside the file, and the next opening finds it there.
    }
    connection.close()
  }

  // In turn, and only while the file is the one that was opened.
  private inFile<T>(operation: () => T): Promise<T> {
    return this.inTurn(() => {
      this.checkFile()
      return operation()
    })
  }

  // What is written to a file that nobody can find any more is lost at the next start.
  private checkFile(): void {
    if (this.opened === null) throw new GateError("unavailable", "the database is not open")
    const { path } = this.config
    if (statSync(path, { throwIfNoEntry: false })?.ino === this.inode) return
    throw new GateError(
      "failed",
      "database failure: the database file was removed or replaced under the server",
      {
        cause: new Error(`${path} is another file now; restart to go on with what stands there`),
      },
    )
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

  // In this mode the lock that the next statement takes is kept until the process ends.
  private takeOwnership(): void {
    this.connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    this.connection.batch(["SELECT count(*) FROM sqlite_schema"])
  }

  // Asked before anything is written: a file that is not ours keeps every byte.
  private refuseForeign(): void {
    const { path } = this.config
    const applicationId = this.pragma("application_id")
    if (applicationId !== APPLICATION_ID) {
      throw new GateError("unavailable", `${path} is not an ipgate database; it was left as it is`, {
        hint: "give another path with --db",
      })
    }
    const version = Number(this.pragma("user_version"))
    if (version > MIGRATIONS.length) {
      throw new GateError(
        "unavailable",
        `${path} was written by a newer ipgate (schema ${version}; this one knows up to ${MIGRATIONS.length}); it was left as it is`,
        { hint: "install the newer version again, or restore a backup from before it" },
      )
    }
    if (this.pragma("quick_check(1)") !== "ok") throw damaged(path)
  }

  private setPragmas(): void {
    this.connection.execute("PRAGMA journal_mode = WAL")
    this.connection.execute("PRAGMA synchronous = FULL")
    const mode = [this.pragma("locking_mode"), this.pragma("journal_mode"), this.pragma("synchronous")]
    if (mode.join() !== "exclusive,wal,2") {
      throw new GateError("unavailable", `the database runs with ${mode.join()} in place of exclusive,wal,2`)
    }
  }

  // One transaction: a process killed in the middle leaves the old schema whole.
  private migrate(): void {
    const version = Number(this.pragma("user_version"))
    this.connection.batch([
      ...MIGRATIONS.slice(version).flat(),
      ...rotationTrigger(this.config.auditRows),
      ...VERSION_STAMP,
    ])
  }

  private pragma(name: string): unknown {
    const [row] = this.connection.execute(`PRAGMA ${name}`).rows
    return row === undefined ? undefined : Object.values(row)[0]
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
