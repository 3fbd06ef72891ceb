// The write path, put together: gate, queue, store, and the allowlist that each commit is applied to.

import type { Allowlist } from "../core/allowlist.ts"
import type { Clock } from "../core/clock.ts"
import { applyCommitted } from "../gate/apply.ts"
import { Health } from "../gate/health.ts"
import { LocalGate } from "../gate/local-gate.ts"
import { CommitQueue } from "../store/commit-queue.ts"
import type { Store } from "../store/store.ts"

export type WritePath = { readonly gate: LocalGate; readonly queue: CommitQueue; readonly health: Health }

/** `startedAt` is on the monotonic clock: from there the uptime counts. */
export function assembleWritePath(
  store: Store,
  allowlist: Allowlist,
  clock: Clock,
  startedAt: number,
): WritePath {
  const health = new Health()
  const queue = new CommitQueue(
    (changes) => health.watch(store.commit(changes)),
    (changes, committed) => applyCommitted(allowlist, changes, committed),
  )
  return { gate: new LocalGate({ store, queue, allowlist, health, clock, startedAt }), queue, health }
}
