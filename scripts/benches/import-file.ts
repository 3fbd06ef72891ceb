// `ipgate import` as a process of its own.

import { builtBinary } from "../../test/support/binary.ts"
import type { Lab } from "./lab.ts"
import { peakMebibytes } from "./process-figures.ts"

/** Milliseconds between two looks at the memory of the client. */
const LOOK_EVERY = 20

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
    [...lab.cores.load, builtBinary(), "import", file, "--force", "--json", ...args],
    lab.environment(server),
  )
  // Not what wait() tells of the child: that begins with the memory of the bench, which forked it.
  let clientPeak = Number.NaN
  const looking = setInterval(() => {
    try {
      const peak = peakMebibytes(child.pid)
      if (!Number.isNaN(peak)) clientPeak = peak
    } catch {
      // It has ended: what was seen last counts, and a peak never falls.
    }
  }, LOOK_EVERY)
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  clearInterval(looking)
  const seconds = (performance.now() - startedAt) / 1000
  if (code !== 0) throw new Error(`ipgate import ${file} ended with ${code}:\n${stderr}`)
  return { seconds, clientPeak, counts: JSON.parse(stdout) }
}
