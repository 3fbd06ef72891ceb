// The store in a thread of its own. The main thread holds no database code, and no call to the database can stall it.

import { rm } from "node:fs/promises"
import { dirname } from "node:path"
import type { AuditDetail, AuditQuery, AuditRecord } from "../core/audit.ts"
import type { Change } from "../core/change.ts"
import type { PermanentEntry, TemporaryEntry } from "../core/entry.ts"
import { GateError } from "../core/errors.ts"
import type { Page } from "../core/page.ts"
import type { StoredToken, TokenUse } from "../core/token.ts"
import { type Call, PendingCalls, type Piece } from "./pending-calls.ts"
import {
  type Operation,
  type Operations,
  type Reply,
  toChangeMessage,
  toImportOptionsMessage,
  toQueryMessage,
} from "./protocol.ts"
import type { SnapshotChunk } from "./snapshot.ts"
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
import type { Revoked, TokenStore } from "./token-store.ts"

/** Milliseconds that the thread may take for a call until its caller is told that the database does not answer. */
const CALL_DEADLINE = 5_000
/** Opening may migrate, check and tidy; a snapshot reads everything. */
const LONG_DEADLINE = 300_000

type CallOptions<Answer> = {
  readonly deadline?: number
  /** True: the deadline runs from now on, whatever the thread is at work on. */
  readonly fromNow?: boolean
  /** Told the answer if it comes after the deadline. */
  readonly late?: (answer: Answer) => void
  readonly piece?: (piece: Piece) => void
  /** Buffers that are handed over and not copied. */
  readonly transfer?: ArrayBuffer[]
}

export type ThreadStoreOptions = {
  /** Told about a commit whose caller has given up, when its answer comes after all. */
  readonly onLateCommit?: (changes: readonly Change[], committed: Committed) => void
  readonly onLateImport?: (imported: Imported) => void
  /** Milliseconds that the thread may take for a call; the default is 5,000. */
  readonly callDeadline?: number
  /** The same for an import, an export or a backup; the default is 300,000. */
  readonly longDeadline?: number
}

/**
 * `Store` over a worker thread. A call that is not answered in time (`PendingCalls` says from when that runs) rejects
 * with `unavailable`; the change may still take effect, and when its answer comes it is passed to `onLateCommit`, so
 * that memory never misses a commit. If the thread is lost every call rejects; it is not started again, because the file
 * stays locked until the process ends.
 */
export class ThreadStore implements Store, TokenStore {
  private readonly worker: Worker
  private readonly pending = new PendingCalls()
  private lost: GateError | null = null

  constructor(
    private readonly config: StoreConfig,
    private readonly options: ThreadStoreOptions = {},
  ) {
    this.worker = new Worker(
      Bun.isStandaloneExecutable
        ? "./src/store/worker.ts" // an entry point of the build, named as the build script names it
        : new URL("./worker.ts", import.meta.url).href,
      { smol: true },
    )
    this.worker.onmessage = ({ data }: MessageEvent<Reply>) => this.pending.receive(data)
    this.worker.onerror = (event) => this.lose(event.message)
    this.worker.addEventListener("close", () => this.lose("it ended"))
  }

  open(now: number): Promise<Opened> {
    return this.call("open", { config: this.config, now }, { deadline: LONG_DEADLINE })
  }

  commit(changes: readonly Change[]): Promise<Committed> {
    const late = (committed: Committed) => this.options.onLateCommit?.(changes, committed)
    return this.call("commit", { changes: changes.map(toChangeMessage) }, { late })
  }

  import(text: Uint8Array<ArrayBuffer>, options: ImportOptions): Promise<Imported> {
    return this.call(
      "import",
      { text, options: toImportOptionsMessage(options) },
      {
        deadline: this.longDeadline,
        late: (imported) => this.options.onLateImport?.(imported),
        transfer: [text.buffer],
      },
    )
  }

  async export(now: number, receive: (lines: Uint8Array<ArrayBuffer>) => void): Promise<void> {
    const piece = (value: Piece) => {
      if (value instanceof Uint8Array) receive(value)
    }
    await this.call("export", { now }, { deadline: this.longDeadline, piece })
  }

  async snapshot(receive: (chunk: SnapshotChunk) => void): Promise<void> {
    const piece = (value: Piece) => {
      if (!(value instanceof Uint8Array)) receive(value)
    }
    await this.call("snapshot", {}, { deadline: LONG_DEADLINE, piece })
  }

  backUp(): Promise<string> {
    // Nobody waits for the copy any more. If it cannot be removed, the next start does it.
    const late = (path: string) => void rm(dirname(path), { recursive: true, force: true }).catch(() => {})
    return this.call("backUp", {}, { deadline: this.longDeadline, late })
  }

  listPermanent(page: Page): Promise<PermanentEntry[]> {
    return this.call("listPermanent", { page })
  }

  listTemporary(page: Page, now: number): Promise<TemporaryEntry[]> {
    return this.call("listTemporary", { page, now })
  }

  audit(query: AuditQuery): Promise<AuditRecord[]> {
    return this.call("audit", { query: toQueryMessage(query) })
  }

  auditDetail(query: AuditQuery): Promise<AuditDetail[]> {
    return this.call("auditDetail", { query: toQueryMessage(query) })
  }

  auditSlice(query: AuditSliceQuery): Promise<AuditSlice> {
    return this.call("auditSlice", { query: toQueryMessage(query) })
  }

  tokens(): Promise<StoredToken[]> {
    return this.call("tokens", {})
  }

  addToken(token: StoredToken): Promise<"added" | "conflict"> {
    return this.call("addToken", { token })
  }

  revokeToken(name: string, at: number): Promise<Revoked> {
    return this.call("revokeToken", { name, at })
  }

  async recordTokenUses(uses: readonly TokenUse[]): Promise<void> {
    await this.call("recordTokenUses", { uses })
  }

  async ping(): Promise<void> {
    await this.call("ping", {})
  }

  async probe(): Promise<void> {
    await this.call("probe", {})
  }

  /**
   * Closes the database in its thread, then ends the thread. Rejects if the thread does not get there in time, whatever
   * it is at work on: what was acknowledged is on the disk all the same.
   */
  async close(): Promise<void> {
    let isIdle = this.lost !== null
    try {
      if (!isIdle) await this.call("close", {}, { fromNow: true })
      isIdle = true
    } finally {
      this.lose("it was closed")
      // Ended in the middle of its work, the driver would abort the whole process.
      if (isIdle) this.worker.terminate()
      else this.worker.unref()
    }
  }

  private get longDeadline(): number {
    return this.options.longDeadline ?? LONG_DEADLINE
  }

  private call<O extends Operation>(
    op: O,
    send: Operations[O]["send"],
    options: CallOptions<Operations[O]["answer"]> = {},
  ): Promise<Operations[O]["answer"]> {
    if (this.lost !== null) return Promise.reject(this.lost)
    const { deadline = this.options.callDeadline ?? CALL_DEADLINE, fromNow = false } = options
    return new Promise((resolve, reject) => {
      const id = this.pending.add({
        resolve: resolve as Call["resolve"],
        reject,
        piece: options.piece,
        late: options.late as Call["late"],
        deadline,
        fromNow,
      })
      this.worker.postMessage({ id, op, ...send }, options.transfer ?? [])
    })
  }

  private lose(why: string): void {
    if (this.lost !== null) return
    this.lost = new GateError(
      "unavailable",
      "the database thread has stopped; changes fail until a restart",
      {
        cause: new Error(`database thread: ${why}`),
      },
    )
    this.pending.rejectAll(this.lost)
  }
}
