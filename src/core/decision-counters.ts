// How many were let in and kept out. Plain numbers: anything dearer would be felt at every request.

import type { DecisionCounts } from "./gate.ts"

export class DecisionCounters implements DecisionCounts {
  allowed = 0
  denied = 0
  /** Those of `denied` whose address is not known: an untrusted peer, or a header absent or malformed. */
  unidentified = 0
}
