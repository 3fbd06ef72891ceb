// What this process left in its files, so that it notices when somebody else has touched them.

import { type BigIntStats, realpathSync, statSync } from "node:fs"
import { GateError } from "../core/errors.ts"

type Seen = Pick<BigIntStats, "dev" | "ino" | "size" | "mtimeNs">

/**
 * The database file and the log beside it. What is written to a file that has lost its name is lost at the next start,
 * and what is written into a file that somebody has written over damages it. So both are looked at before each change.
 */
export class OwnFiles {
  private isOpen = false
  private database: Seen | null = null
  private log: Seen | null = null

  /** SQLite keeps the log beside the file itself, wherever a symbolic link to it may be. */
  private logPath = ""

  constructor(private readonly path: string) {}

  /** Remembers both files as they are now. To be called after everything that this process has written. */
  remember(): void {
    if (!this.isOpen) this.logPath = `${realpathSync(this.path)}-wal`
    this.isOpen = true
    this.database = look(this.path)
    this.log = look(this.logPath)
  }

  /** From here on there is nothing to write to. */
  forget(): void {
    this.isOpen = false
  }

  /**
   * Throws `failed` (`unavailable` before and after) unless both names lead to what this process left, so that nothing
   * may be written. False if the log has lost its name: what it holds must go into the database before anything is
   * added to it.
   */
  check(): boolean {
    if (!this.isOpen) throw new GateError("unavailable", "the database is not open")
    const database = look(this.path)
    if (!isSameFile(database, this.database)) {
      throw touched(
        "the database file was removed or replaced under the server",
        `${this.path} is another file now; put the same one back, or restart to go on with what stands there`,
      )
    }
    // Between two changes nothing writes to the database file, so its time and size stay.
    if (database?.mtimeNs !== this.database?.mtimeNs || database?.size !== this.database?.size) {
      throw touched(
        "another program has written to the database file",
        `${this.path} has changed; stop the server, and restore a backup without the log ${this.logPath}, which belongs to the file as it was`,
      )
    }
    const log = look(this.logPath)
    if (log !== null && log.size > 0 && !isSameFile(log, this.log)) {
      throw touched(
        "the write-ahead log was replaced under the server",
        `${this.logPath} is another file now; take it away, or restart to go on with what stands there`,
      )
    }
    return isSameFile(log, this.log)
  }

  /** True if this process's database has lost its name, and its log still has it: the next database there would be given that log. */
  get isDisplaced(): boolean {
    return (
      this.isOpen && !isSameFile(look(this.path), this.database) && isSameFile(look(this.logPath), this.log)
    )
  }
}

// A file that cannot be looked at is no file of ours.
function look(path: string): Seen | null {
  try {
    return statSync(path, { bigint: true })
  } catch {
    return null
  }
}

function isSameFile(one: Seen | null, other: Seen | null): boolean {
  return one !== null && other !== null && one.ino === other.ino && one.dev === other.dev
}

function touched(what: string, detail: string): GateError {
  return new GateError("failed", `database failure: ${what}`, { cause: new Error(detail) })
}
