// The database as a file: born whole and private, or found as it should be.

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs"
import { basename, dirname } from "node:path"
import { GateError } from "../core/errors.ts"
import { Connection } from "./connection.ts"
import { damaged } from "./failures.ts"
import { MIGRATIONS, VERSION_STAMP } from "./schema.ts"

/** SQLite's own choice, on which the check of the size relies. */
const PAGE_SIZE = 4096

/**
 * Makes an empty database, and its directory, for the owner alone. True if it did not exist. Throws `unavailable` for
 * a file whose very size says that it is no whole database.
 */
export function createDatabaseFile(path: string): boolean {
  if (existsSync(path)) {
    // An empty file is what a lost disk or a failed copy leaves behind: taking it for a new database would empty the lists.
    const { size } = statSync(path)
    if (size === 0) throw damaged(path)
    // Whole pages, always; only a log beside the file can hold the rest of a page that a power cut left unfinished.
    if (size % PAGE_SIZE !== 0 && !hasLog(path)) throw damaged(path)
    refuseUnwritable(path)
    return false
  }
  refuseOrphanedLog(path)
  const directory = dirname(path)
  if (!existsSync(directory)) {
    mkdirSync(directory, { recursive: true })
    chmodSync(directory, 0o700)
  }
  // Made whole under another name: a process killed on the way leaves no half-made database that the next one refuses.
  const workshop = mkdtempSync(`${path}.new-`)
  const draft = `${workshop}/database`
  const file = openSync(draft, "wx", 0o600)
  giveToOwnerOf(directory, file)
  const memory = Connection.inMemory()
  try {
    memory.batch([...MIGRATIONS.flat(), ...VERSION_STAMP])
    memory.execute({ sql: "VACUUM INTO ?", args: [draft] })
    fsyncSync(file)
    if (!linkNew(draft, path)) return false
    syncDirectory(directory)
  } finally {
    memory.close()
    closeSync(file)
    rmSync(workshop, { recursive: true, force: true })
  }
  return true
}

// Root may make the database of a service by a command: one that the service cannot open would keep it from starting.
function giveToOwnerOf(directory: string, file: number): void {
  const { uid, gid } = statSync(directory)
  if (fstatSync(file).uid === uid) return
  try {
    fchownSync(file, uid, gid)
  } catch {
    // Only root can give a file away.
  }
}

// SQLite would read it into the new database: entries that nobody can explain, on lists that should be empty.
function refuseOrphanedLog(path: string): void {
  const log = `${path}-wal`
  const { size } = statSync(log, { throwIfNoEntry: false }) ?? { size: 0 }
  // In this order: another process that starts for the first time too makes the database before its log.
  if (size === 0 || existsSync(path)) return
  throw new GateError("unavailable", `${path} is gone, but the changes in its log ${log} are not`, {
    hint: "put the database back to its log; or take the log away, and a new, empty database is made",
  })
}

// False if another process that starts for the first time too has been faster: the file is that one's now.
function linkNew(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST" && existsSync(path)) return false
    throw cause
  }
}

// Asked here, because the driver would only speak of an I/O error: the log beside the file has to be written even to read.
function refuseUnwritable(path: string): void {
  for (const name of [path, dirname(realpathSync(path))]) {
    try {
      accessSync(name, constants.W_OK)
    } catch (cause) {
      const isReadOnly = (cause as NodeJS.ErrnoException).code === "EROFS"
      throw new GateError(
        "unavailable",
        isReadOnly
          ? `${name} is on a file system that is read-only; the database has to be written`
          : `${name} cannot be written by this user`,
        {
          cause,
          hint: "make it writable, or give it to this user with chown; or give another path with --db",
        },
      )
    }
  }
}

// A new name survives a power cut only when its directory has reached the disk.
function syncDirectory(path: string): void {
  const directory = openSync(path, "r")
  fsyncSync(directory)
  closeSync(directory)
}

/**
 * Removes what a killed process has left beside the database: its backups that nobody has fetched, and the second name
 * of a file that was being made. An administrator's own copies may have much the same names, and stay. What cannot be
 * looked at or removed stays too: it is no reason not to start. To be called by the owner of the file only.
 */
export function removeLeftovers(path: string): void {
  const directory = dirname(path)
  const { ino } = statSync(path)
  for (const name of readdirSync(directory)) {
    const isBackup = name.startsWith(`${basename(path)}.backup-`)
    const isWorkshop = name.startsWith(`${basename(path)}.new-`)
    if (!isBackup && !isWorkshop) continue
    const folder = `${directory}/${name}`
    try {
      if (!isOfThisProgram(folder)) continue
      // A workshop whose file has another number may be that of a process that starts just now.
      if (isWorkshop && lstatSync(`${folder}/database`).ino !== ino) continue
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // Not ours, or gone meanwhile.
    }
  }
}

// A folder as `mkdtemp` makes it, and with nothing in it but the one file that is written there, and SQLite's journal of that.
function isOfThisProgram(folder: string): boolean {
  const found = lstatSync(folder)
  const isMade = /-[A-Za-z0-9]{6}$/.test(folder) && found.isDirectory() && (found.mode & 0o077) === 0
  return isMade && readdirSync(folder).every((member) => /^database(?:-journal|-wal|-shm)?$/.test(member))
}

function hasLog(path: string): boolean {
  return (statSync(`${realpathSync(path)}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}
