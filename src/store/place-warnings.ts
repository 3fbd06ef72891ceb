// What is risky about the place of a database, though it works: told at the start, because nothing fails until a crash.

import { realpathSync, statfsSync, statSync } from "node:fs"
import { resolve } from "node:path"

/** By the number of statfs(2): file systems whose locks and fsync depend on another machine, or on a program. */
const REMOTE_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x73757245, "Coda"],
  [0x01021997, "9P"],
  [0x786f4256, "vboxsf"],
  [0x65735546, "FUSE"],
])

/** The name of the file system if it is one that may lose what it has acknowledged, else `null`. */
export function remoteFileSystem(type: number): string | null {
  return REMOTE_FILE_SYSTEMS.get(type >>> 0) ?? null
}

/** One sentence for each risk of the database at `path`, which exists. */
export function placeWarnings(path: string): string[] {
  const warnings: string[] = []
  const remote = remoteFileSystem(statfsSync(path).type)
  if (remote !== null) {
    warnings.push(
      `the database is on a file system of the kind ${remote}: use a local disk, as locks may not hold`,
    )
  }
  if (statSync(path).nlink > 1) {
    warnings.push(
      "the database file has a second name (a hard link): open it by one name only, as its log belongs to that name",
    )
  }
  const real = realpathSync(path)
  if (real !== resolve(path)) warnings.push(`the database is a link: the file and its log are at ${real}`)
  return warnings
}
