// A backup on its way in: another name until it is whole, on the disk, and known to be complete.

import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from "node:fs"
import { dirname } from "node:path"
import { GateError } from "../src/core/errors.ts"
import { UsageError } from "./exit.ts"

/** Where the header of an SQLite file says how large its pages are, and how many there are. */
const PAGE_SIZE_AT = 16
const PAGE_COUNT_AT = 28
const HEADER = 100
const MAGIC = "SQLite format 3\0"

export class BackupFile {
  private bytes = 0

  private constructor(
    private readonly path: string,
    private readonly draft: string,
    private readonly descriptor: number,
    private readonly mayReplace: boolean,
  ) {}

  /**
   * Throws `UsageError` if nothing can be written there, or if something stands there that may not be replaced: a file,
   * unless that was asked for; and in any case what is no file, and a database that is in use.
   */
  static begin(path: string, mayReplace: boolean): BackupFile {
    // Elsewhere it is standard input or output, so nobody means a file of this name.
    if (path === "-") {
      throw new UsageError("a backup goes into a file, not to standard output", "give the name of a file")
    }
    const stats = statsOf(path)
    if (stats !== undefined && !mayReplace) throw exists(path)
    // A name is replaced, and nothing written into what has it: for the superuser, /dev/null would be a backup then.
    if (stats !== undefined && !stats.isFile() && !stats.isSymbolicLink()) {
      throw new UsageError(`${path} is no file`, "give another name")
    }
    // The log would be read into the copy at the next start.
    if (existsSync(`${path}-wal`)) {
      throw new UsageError(
        `${path} is in use as a database: its log ${path}-wal is there`,
        `give another name; or, if nothing works on that database any more, remove ${path}-wal first`,
      )
    }
    try {
      const draft = `${mkdtempSync(`${path}.part-`)}/database`
      return new BackupFile(path, draft, openSync(draft, "wx+", 0o600), mayReplace)
    } catch (cause) {
      const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT"
      const why = isMissing ? `the directory ${dirname(path)} does not exist` : messageOf(cause)
      throw new UsageError(`${path} cannot be written: ${why}`)
    }
  }

  write(piece: Uint8Array): void {
    try {
      for (let done = 0; done < piece.length; ) done += writeSync(this.descriptor, piece, done)
    } catch (cause) {
      throw new GateError("failed", `${this.path} cannot be written: ${messageOf(cause)}`, { cause })
    }
    this.bytes += piece.length
  }

  /** Gives the file its name, and returns its size. Throws `failed` if it is not what a whole backup looks like. */
  finish(): number {
    if (this.bytes !== this.announcedSize()) {
      throw new GateError("failed", `the backup did not come whole; ${this.path} was not written`)
    }
    try {
      fsyncSync(this.descriptor)
      if (this.mayReplace) renameSync(this.draft, this.path)
      // Unlike a rename, this cannot replace a file that has come meanwhile.
      else linkSync(this.draft, this.path)
      const directory = openSync(dirname(this.path), "r")
      fsyncSync(directory)
      closeSync(directory)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw exists(this.path)
      throw new GateError("failed", `${this.path} cannot be written: ${messageOf(cause)}`, { cause })
    }
    return this.bytes
  }

  /** Leaves nothing behind but a file that was finished. */
  close(): void {
    closeSync(this.descriptor)
    rmSync(dirname(this.draft), { recursive: true, force: true })
  }

  /** The size that the header tells, or -1 if there is none. */
  private announcedSize(): number {
    const header = Buffer.alloc(HEADER)
    if (readSync(this.descriptor, header, 0, HEADER, 0) < HEADER) return -1
    if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) return -1
    return header.readUInt16BE(PAGE_SIZE_AT) * header.readUInt32BE(PAGE_COUNT_AT)
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (cause) {
    throw new UsageError(`${path} cannot be written: ${messageOf(cause)}`)
  }
}

function exists(path: string): UsageError {
  return new UsageError(`${path} exists`, "give another name, or --force to replace it")
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
