// `ipgate import` as a process of its own.

import { builtBinary } from "../../test/support/binary.ts"
import type { Lab } from "./lab.ts"

export type ImportRun = {
  readonly seconds: number
  /** MiB that the client has held at most. */
  readonly clientPeak: number
  readonly counts: { readonly added: number; readonly unchanged: number; readonly duplicates: number }
}

/** Throws if the import is refused: the bench makes no bad files. */
export async function importFile(
  lab: Lab,
  server: string,
  file: string,
  ...args: readonly string[]
): Promise<ImportRun> {
  const startedAt = performance.now()
  const child = lab.start(
    [...lab.cores.load, builtBinary(), "import", file, "--json", ...args],
    lab.environment(server),
  )
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  const seconds = (performance.now() - startedAt) / 1000
  if (code !== 0) throw new Error(`ipgate import ${file} ended with ${code}:\n${stderr}`)
  const clientPeak = (child.resourceUsage()?.maxRSS ?? Number.NaN) / 1024 / 1024
  return { seconds, clientPeak, counts: JSON.parse(stdout) }
}
