// The last known state of the database, told by every call to it, asked by /status.

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
      this.working = false
      throw error
    }
  }
}
