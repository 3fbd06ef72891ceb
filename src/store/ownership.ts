// The file in this process's hands: opened so that nobody else has it, looked at before it is written, given back whole.

import { GateError } from "../core/errors.ts"
import { Connection, pragma } from "./connection.ts"
import { damaged } from "./failures.ts"
import { APPLICATION_ID, MIGRATIONS } from "./schema.ts"
import { isSound } from "./soundness.ts"

/** Milliseconds to wait for a lock. Short, because whoever holds this file holds it for as long as it runs. */
const LOCK_TIMEOUT = 200
/**
 * For the process that has made the file. Others that start in the same moment can read it before it is locked, and keep
 * that right, and with it the lock from everybody, until they have given up and ended: so one has to outlast them.
 */
const MAKER_LOCK_TIMEOUT = 2_000

/**
 * Opens the file, takes the lock that keeps everybody else out, and sets what a commit promises. An existing file
 * (`isNew` is false) that is not ours, is damaged, or comes from a newer version is refused before anything is written.
 */
export function takeOwnership(path: string, isNew: boolean): Connection {
  const connection = Connection.open(path, isNew ? MAKER_LOCK_TIMEOUT : LOCK_TIMEOUT)
  try {
    // In this mode the lock that the next statement takes is kept until the process ends.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.batch(["SELECT count(*) FROM sqlite_schema"])
    if (!isNew) refuseForeign(connection, path)
    setPragmas(connection)
    return connection
  } catch (cause) {
    // Without a checkpoint: not even the log of a file that is refused may move.
    connection.close()
    throw cause
  }
}

/**
 * Copies the log into the database file and empties it. What a failed commit has left in the log is gone then, because
 * only what the connection holds for committed is copied; and all of it is written anew, also what the system may have
 * dropped from its cache when an fsync failed.
 */
export function emptyLog(connection: Connection): void {
  if (pragma(connection, "wal_checkpoint(TRUNCATE)") !== 0) {
    throw new Error("the write-ahead log could not be copied into the database")
  }
}

/** The same for a process that ends. What cannot be copied stays in the log, and the next opening finds it there. */
export function emptyLogAtEnd(connection: Connection): void {
  try {
    emptyLog(connection)
  } catch {
    // A disk that fails, of which the next one who opens the file hears.
  }
}

/**
 * Closes the connection so that the same process can open the file again: by itself the driver keeps the lock until the
 * garbage of its statements is collected. The log has to be empty.
 */
export function giveUpOwnership(connection: Connection): void {
  const mode = pragma(connection, "journal_mode = DELETE")
  if (mode !== "delete") throw new Error(`the database stays in mode ${mode}`)
  connection.execute("PRAGMA locking_mode = NORMAL")
  // The lock is given back at the end of the next statement that reads.
  connection.execute("SELECT count(*) FROM sqlite_schema")
  connection.close()
}

function refuseForeign(connection: Connection, path: string): void {
  if (pragma(connection, "application_id") !== APPLICATION_ID) {
    throw new GateError("unavailable", `${path} is not an ipgate database; it was left as it is`, {
      hint: "give another path with --db",
    })
  }
  const version = Number(pragma(connection, "user_version"))
  if (version > MIGRATIONS.length) {
    throw new GateError(
      "unavailable",
      `${path} was written by a newer ipgate (schema ${version}; this one knows up to ${MIGRATIONS.length}); it was left as it is`,
      { hint: "install the newer version again, or restore a backup from before it" },
    )
  }
  if (!isSound(connection, version)) throw damaged(path)
}

function setPragmas(connection: Connection): void {
  connection.execute("PRAGMA journal_mode = WAL")
  connection.execute("PRAGMA synchronous = FULL")
  const mode = ["locking_mode", "journal_mode", "synchronous"].map((name) => pragma(connection, name))
  if (mode.join() !== "exclusive,wal,2") {
    throw new GateError("unavailable", `the database runs with ${mode.join()} in place of exclusive,wal,2`)
  }
}
