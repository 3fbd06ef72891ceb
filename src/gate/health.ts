// The last known state of the database, told by every call to it, asked by /status.

import { GateError } from "../core/errors.ts"

/** A database that answers questions and refuses changes is not well, so the two are told apart. */
export class Health {
  private readonly reads = new Side()
  private readonly writes = new Side()

  /** True if the last question and the last change, once answered or out of time, did not fail. */
  get ok(): boolean {
    return this.reads.ok && this.writes.ok
  }

  /** Passes the answer to a question through, and remembers whether the database worked. */
  watchRead<T>(call: Promise<T>): Promise<T> {
    return this.reads.watch(call)
  }

  /** The same for a change. Only another change that is written can make a failed one good. */
  watchWrite<T>(call: Promise<T>): Promise<T> {
    return this.writes.watch(call)
  }
}

class Side {
  ok = true

  watch<T>(call: Promise<T>): Promise<T> {
    return call.then(this.hasWorked, this.hasFailed) as Promise<T>
  }

  // Made once: every change passes here, and what is made for each is garbage that decisions wait for.
  private readonly hasWorked = (value: unknown) => {
    this.ok = true
    return value
  }

  private readonly hasFailed = (error: unknown) => {
    if (!isRefusal(error)) this.ok = false
    throw error
  }
}

/** What makes no sense is refused before the disk is touched, so it says neither good nor bad of the database. */
function isRefusal(error: unknown): boolean {
  return error instanceof GateError && error.code === "invalid"
}
