// Exports and backups take turns at the database, so that a change gets in between, and only so many are open at once.

import { GateError } from "../core/errors.ts"

/** A million entries take 13 MB until their reader has them all. */
const MOST_OPEN = 8

/** Runs `ask` when no other long read is at the database. */
export type InTurn = <R>(ask: () => Promise<R>) => Promise<R>

export class LongReads {
  private open = 0
  private last: Promise<unknown> = Promise.resolve()

  /**
   * What `read` yields, which asks the database in its turn. It is open until its reader has all of it or leaves, and
   * in any case until the database is done with it. Throws `busy` if too many are open.
   */
  async *begin<T>(read: (inTurn: InTurn) => AsyncIterable<T>): AsyncGenerator<T> {
    if (this.open >= MOST_OPEN) {
      throw new GateError("busy", `${this.open} exports and backups are under way already; try again later`)
    }
    this.open++
    let asked: Promise<unknown> = Promise.resolve()
    try {
      yield* read((ask) => {
        const answer = this.last.then(ask)
        asked = answer.catch(() => {}) // told to whoever reads
        this.last = asked
        return answer
      })
    } finally {
      await asked
      this.open--
    }
  }
}
