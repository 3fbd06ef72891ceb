// The one connection to the database. A statement with arguments is prepared once and then kept, because preparing it
// costs ten times as much as running it.

import Database from "libsql"

/** What a statement takes. A number is stored by the type of its column. */
export type Value = string | number | Uint8Array | null

/** A text is for what runs once or seldom; a PRAGMA may even do its work while it is prepared. */
export type Statement = string | { readonly sql: string; readonly args: readonly Value[] }

/** A row by the names of its columns. A blob is an `ArrayBuffer`. */
export type Row = Readonly<Record<string, unknown>>

/** `lastId` is the id of the last row that the statement has added, and means nothing if it has added none. */
export type Result = { readonly rows: readonly Row[]; readonly rowsAffected: number; readonly lastId: number }

type Prepared = { readonly handle: ReturnType<Handle["prepare"]>; readonly returnsRows: boolean }

type Handle = InstanceType<typeof Database>

/**
 * In place of a parameter for a text or a blob. The driver does not tell when SQLite was refused the memory for it, and
 * SQLite takes NULL then: an import would add nothing and call it done, a removal would find nothing to remove. Only in
 * that case the second argument is asked for, which is too large to be made and so an error of its own: SQLITE_TOOBIG.
 */
const GIVEN = "ifnull(?, zeroblob(1 << 40))"

const NO_ROWS: readonly Row[] = []

const BEGIN = { sql: "BEGIN IMMEDIATE", args: [] }
const COMMIT = { sql: "COMMIT", args: [] }

/** SQLite's primary result codes, by their numbers. */
const CODES =
  "OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB".split(
    " ",
  )

/** What the database reports. `code` is the name of the primary result code, such as `SQLITE_FULL`. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError"

  constructor(
    readonly code: string,
    message: string,
    options: ErrorOptions,
  ) {
    super(`${code}: ${message}`, options)
  }
}

/** Every call blocks until the database has answered. What it refuses is thrown as a `DatabaseError`. */
export class Connection {
  /** By the statement's text, and by a bit for each argument that is guarded: at most 32 of them. */
  private readonly kept = new Map<string, Map<number, Prepared>>()

  private constructor(private readonly handle: Handle) {}

  /** Opens the file, and makes an empty one where there is none. `lockTimeout` is in milliseconds. */
  static open(path: string, lockTimeout: number): Connection {
    // The driver takes other texts for the address of a server, or for the memory.
    const file = path.startsWith("/") ? path : `./${path}`
    return new Connection(named(() => new Database(file, { timeout: lockTimeout })))
  }

  static inMemory(): Connection {
    return new Connection(named(() => new Database(":memory:")))
  }

  execute(statement: Statement): Result {
    return named(() => this.run(statement))
  }

  /** One write transaction: all of the statements, or none of them. */
  batch(statements: readonly Statement[]): Result[] {
    return this.transaction(() => named(() => statements.map((statement) => this.run(statement))))
  }

  /**
   * Runs `work` in a write transaction, and rolls back if it throws. Nothing can come between, because nothing in it
   * waits.
   */
  transaction<T>(work: () => T): T {
    this.execute(BEGIN)
    try {
      const value = work()
      this.execute(COMMIT)
      return value
    } catch (cause) {
      this.rollBack()
      throw cause
    }
  }

  close(): void {
    this.kept.clear()
    this.handle.close()
  }

  private rollBack(): void {
    try {
      // A full disk, for one, has ended the transaction already.
      if (this.handle.inTransaction) this.handle.exec("ROLLBACK")
    } catch {
      // The first error says what is wrong; a transaction that cannot be left refuses the next one.
    }
  }

  private run(statement: Statement): Result {
    const [{ handle, returnsRows }, args] =
      typeof statement === "string" ? [this.prepare(statement), []] : [this.keep(statement), statement.args]
    if (returnsRows) return { rows: handle.all(args) as Row[], rowsAffected: 0, lastId: 0 }
    const { changes, lastInsertRowid } = handle.run(args)
    return { rows: NO_ROWS, rowsAffected: changes, lastId: Number(lastInsertRowid) }
  }

  private keep({ sql, args }: Exclude<Statement, string>): Prepared {
    let forms = this.kept.get(sql)
    if (forms === undefined) {
      forms = new Map()
      this.kept.set(sql, forms)
    }
    let form = 0
    for (let i = 0; i < args.length; i++) if (needsMemory(args[i] ?? null)) form |= 1 << i
    let prepared = forms.get(form)
    if (prepared === undefined) {
      prepared = this.prepare(guarded(sql, args))
      forms.set(form, prepared)
    }
    return prepared
  }

  private prepare(sql: string): Prepared {
    const handle = this.handle.prepare(sql)
    return { handle, returnsRows: handle.reader }
  }
}

/** No statement has a question mark that is no parameter. */
function guarded(sql: string, args: readonly Value[]): string {
  let at = 0
  return sql.replaceAll("?", () => (needsMemory(args[at++] ?? null) ? GIVEN : "?"))
}

function needsMemory(value: Value): boolean {
  return typeof value === "string" || value instanceof Uint8Array
}

/**
 * Whether one of SQLite's own checks finds nothing wrong with the file, or with one table. Not asked by the PRAGMA itself:
 * what it finds is a text, with the names that stand in the damaged file, and the driver ends the process at one that is
 * not valid UTF-8.
 */
export function passesCheck(
  connection: Connection,
  name: "quick_check" | "integrity_check",
  table?: string,
): boolean {
  const what = table === undefined ? "1" : `'${table}'`
  const [row] = connection.execute(
    `SELECT ${name} = 'ok' AS passes FROM pragma_${name}(${what}) LIMIT 1`,
  ).rows
  return row?.passes === 1
}

/** The first value that a PRAGMA tells; for those only whose texts are SQLite's own words. */
export function pragma(connection: Connection, name: string): unknown {
  const [row] = connection.execute(`PRAGMA ${name}`).rows
  return row === undefined ? undefined : Object.values(row)[0]
}

/** The driver tells extended codes by their number only. */
function named<T>(call: () => T): T {
  try {
    return call()
  } catch (cause) {
    if (!(cause instanceof Database.SqliteError) || cause.rawCode === undefined) throw cause
    const name = CODES[cause.rawCode & 0xff] ?? String(cause.rawCode)
    throw new DatabaseError(`SQLITE_${name}`, cause.message, { cause })
  }
}
