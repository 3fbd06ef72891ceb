// What a driver error means to the gate, told by its code and never by its words.

import { statSync } from "node:fs"
import { GateError } from "../core/errors.ts"

/** The driver's code for an error, or "" if it has none. */
function driverCode(cause: unknown): string {
  const code = typeof cause === "object" && cause !== null ? (cause as { code?: unknown }).code : undefined
  return typeof code === "string" ? code : ""
}

/**
 * True for the error of a change that leaves open what the disk holds. A constraint that refuses and a disk that is full
 * do not: the database has told what it did not write.
 */
export function isDoubtful(cause: unknown): boolean {
  return !(cause instanceof GateError) && !/^SQLITE_(CONSTRAINT|FULL)/.test(driverCode(cause))
}

/** What a code says that begins so; SQLite appends details to it. */
const FAILURES: ReadonlyArray<readonly [code: string, what: string]> = [
  ["SQLITE_FULL", "the disk is full"],
  ["SQLITE_READONLY", "the database is read-only"],
  // Before the codes of input and output, of which this is one.
  ["SQLITE_IOERR_NOMEM", "the system gives no more memory"],
  ["SQLITE_NOMEM", "the system gives no more memory"],
  // What a connection makes of an argument that got no memory.
  ["SQLITE_TOOBIG", "the system gives no more memory"],
  ["SQLITE_IOERR", "the disk reported an error"],
  ["SQLITE_CORRUPT", "the database file is damaged"],
]

/** The error of a statement. */
export function statementFailure(cause: unknown): GateError {
  if (cause instanceof GateError) return cause
  const code = driverCode(cause)
  const known = FAILURES.find(([beginning]) => code.startsWith(beginning))?.[1]
  const what = known ?? `the database reported ${code === "" ? "an error" : code}`
  return new GateError("failed", `database failure: ${what}`, { cause })
}

/** The error of an attempt to open the file at `path`. */
export function openFailure(path: string, cause: unknown): GateError {
  if (cause instanceof GateError) return cause
  const code = driverCode(cause)
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    return new GateError("unavailable", `another process holds the database ${path}`, {
      cause,
      hint: "a running server owns its database: go through it (without --offline), or stop it first",
    })
  }
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) return damaged(path, cause)
  if (code === "ERR_DLOPEN_FAILED" || path === "") {
    return new GateError("unavailable", "the database driver cannot be loaded from the temporary directory", {
      cause,
      hint: "set TMPDIR to a directory that is there, that this user may write into, and that is not mounted noexec",
    })
  }
  if (code === "EACCES") {
    return new GateError("unavailable", `this user may not open the database ${path}`, {
      cause,
      hint: "use sudo, or name another with --db; through a running server no right to the file is needed",
    })
  }
  const detail = cause instanceof Error ? cause.message : String(cause)
  return new GateError("unavailable", `cannot open the database ${path}: ${detail}`, { cause })
}

export function damaged(path: string, cause?: unknown): GateError {
  const log = `${path}-wal`
  const hasLog = (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0
  return new GateError("unavailable", `${path} is damaged or is not a database; it was left as it is`, {
    cause,
    hint: hasLog
      ? `the log ${log} belongs to the file that stood here before: move both away to start with empty lists, or move the log away and restore a backup`
      : "restore it from a backup, or move it away to start with empty lists",
  })
}
