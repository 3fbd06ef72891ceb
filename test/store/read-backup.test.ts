// A backup on its way out: its copy leaves the disk whatever happens to the reading.

import { expect, test } from "bun:test"
import { existsSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { readBackup } from "../../src/store/read-backup.ts"
import { temporaryPaths } from "../support/temp-store.ts"

const newPath = temporaryPaths()

/** Where a copy lies: in a folder of its own. */
const newCopy = () => `${mkdtempSync(`${newPath()}.backup-`)}/database`

test("its folder is gone with the first piece, and every byte comes all the same", async () => {
  const path = newCopy()
  const bytes = crypto.getRandomValues(new Uint8Array(60_000))
  const copy = Buffer.concat(Array.from({ length: 10 }, () => bytes))
  writeFileSync(path, copy)
  const pieces: Uint8Array[] = []
  for await (const piece of readBackup(path)) {
    expect(existsSync(dirname(path))).toBe(false)
    pieces.push(piece)
  }
  expect(Buffer.concat(pieces).equals(copy)).toBe(true)
})

test("a copy that cannot be opened leaves nothing on the disk either", async () => {
  const path = newCopy()
  writeFileSync(`${path}-journal`, "more of it")
  symlinkSync("database", path)
  await expect(readBackup(path).next()).rejects.toThrow("ELOOP")
  expect(existsSync(dirname(path))).toBe(false)
})
