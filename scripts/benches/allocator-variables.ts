// The shipped unit's word to the runtime's allocator: what is measured is the service as it is installed.

import { readFileSync } from "node:fs"
import { join } from "node:path"

const UNIT = join(import.meta.dir, "../packaging/ipgate.service")

/** The variables of the unit that the allocator reads; those that name directories are for the installed service alone. */
export function allocatorVariables(unit: string = readFileSync(UNIT, "utf8")): Record<string, string> {
  return Object.fromEntries(
    [...unit.matchAll(/^Environment=(MIMALLOC_\w+)=(\S+)$/gm)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  )
}
