// A backup on its way out: read a piece at a time, and gone from the disk as soon as it is open.

import { rmSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { dirname } from "node:path"

const PIECE = 1 << 18

/**
 * The bytes of the copy at `path`, whose folder is removed first: a reader that dies leaves nothing behind, and neither
 * does a copy that cannot be opened. Throws what the file system says.
 */
export async function* readBackup(path: string): AsyncGenerator<Uint8Array> {
  let file: FileHandle | null = null
  try {
    try {
      file = await open(path, "r")
    } finally {
      rmSync(dirname(path), { recursive: true, force: true })
    }
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(PIECE), 0, PIECE, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file?.close()
  }
}
