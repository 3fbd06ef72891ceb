// The store in a thread of its own. The main thread holds no database code, and no call to the database can stall it.

import type { AuditDetail, AuditQuery, AuditRecord } from "../core/audit.ts"
import type { Change } from "../core/change.ts"
import type { PermanentEntry, TemporaryEntry } from "../core/entry.ts"
import { GateError } from "../core/errors.ts"
import type { Page } from "../core/page.ts"
import type { StoredToken, TokenUse } from "../core/token.ts"
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

/** Milliseconds until a caller is told that the database does not answer. */
const CALL_DEADLINE = 5_000
/** Opening may migrate, check and tidy; a snapshot reads everything. */
const LONG_DEADLINE = 300_000

/** A call that is not answered yet. */
type Pending = {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: GateError) => void
  readonly piece: ((piece: Piece) => void) | undefined
  readonly late: ((answer: unknown) => void) | undefined
  readonly timer: Timer
  /** Its caller has been told that the database does not answer. */
  isGivenUp: boolean
}

/** Part of an answer that comes before its end. */
type Piece = SnapshotChunk | Uint8Array<ArrayBuffer>

type CallOptions<Answer> = {
  readonly deadline?: number
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
  /** Milliseconds that a call may take; the default is 5,000. */
  readonly callDeadline?: number
}

/**
 * `Store` over a worker thread. A call that is not answered in time rejects with `unavailable`; the change may still
 * take effect, and when its answer comes it is passed to `onLateCommit`, so that memory never misses a commit. If the
 * thread is lost every call rejects; it is not started again, because the file stays locked until the process ends.
 */
export class ThreadStore implements Store, TokenStore {
  private readonly worker: Worker
  private readonly pending = new Map<number, Pending>()
  private lost: GateError | null = null
  private nextId = 1

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
    this.worker.onmessage = ({ data }: MessageEvent<Reply>) => this.receive(data)
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
        deadline: LONG_DEADLINE,
        late: (imported) => this.options.onLateImport?.(imported),
        transfer: [text.buffer],
      },
    )
  }

  async export(now: number, receive: (lines: Uint8Array<ArrayBuffer>) => void): Promise<void> {
    const piece = (value: Piece) => {
      if (value instanceof Uint8Array) receive(value)
    }
    await this.call("export", { now }, { deadline: LONG_DEADLINE, piece })
  }

  async snapshot(receive: (chunk: SnapshotChunk) => void): Promise<void> {
    const piece = (value: Piece) => {
      if (!(value instanceof Uint8Array)) receive(value)
    }
    await this.call("snapshot", {}, { deadline: LONG_DEADLINE, piece })
  }

  backUp(): Promise<string> {
    return this.call("backUp", {}, { deadline: LONG_DEADLINE })
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

  /** Closes the database in its thread, then ends the thread. */
  async close(): Promise<void> {
    try {
      if (this.lost === null) await this.call("close", {})
    } finally {
      this.lose("it was closed")
      this.worker.terminate()
    }
  }

  private call<O extends Operation>(
    op: O,
    send: Operations[O]["send"],
    options: CallOptions<Operations[O]["answer"]> = {},
  ): Promise<Operations[O]["answer"]> {
    if (this.lost !== null) return Promise.reject(this.lost)
    const id = this.nextId++
    const { deadline = this.options.callDeadline ?? CALL_DEADLINE, late, piece, transfer } = options
    return new Promise((resolve, reject) => {
      this.pending.set(id, {
        resolve: resolve as Pending["resolve"],
        reject,
        piece,
        late: late as Pending["late"],
        timer: setTimeout(() => this.giveUp(id, deadline), deadline),
        isGivenUp: false,
      })
      this.worker.postMessage({ id, op, ...send }, transfer ?? [])
    })
  }

  private giveUp(id: number, deadline: number): void {
    const pending = this.pending.get(id)
    if (pending === undefined) return
    pending.isGivenUp = true
    if (pending.late === undefined) this.pending.delete(id)
    pending.reject(noAnswer(deadline))
  }

  private receive(reply: Reply): void {
    const pending = this.pending.get(reply.id)
    if (pending === undefined) return
    if (reply.kind === "piece") {
      pending.piece?.(reply.piece)
      return
    }
    this.pending.delete(reply.id)
    clearTimeout(pending.timer)
    if (reply.kind === "failure") {
      pending.reject(new GateError(reply.code, reply.message, optional(reply.hint, reply.detail)))
    } else if (pending.isGivenUp) pending.late?.(reply.value)
    else pending.resolve(reply.value)
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
    for (const { reject, timer } of this.pending.values()) {
      clearTimeout(timer)
      reject(this.lost)
    }
    this.pending.clear()
  }
}

function noAnswer(deadline: number): GateError {
  return new GateError("unavailable", `the database did not answer within ${deadline / 1000} s`, {
    hint: "a change may still take effect: ask with `ipgate check` before you repeat it",
  })
}

function optional(hint: string | undefined, detail: string): { hint?: string; cause?: unknown } {
  return { ...(hint === undefined ? {} : { hint }), ...(detail === "" ? {} : { cause: new Error(detail) }) }
}
