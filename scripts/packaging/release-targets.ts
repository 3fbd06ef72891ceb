// What a release is made for: the names that Bun, npm, Debian and a download have for each kind of machine.

import type { Target } from "../build.ts"

export type ReleaseTarget = {
  /** In the names of the files: `linux-x64`. */
  readonly name: string
  readonly target: Target
  /** The npm package of the runtime, pinned and hashed in `runtimes/bun.lock`. */
  readonly runtime: string
  readonly cpu: "x64" | "arm64"
  readonly libc: "glibc" | "musl"
  /** Debian's name of the machine; `null` where there is no Debian. */
  readonly debian: "amd64" | "arm64" | null
}

export const RELEASE_TARGETS: readonly ReleaseTarget[] = [
  {
    name: "linux-x64",
    target: "bun-linux-x64",
    runtime: "@oven/bun-linux-x64",
    cpu: "x64",
    libc: "glibc",
    debian: "amd64",
  },
  {
    name: "linux-arm64",
    target: "bun-linux-arm64",
    runtime: "@oven/bun-linux-aarch64",
    cpu: "arm64",
    libc: "glibc",
    debian: "arm64",
  },
  {
    name: "linux-x64-musl",
    target: "bun-linux-x64-musl",
    runtime: "@oven/bun-linux-x64-musl",
    cpu: "x64",
    libc: "musl",
    debian: null,
  },
  {
    name: "linux-arm64-musl",
    target: "bun-linux-arm64-musl",
    runtime: "@oven/bun-linux-aarch64-musl",
    cpu: "arm64",
    libc: "musl",
    debian: null,
  },
]
