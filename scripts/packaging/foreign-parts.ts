// The native parts of a target, from the npm registry: the Bun that runs there, and libSQL's addon.

import { cpSync, existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { addonPackage } from "../build.ts"
import type { ReleaseTarget } from "./release-targets.ts"
import { run } from "./run.ts"

export type ForeignParts = { readonly runtime: string; readonly addon: string }

/**
 * Installs them below `directory`. Both locks name the hashes of every package, for every kind of machine, and Bun
 * compares them; so a release is made from the same bytes on whatever machine it is made.
 */
export async function fetchForeignParts(
  root: string,
  { name, target, runtime, cpu, libc }: ReleaseTarget,
  directory: string,
): Promise<ForeignParts> {
  const machine = [`--cpu=${cpu}`, "--os=linux", `--libc=${libc}`]
  const install = async (from: string, wanted: string, ...options: string[]) => {
    const into = join(directory, name, wanted.startsWith("@oven/") ? "runtime" : "packages")
    mkdirSync(into, { recursive: true })
    for (const file of ["package.json", "bun.lock"]) cpSync(join(from, file), join(into, file))
    await run(
      [process.execPath, "install", "--frozen-lockfile", "--ignore-scripts", ...options, ...machine],
      {
        cwd: into,
      },
    )
    const found = join(into, "node_modules", wanted)
    if (!existsSync(found)) throw new Error(`${from}/bun.lock brings no ${wanted} for ${name}`)
    return found
  }
  return {
    runtime: join(await install(join(root, "scripts/packaging/runtimes"), runtime), "bin/bun"),
    addon: await install(root, addonPackage(target), "--production"),
  }
}
