// A file system of its own, a few hundred kilobytes large, that a test can fill and make read-only.

import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export class SmallDisk implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "ipgate-disk-"))
  private readonly filler = join(this.path, "filler")

  /** Needs the rights to mount. */
  constructor(kilobytes: number) {
    run("mount", "-t", "tmpfs", "-o", `size=${kilobytes}k,mode=755`, "ipgate-test", this.path)
  }

  /** Leaves so many kilobytes free. */
  fill(free = 0): void {
    this.empty()
    const { bavail, bsize } = statfsSync(this.path)
    const file = openSync(this.filler, "w")
    try {
      const page = new Uint8Array(bsize)
      for (let left = bavail - Math.ceil((free * 1024) / bsize); left > 0; left--) writeSync(file, page)
    } finally {
      closeSync(file)
    }
  }

  empty(): void {
    rmSync(this.filler, { force: true })
  }

  /** Only while no file on it is open for writing. */
  makeReadOnly(): void {
    run("mount", "-o", "remount,ro", this.path)
  }

  makeWritable(): void {
    run("mount", "-o", "remount,rw", this.path)
  }

  [Symbol.dispose](): void {
    // Also under a process that has not ended yet.
    run("umount", "--lazy", this.path)
    rmSync(this.path, { recursive: true, force: true })
  }
}

function run(...command: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...command])
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString().trim()}`)
}
