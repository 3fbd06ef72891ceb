// Fills a new allowlist with everything that the store holds.

import { Allowlist } from "../core/allowlist.ts"
import type { Clock } from "../core/clock.ts"
import { addChunk } from "../gate/apply.ts"
import type { Store } from "../store/store.ts"

/** Also tells how many rows were no network: those let nobody in, and somebody should hear of them. */
export async function loadAllowlist(
  store: Store,
  clock: Clock,
): Promise<{ allowlist: Allowlist; badRows: number }> {
  const allowlist = new Allowlist(clock)
  let badRows = 0
  await store.snapshot((chunk) => {
    badRows += addChunk(allowlist, chunk)
  })
  return { allowlist, badRows }
}
