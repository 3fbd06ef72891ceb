// What the figures were measured on, and with which versions.

import { readFileSync } from "node:fs"
import { cpus, release, totalmem } from "node:os"
import { VERSION } from "../../src/version.ts"
import type { Lab } from "./lab.ts"

export type Machine = {
  readonly cpu: string
  readonly cores: number
  readonly kernel: string
  /** MiB. */
  readonly memory: number
  /** The kind of file system under the databases. */
  readonly disk: string
  readonly pinned: boolean
  /** What every server is told of its allocator. */
  readonly allocator: Readonly<Record<string, string>>
  readonly versions: Readonly<Record<string, string>>
  /** The sources, by git if they are in its hands, and otherwise by their version. */
  readonly sources: string
}

export function describeMachine({ programs, directory, cores, allocator }: Lab): Machine {
  const version = (program: string | null, ...args: string[]): string => {
    if (program === null) return "missing"
    const { stdout, stderr } = Bun.spawnSync([program, ...args])
    return /[0-9]+(\.[0-9]+)+/.exec(stdout.toString() + stderr.toString())?.[0] ?? "unknown"
  }
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    kernel: release(),
    memory: Math.round(totalmem() / 1024 / 1024),
    disk: fileSystemOf(directory),
    pinned: cores.pinned,
    allocator,
    versions: {
      ipgate: VERSION,
      bun: Bun.version,
      nginx: version(programs.nginx, "-v"),
      node: version(programs.node, "--version"),
      wrk: version(programs.wrk, "-v"),
      strace: version(programs.strace, "--version"),
    },
    sources: describeSources(),
  }
}

function describeSources(): string {
  const git = Bun.which("git")
  if (git === null) return VERSION
  const { exitCode, stdout } = Bun.spawnSync([git, "describe", "--always", "--tags", "--dirty"], {
    cwd: import.meta.dir,
    stderr: "ignore",
  })
  return exitCode === 0 ? stdout.toString().trim() : VERSION
}

function fileSystemOf(directory: string): string {
  const mounts = readFileSync("/proc/self/mounts", "utf8")
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [, at = "", kind = ""] = line.split(" ")
      return at === "/" || directory === at || directory.startsWith(`${at}/`) ? [{ at, kind }] : []
    })
  return mounts.sort((a, b) => b.at.length - a.at.length)[0]?.kind ?? "unknown"
}
