// The last known state of the database, told by every call to it, asked by /status.

import { GateError } from "../core/errors.ts"

/** A database that answers questions and refuses changes is not well, so the two are told apart. */
export class Health {
  private reads = true
  private writes = true

  /** True if the last question and the last change, once answered or out of time, did not fail. */
  get ok(): boolean {
    return this.reads && this.writes
  }

  /** Passes the answer to a question through, and remembers whether the database worked. */
  async watchRead<T>(call: Promise<T>): Promise<T> {
    try {
      const value = await call
      this.reads = true
      return value
    } catch (error) {
      if (!isRefusal(error)) this.reads = false
      throw error
    }
  }

  /** The same for a change. Only another change that is written can make a failed one good. */
  async watchWrite<T>(call: Promise<T>): Promise<T> {
    try {
      const value = await call
      this.writes = true
      return value
    } catch (error) {
      if (!isRefusal(error)) this.writes = false
      throw error
    }
  }
}

/** What makes no sense is refused before the disk is touched, so it says neither good nor bad of the database. */
function isRefusal(error: unknown): boolean {
  return error instanceof GateError && error.code === "invalid"
}
