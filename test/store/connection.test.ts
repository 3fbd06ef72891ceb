// The connection: what a kept statement must not do, what a transaction leaves behind, and how errors are named.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs"
import { Connection, DatabaseError, type Statement } from "../../src/store/connection.ts"
import { temporaryPaths } from "../support/temp-store.ts"

const newPath = temporaryPaths()

let connection: Connection
beforeEach(() => {
  connection = Connection.open(newPath(), 200)
  connection.execute("PRAGMA journal_mode = WAL")
  connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY CHECK (n < 10), b BLOB, s TEXT) STRICT")
})
afterEach(() => connection.close())

const insert = (n: number, b: Uint8Array | null = null, s: string | null = null): Statement => ({
  sql: "INSERT INTO t (n, b, s) VALUES (?, ?, ?)",
  args: [n, b, s],
})
const numbers = () =>
  connection.execute({ sql: "SELECT n FROM t ORDER BY n", args: [] }).rows.map(({ n }) => n)

function errorOf(call: () => unknown): DatabaseError {
  try {
    call()
  } catch (cause) {
    if (cause instanceof DatabaseError) return cause
    throw cause
  }
  throw new Error("nothing was thrown")
}

test("gives back what it took, and says how many rows it changed", () => {
  expect(connection.execute(insert(1, new Uint8Array([9, 0, 255]).subarray(1), "é\u{1f6aa}'"))).toEqual({
    rows: [],
    rowsAffected: 1,
    lastId: 1,
  })
  const { rows } = connection.execute("SELECT n, b, s, typeof(n) AS kind FROM t")
  expect(rows).toEqual([{ n: 1, b: new Uint8Array([0, 255]).buffer, s: "é\u{1f6aa}'", kind: "integer" }])
  expect(connection.execute({ sql: "DELETE FROM t WHERE n < ?", args: [5] }).rowsAffected).toBe(1)
  expect(connection.execute({ sql: "DELETE FROM t WHERE n < ?", args: [5] }).rowsAffected).toBe(0)
})

test("runs a kept statement anew each time, whatever became of it before", () => {
  expect(errorOf(() => connection.execute(insert(10))).code).toBe("SQLITE_CONSTRAINT")
  expect(connection.execute(insert(1)).rowsAffected).toBe(1)
  expect(errorOf(() => connection.execute(insert(1))).code).toBe("SQLITE_CONSTRAINT")
  expect(connection.execute(insert(2)).rowsAffected).toBe(1)
  expect(numbers()).toEqual([1, 2])
  connection.execute(insert(3))
  expect(numbers()).toEqual([1, 2, 3])
})

describe("a transaction", () => {
  test("holds all of its statements", () => {
    const results = connection.batch([insert(1), insert(2), "SELECT count(*) AS n FROM t"])
    expect(results.map(({ rowsAffected }) => rowsAffected)).toEqual([1, 1, 0])
    expect(results[2]?.rows).toEqual([{ n: 2 }])
    expect(numbers()).toEqual([1, 2])
  })

  test("holds none of them if one is refused, and the next one works", () => {
    connection.batch([insert(5)])
    for (const refused of [insert(5), insert(10), "SELECT nothing FROM nowhere"]) {
      expect(errorOf(() => connection.batch([insert(1), refused, insert(2)])).code).toMatch(
        /^SQLITE_(CONSTRAINT|ERROR)$/,
      )
      expect(numbers()).toEqual([5])
    }
    connection.batch([insert(1), insert(2)])
    expect(numbers()).toEqual([1, 2, 5])
  })

  test("holds nothing of work that throws, and passes its error on", () => {
    const own = new Error("changed my mind")
    const work = () => {
      connection.execute(insert(1))
      throw own
    }
    expect(() => connection.transaction(work)).toThrow(own)
    expect(numbers()).toEqual([])
    expect(connection.transaction(() => connection.execute(insert(1)).rowsAffected)).toBe(1)
    expect(numbers()).toEqual([1])
  })

  test("keeps its error when the database has rolled back by itself", () => {
    const raise = "INSERT INTO t (n) SELECT raise(ROLLBACK, 'enough')"
    connection.batch([`CREATE TRIGGER enough BEFORE INSERT ON t WHEN NEW.n = 7 BEGIN ${raise}; END`])
    expect(errorOf(() => connection.batch([insert(1), insert(7)])).message).toContain("enough")
    connection.batch([insert(2)])
    expect(numbers()).toEqual([2])
  })
})

describe("an error", () => {
  test("has the name of the primary code, also where the driver knows only the number of an extended one", () => {
    const wrongType = "INSERT INTO t (n) VALUES ('text')"
    expect(errorOf(() => connection.execute(wrongType))).toMatchObject({
      name: "DatabaseError",
      code: "SQLITE_MISMATCH",
    })
    expect(errorOf(() => connection.execute("INSERT INTO t (s) VALUES (x'00')"))).toMatchObject({
      code: "SQLITE_CONSTRAINT",
      message: "SQLITE_CONSTRAINT: cannot store BLOB value in TEXT column t.s",
      cause: { rawCode: 19 | (12 << 8) },
    })
    expect(errorOf(() => connection.execute("SELEC 1")).code).toBe("SQLITE_ERROR")
  })

  test("of a file that is no database is told as one", () => {
    const path = newPath()
    const file = openSync(path, "w")
    writeSync(file, "this is a text ".repeat(1000))
    closeSync(file)
    const foreign = Connection.open(path, 200)
    expect(errorOf(() => foreign.execute("SELECT * FROM sqlite_schema")).code).toBe("SQLITE_NOTADB")
    foreign.close()
  })

  test("of a path that is no file is the driver's", () => {
    const path = newPath()
    mkdirSync(path)
    expect(() => Connection.open(path, 200)).toThrow(/unable to open/i)
  })
})

test("a relative path is a file, even one that looks like the address of a server or like the memory", () => {
  const before = process.cwd()
  const directory = newPath()
  mkdirSync(directory)
  process.chdir(directory)
  try {
    for (const name of [":memory:", "file:x?mode=memory", "libsql:x"]) {
      const opened = Connection.open(name, 200)
      opened.execute("CREATE TABLE t (n INTEGER)")
      opened.close()
    }
    const made = [...new Bun.Glob("*").scanSync({ cwd: directory, dot: true })]
    expect(made.toSorted()).toEqual([":memory:", "file:x?mode=memory", "libsql:x"])
  } finally {
    process.chdir(before)
  }
})
