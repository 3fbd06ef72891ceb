// A tarball for any Linux: the executable, the unit, and the documents, in one folder.

import { cpSync, mkdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { ProductFile } from "./product-files.ts"
import { run } from "./run.ts"

export type TarballParts = {
  readonly root: string
  readonly executable: string
  readonly files: readonly ProductFile[]
  /** Seconds since 1970, the time of every file in it. */
  readonly epoch: number
  /** Compressed as fast as possible. */
  readonly quick: boolean
}

/** `path` ends with `.tar.gz`; what stands before it is the name of the folder inside. */
export async function makeTarball(
  path: string,
  { root, executable, files, epoch, quick }: TarballParts,
): Promise<void> {
  const name = basename(path, ".tar.gz")
  const scratch = join(dirname(executable), `${name}.tarball`)
  const folder = join(scratch, name)
  mkdirSync(join(folder, "systemd"), { recursive: true })
  cpSync(executable, join(folder, "ipgate"))
  for (const unit of ["ipgate.service", "ipgate.sysusers", "ipgate.toml"]) {
    cpSync(join(root, "scripts/packaging", unit), join(folder, "systemd", unit))
  }
  for (const { kind, name, content } of files) {
    await Bun.write(
      join(folder, kind === "doc" ? "." : kind, name === "copyright" ? "LICENSES" : name),
      content,
    )
  }
  // Sorted, without the names and times of this machine: the same sources give the same bytes.
  const plain = [
    "--sort=name",
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    `--mtime=@${epoch}`,
    "--mode=u+rwX,go+rX,go-w",
  ]
  await run([
    "tar",
    "--create",
    `--use-compress-program=gzip -n -${quick ? 1 : 6}`,
    `--file=${path}`,
    `--directory=${scratch}`,
    ...plain,
    name,
  ])
}
