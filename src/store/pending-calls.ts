// Calls to the thread of the database that it has not answered yet, in the order in which it takes them up.

import { GateError } from "../core/errors.ts"
import type { Reply } from "./protocol.ts"
import type { SnapshotChunk } from "./snapshot.ts"

/** Part of an answer that comes before its end. */
export type Piece = SnapshotChunk | Uint8Array<ArrayBuffer>

export type Call = {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: GateError) => void
  readonly piece: ((piece: Piece) => void) | undefined
  /** Told the answer if it comes after the deadline. */
  readonly late: ((answer: unknown) => void) | undefined
  /** Milliseconds from the moment when the thread takes the call up, or from now on if `fromNow`. */
  readonly deadline: number
  readonly fromNow: boolean
}

type Pending = Call & {
  /** `null` as long as the thread is at work on what came before. */
  timer: Timer | null
  /** Its caller has been told that the database does not answer. */
  isGivenUp: boolean
}

/**
 * The thread takes up one call after the other, and an import, an export or a backup may keep it for a while: whoever
 * waits behind one of them waits for a database that works. So the time of a call runs from when the one before it is
 * answered. Once a call has not been answered in its time, nobody can tell when the thread goes on, and the time of all
 * others runs too.
 */
export class PendingCalls {
  private readonly calls = new Map<number, Pending>()
  private nextId = 1
  /** How many of them are given up. */
  private givenUp = 0

  /** The number under which the answer must come. */
  add(call: Call): number {
    const id = this.nextId++
    const pending: Pending = { ...call, timer: null, isGivenUp: false }
    const isNext = this.calls.size === 0 || this.givenUp > 0
    this.calls.set(id, pending)
    if (isNext || call.fromNow) this.start(pending)
    return id
  }

  receive(reply: Reply): void {
    const pending = this.calls.get(reply.id)
    if (pending === undefined) return
    if (reply.kind === "piece") {
      if (!pending.isGivenUp) pending.piece?.(reply.piece)
      return
    }
    this.calls.delete(reply.id)
    if (pending.isGivenUp) this.givenUp--
    else stop(pending)
    if (this.calls.size > 0) this.startNext()
    if (reply.kind === "failure") {
      pending.reject(new GateError(reply.code, reply.message, optional(reply.hint, reply.detail)))
    } else if (pending.isGivenUp) pending.late?.(reply.value)
    else pending.resolve(reply.value)
  }

  /** None of them will be answered. */
  rejectAll(error: GateError): void {
    for (const pending of this.calls.values()) {
      stop(pending)
      pending.reject(error)
    }
    this.calls.clear()
    this.givenUp = 0
  }

  private startNext(): void {
    const [next] = this.calls.values()
    if (next !== undefined) this.start(next)
  }

  private start(pending: Pending): void {
    if (pending.isGivenUp) return
    pending.timer ??= setTimeout(() => this.giveUp(pending), pending.deadline)
  }

  private giveUp(pending: Pending): void {
    pending.isGivenUp = true
    this.givenUp++
    pending.reject(noAnswer(pending.deadline))
    for (const other of this.calls.values()) this.start(other)
  }
}

function stop({ timer }: Pending): void {
  if (timer !== null) clearTimeout(timer)
}

function noAnswer(deadline: number): GateError {
  return new GateError("unavailable", `the database did not answer within ${deadline / 1000} s`, {
    hint: "a change may still take effect: ask with `ipgate check` before you repeat it",
  })
}

function optional(hint: string | undefined, detail: string): { hint?: string; cause?: unknown } {
  return { ...(hint === undefined ? {} : { hint }), ...(detail === "" ? {} : { cause: new Error(detail) }) }
}
