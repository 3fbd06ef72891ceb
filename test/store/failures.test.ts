// What a driver's error becomes: told by its code, with the cause kept.

import { describe, expect, test } from "bun:test"
import { GateError } from "../../src/core/errors.ts"
import { openFailure, statementFailure } from "../../src/store/failures.ts"

function driverError(code?: string): Error {
  const error = new Error("SQLITE_BUSY: these words do not count")
  return code === undefined ? error : Object.assign(error, { code })
}

describe("of a statement", () => {
  test.each([
    ["SQLITE_FULL", "the disk is full"],
    ["SQLITE_READONLY_DIRECTORY", "the database is read-only"],
    ["SQLITE_IOERR_FSYNC", "the disk reported an error"],
    ["SQLITE_IOERR_NOMEM", "the system gives no more memory"],
    ["SQLITE_NOMEM", "the system gives no more memory"],
    ["SQLITE_TOOBIG", "the system gives no more memory"],
    ["SQLITE_CORRUPT_VTAB", "the database file is damaged"],
    ["SQLITE_CONSTRAINT", "the database reported SQLITE_CONSTRAINT"],
    [undefined, "the database reported an error"],
  ])("%s", (code, what) => {
    const cause = driverError(code)
    const error = statementFailure(cause)
    expect([error.code, error.message]).toEqual(["failed", `database failure: ${what}`])
    expect(error.cause).toBe(cause)
  })

  test.each([[null], [undefined], ["text"], [7], [{ code: 7 }]])("that is no error: %p", (cause) => {
    expect(statementFailure(cause).message).toBe("database failure: the database reported an error")
  })
})

describe("of opening", () => {
  test.each([
    ["SQLITE_BUSY", "another process holds the database /state/gate.db"],
    ["SQLITE_BUSY_RECOVERY", "another process holds the database /state/gate.db"],
    ["SQLITE_LOCKED", "another process holds the database /state/gate.db"],
    ["SQLITE_NOTADB", "/state/gate.db is damaged or is not a database; it was left as it is"],
    ["SQLITE_CORRUPT_INDEX", "/state/gate.db is damaged or is not a database; it was left as it is"],
    ["ERR_DLOPEN_FAILED", "the database driver cannot be loaded from the temporary directory"],
    ["EACCES", "this user may not open the database /state/gate.db"],
    ["SQLITE_CANTOPEN", "cannot open the database /state/gate.db: SQLITE_BUSY: these words do not count"],
    [undefined, "cannot open the database /state/gate.db: SQLITE_BUSY: these words do not count"],
  ])("%s", (code, message) => {
    const cause = driverError(code)
    const error = openFailure("/state/gate.db", cause)
    expect([error.code, error.message]).toEqual(["unavailable", message])
    expect(error.cause).toBe(cause)
  })

  test("of a driver that cannot be loaded names the way out", () => {
    expect(openFailure("/state/gate.db", driverError("ERR_DLOPEN_FAILED")).hint).toContain("TMPDIR")
  })

  test("that is no error still tells the path", () => {
    expect(openFailure("/state/gate.db", "gone").message).toBe(
      "cannot open the database /state/gate.db: gone",
    )
  })
})

test("an error of our own passes unchanged", () => {
  const own = new GateError("unavailable", "the database is not open")
  expect(statementFailure(own)).toBe(own)
  expect(openFailure("/state/gate.db", own)).toBe(own)
})
