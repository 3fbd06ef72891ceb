// The database as a file, and what lies beside it at a start: what a killed process has left goes, whatever else is there stays.

import { expect, test } from "bun:test"
import {
  appendFileSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname } from "node:path"
import { createDatabaseFile } from "../../src/store/database-file.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { temporaryPaths } from "../support/temp-store.ts"
import { NOW } from "./changes.ts"

const newPath = temporaryPaths()

/** A database in a directory of its own, that no store has opened yet. */
function database(): string {
  const path = `${newPath("state")}/gate.db`
  createDatabaseFile(path)
  return path
}

async function start(path: string): Promise<void> {
  const store = new LibsqlStore({ path, auditRows: 1000 })
  await store.open(NOW)
  await store.close()
}

test("a new database belongs to whom its directory belongs, so that root makes none that the service cannot open", () => {
  const directory = newPath("state")
  mkdirSync(directory)
  // Only root can give a directory away; a test of anybody else sees that nothing is in the way.
  if (process.getuid?.() === 0) chownSync(directory, 65534, 65533)
  const path = `${directory}/gate.db`
  expect(createDatabaseFile(path)).toBe(true)
  const { uid, gid } = statSync(directory)
  const made = statSync(path)
  expect([made.uid, made.gid, made.mode & 0o777]).toEqual([uid, gid, 0o600])
})

test("the directory that is made for a database is closed to others, under every umask", () => {
  const before = process.umask(0)
  try {
    expect(statSync(dirname(database())).mode & 0o777).toBe(0o700)
  } finally {
    process.umask(before)
  }
})

test("the rest of an unfinished page may be in the log, which lies beside the file and not beside a link to it", () => {
  const path = database()
  appendFileSync(path, "part of a page")
  const link = newPath("link.db")
  symlinkSync(path, link)
  writeFileSync(`${link}-wal`, "no log of this file")
  for (const name of [path, link]) expect(() => createDatabaseFile(name)).toThrow("is damaged")
  writeFileSync(`${path}-wal`, "a log")
  for (const name of [path, link]) expect(createDatabaseFile(name)).toBe(false)
})

test("a link to a database that is away is no place for a new one, and nothing is made where it leads", async () => {
  const away = newPath("away.db")
  const link = newPath("link.db")
  symlinkSync(away, link)
  await expect(start(link)).rejects.toThrow()
  expect(existsSync(away)).toBe(false)
  expect(beside(link).filter((name) => name.startsWith(`${link}.`))).toEqual([])
})

/** What lies in the directory of the database but for its own files, folders with what they hold. */
function beside(path: string, directory = dirname(path)): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const at = `${directory}/${entry.name}`
    if (at === path || at === `${path}-wal`) return []
    return [at, ...(entry.isDirectory() ? beside(path, at) : [])]
  })
}

test("of a killed process: copies that nobody has fetched, and the second name of the database", async () => {
  const path = database()
  for (const member of ["database", "database-journal"]) {
    writeFileSync(`${mkdtempSync(`${path}.backup-`)}/${member}`, "part of a copy")
  }
  mkdtempSync(`${path}.backup-`)
  linkSync(path, `${mkdtempSync(`${path}.new-`)}/database`)
  expect(beside(path)).toHaveLength(7)
  await start(path)
  expect(beside(path)).toEqual([])
  expect(existsSync(path)).toBe(true)
})

/** As the folders of this program are. */
const PRIVATE = { mode: 0o700 }

/** Each makes what an administrator may have put beside the database, under this name. */
const OWN: ReadonlyArray<readonly [string, (name: string, database: string) => void]> = [
  ["new-notes.txt", (name) => writeFileSync(name, "notes")],
  ["new-readme", (name) => writeFileSync(name, "notes")],
  ["backup-monday", (name) => writeFileSync(name, "a copy")],
  [
    "backup-sunday",
    (name) => {
      mkdirSync(name, PRIVATE)
      writeFileSync(`${name}/gate.db`, "a copy")
    },
  ],
  [
    "backup-friday",
    (name) => {
      mkdirSync(name, { mode: 0o755 })
      writeFileSync(`${name}/database`, "a copy")
    },
  ],
  [
    "new-system",
    (name, database) => {
      mkdirSync(name, PRIVATE)
      linkSync(database, `${name}/database`)
      writeFileSync(`${name}/notes`, "notes")
    },
  ],
  [
    "new-disk01-of-2026",
    (name, database) => {
      mkdirSync(name, PRIVATE)
      linkSync(database, `${name}/database`)
    },
  ],
  [
    "new-disk01",
    (name, database) => {
      mkdirSync(name, PRIVATE)
      symlinkSync(database, `${name}/database`)
    },
  ],
  [
    "new-circle",
    (name) => {
      mkdirSync(name, PRIVATE)
      symlinkSync("database", `${name}/database`)
    },
  ],
  ["backup-circle", (name) => symlinkSync(name, name)],
  ["backup-lostit", (name) => symlinkSync("/proc/no/such", name)],
  // Of another process that starts for the first time: it will remove it itself.
  [
    "new-AbCd12",
    (name) => {
      mkdirSync(name, PRIVATE)
      writeFileSync(`${name}/database`, "a draft")
    },
  ],
]

test.each(OWN)("of an administrator: gate.db.%s stays, and the store opens", async (name, make) => {
  const path = database()
  make(`${path}.${name}`, path)
  const before = beside(path)
  await start(path)
  expect(beside(path)).toEqual(before)
})
