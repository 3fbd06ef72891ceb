// A consistent copy of the running database, whole and looked at before anybody gets it.

import { chmodSync, closeSync, fsyncSync, mkdtempSync, openSync, rmSync } from "node:fs"
import { Connection, passesCheck } from "./connection.ts"
import { damaged } from "./failures.ts"

/**
 * Writes the state of one moment into a new file in a new folder `PATH.backup-…`, for the owner alone, and returns its
 * path. The folder belongs to the caller. Nothing of a copy that fails is left.
 */
export function writeBackup(connection: Connection, path: string): string {
  const folder = mkdtempSync(`${path}.backup-`)
  const copy = `${folder}/database`
  try {
    // The mode has to be right before the first byte is written.
    closeSync(openSync(copy, "wx", 0o600))
    chmodSync(copy, 0o600)
    // Read through the connection that owns the file: opening it a second time in this process would drop its lock.
    connection.execute({ sql: "VACUUM INTO ?", args: [copy] })
    const file = openSync(copy, "r+")
    fsyncSync(file)
    closeSync(file)
    const written = Connection.open(copy, 0)
    try {
      if (!passesCheck(written, "quick_check")) throw damaged(path)
    } finally {
      written.close()
    }
    return copy
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true })
    throw cause
  }
}
