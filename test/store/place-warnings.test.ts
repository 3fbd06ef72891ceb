// What is said about the place of a database: the kinds of file systems, and more names than one.

import { expect, test } from "bun:test"
import { linkSync, symlinkSync, writeFileSync } from "node:fs"
import { relative } from "node:path"
import { placeWarnings, remoteFileSystem } from "../../src/store/place-warnings.ts"
import { temporaryPaths } from "../support/temp-store.ts"

const newPath = temporaryPaths()

test("a file system of another machine is told by its number, however the system signs it", () => {
  expect([0x6969, 0xff534d42, 0xff534d42 | 0, 0xfe534d42, 0x65735546].map(remoteFileSystem)).toEqual([
    "NFS",
    "CIFS",
    "CIFS",
    "SMB2",
    "FUSE",
  ])
  // ext4, xfs, btrfs, tmpfs, overlay, zfs
  const local = [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1]
  expect(local.map(remoteFileSystem)).toEqual(local.map(() => null))
})

test("a file with one name on a local disk is worth no word", () => {
  const path = newPath()
  writeFileSync(path, "")
  expect(placeWarnings(path)).toEqual([])
  // Another spelling of the same place is no link.
  expect(placeWarnings(relative(process.cwd(), path))).toEqual([])
  expect(placeWarnings(`//${path}`)).toEqual([])
})

test("a second name and a link are named", () => {
  const path = newPath()
  writeFileSync(path, "")
  linkSync(path, `${path}.second`)
  symlinkSync(path, `${path}.link`)
  expect(placeWarnings(path)).toEqual([expect.stringContaining("hard link")])
  expect(placeWarnings(`${path}.link`)).toEqual([
    expect.stringContaining("hard link"),
    `the database is a link: the file and its log are at ${path}`,
  ])
})
