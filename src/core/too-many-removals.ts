// How many permanent entries an import may remove: the same words for who does it and for who only tries it.

import { GateError } from "./errors.ts"

/** Why an import that would remove so many is refused, as an `invalid`; `null` if it may. */
export function tooManyRemovals(
  removals: number,
  { maxRemovals }: { readonly maxRemovals: number },
): GateError | null {
  if (removals <= maxRemovals) return null
  return new GateError(
    "invalid",
    `pruning would remove ${removals} permanent entries, and at most ${maxRemovals} may go: nothing was changed`,
    { hint: `if they shall go, allow as many: --max-removals ${removals}, or prune=${removals} of the API` },
  )
}
