// The store in a thread of its own. The main thread holds no database code, and no call to the database can stall it.

import type { AuditQuery, AuditRecord } from "../core/audit.ts"
import type { Change } from "../core/change.ts"
import type { PermanentEntry, TemporaryEntry } from "../core/entry.ts"
import { GateError } from "../core/errors.ts"
import type { Page } from "../core/page.ts"
import {
  type Operation,
  type Operations,
  type Reply,
  toAuditQueryMessage,
  toChangeMessage,
} from "./protocol.ts"
import type { SnapshotChunk } from "./snapshot.ts"
import type { Committed, Opened, Store, StoreConfig } from "./store.ts"

/** Milliseconds until a caller is told that the database does not answer. */
const CALL_DEADLINE = 5_000
/** Opening may migrate, check and tidy; a snapshot reads everything. */
const LONG_DEADLINE = 300_000

type Pending = {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: GateError) => void
  readonly chunk: (chunk: SnapshotChunk) => void
}

export type ThreadStoreOptions = {
  /** Told about a commit whose caller has given up, when its answer comes after all. */
  readonly onLateCommit?: (changes: readonly Change[], committed: Committed) => void
  /** Milliseconds that a call may take; the default is 5,000. */
  readonly callDeadline?: number
}

/**
 * `Store` over a worker thread. A call that is not answered in time rejects with `unavailable`; the change may still
 * take effect, and when its answer comes it is passed to `onLateCommit`, so that memory never misses a commit. If the
 * thread is lost every call rejects; it is not started again, because the file stays locked until the process ends.
 */
export class ThreadStore implements Store {
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
    )
    this.worker.onmessage = ({ data }: MessageEvent<Reply>) => this.receive(data)
    this.worker.onerror = (event) => this.lose(event.message)
    this.worker.addEventListener("close", () => this.lose("it ended"))
  }

  open(now: number): Promise<Opened> {
    return this.call("open", { config: this.config, now }, LONG_DEADLINE)
  }

  commit(changes: readonly Change[]): Promise<Committed> {
    return this.call("commit", { changes: changes.map(toChangeMessage) }, this.deadline, (committed) =>
      this.options.onLateCommit?.(changes, committed),
    )
  }

  async snapshot(receive: (chunk: SnapshotChunk) => void): Promise<void> {
    await this.call("snapshot", {}, LONG_DEADLINE, undefined, receive)
  }

  listPermanent(page: Page): Promise<PermanentEntry[]> {
    return this.call("listPermanent", { page })
  }

  listTemporary(page: Page, now: number): Promise<TemporaryEntry[]> {
    return this.call("listTemporary", { page, now })
  }

  audit(query: AuditQuery): Promise<AuditRecord[]> {
    return this.call("audit", { query: toAuditQueryMessage(query) })
  }

  async ping(): Promise<void> {
    await this.call("ping", {})
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

  private get deadline(): number {
    return this.options.callDeadline ?? CALL_DEADLINE
  }

  private call<O extends Operation>(
    op: O,
    send: Operations[O]["send"],
    deadline = this.deadline,
    late?: (answer: Operations[O]["answer"]) => void,
    chunk: (chunk: SnapshotChunk) => void = () => {},
  ): Promise<Operations[O]["answer"]> {
    const id = this.nextId++
    return new Promise((resolve, reject) => {
      if (this.lost !== null) {
        reject(this.lost)
        return
      }
      const timer = setTimeout(() => {
        reject(noAnswer(deadline))
        if (late === undefined) this.pending.delete(id)
        else
          this.pending.set(id, {
            resolve: (answer) => late(answer as Operations[O]["answer"]),
            reject: () => {},
            chunk,
          })
      }, deadline)
      this.pending.set(id, {
        resolve: (answer) => {
          clearTimeout(timer)
          resolve(answer as Operations[O]["answer"])
        },
        reject: (error) => {
          clearTimeout(timer)
          reject(error)
        },
        chunk,
      })
      this.worker.postMessage({ id, op, ...send })
    })
  }

  private receive(reply: Reply): void {
    const pending = this.pending.get(reply.id)
    if (pending === undefined) return
    if (reply.kind === "chunk") {
      pending.chunk(reply.chunk)
      return
    }
    this.pending.delete(reply.id)
    if (reply.kind === "answer") pending.resolve(reply.value)
    else pending.reject(new GateError(reply.code, reply.message, optional(reply.hint, reply.detail)))
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
    for (const { reject } of this.pending.values()) reject(this.lost)
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
