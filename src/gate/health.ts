// The last known state of the database, told by every call to it, asked by /status.

import { GateError } from "../core/errors.ts"

export class Health {
  private working = true

  /** True if the last call that was answered, or ran out of time, did not fail. */
  get ok(): boolean {
    return this.working
  }

  /** Passes the result of a call through, and remembers whether the database worked. */
  async watch<T>(call: Promise<T>): Promise<T> {
    try {
      const value = await call
      this.working = true
      return value
    } catch (error) {
      // A question that makes no sense was refused by a database that works.
      this.working = error instanceof GateError && error.code === "invalid"
      throw error
    }
  }
}
