// The write path, put together: gate, queue, store, and what each commit is taken over into.

import type { Allowlist } from "../core/allowlist.ts"
import type { Actor, Change } from "../core/change.ts"
import type { Clock } from "../core/clock.ts"
import { DecisionCounters } from "../core/decision-counters.ts"
import { EndedEntries } from "../core/ended-entries.ts"
import type { ImportCounts } from "../core/gate.ts"
import { RefusedClients } from "../core/refused-clients.ts"
import { TokenBook } from "../core/token-book.ts"
import { applyCommitted, applyLateImport } from "../gate/apply.ts"
import { ChangeFeed } from "../gate/change-feed.ts"
import { Health } from "../gate/health.ts"
import { LocalGate } from "../gate/local-gate.ts"
import { LocalTokens } from "../gate/local-tokens.ts"
import { LongReads } from "../gate/long-reads.ts"
import type { Meter } from "../meter.ts"
import { CommitQueue } from "../store/commit-queue.ts"
import type { Committed, Imported, Store } from "../store/store.ts"
import type { TokenStore } from "../store/token-store.ts"
import { newTokenSecret } from "../token-secret.ts"

export type WritePath = {
  readonly gate: LocalGate
  readonly queue: CommitQueue
  readonly health: Health
  readonly feed: ChangeFeed
  readonly counters: DecisionCounters
  readonly refused: RefusedClients
  readonly tokens: LocalTokens
  readonly book: TokenBook
  /** Tokens of the database that make no sense; nobody gets in with them. */
  readonly badTokens: number
  /** Takes over what was committed; for an answer that comes after its caller has given up. */
  readonly accept: (changes: readonly Change[], committed: Committed) => void
  readonly acceptLateImport: (imported: Imported) => void
}

export type WritePathOptions = {
  readonly meter?: Meter | null | undefined
  readonly onImport?: (counts: ImportCounts, by: Actor) => void
  /** True if all threads of this process have one processor between them; the default is that they have more. */
  readonly sharesProcessor?: boolean | undefined
}

/** `startedAt` is on the monotonic clock: from there the uptime counts. Rejects if the store cannot be asked. */
export async function assembleWritePath(
  store: Store & TokenStore,
  allowlist: Allowlist,
  clock: Clock,
  startedAt: number,
  { meter = null, onImport = () => {}, sharesProcessor = false }: WritePathOptions = {},
): Promise<WritePath> {
  const health = new Health()
  const feed = new ChangeFeed()
  const ended = new EndedEntries()
  const counters = new DecisionCounters()
  const refused = new RefusedClients(clock)
  const book = new TokenBook(clock)
  const badTokens = book.learn(await store.tokens())
  feed.startAt((await store.auditSlice({ after: null, limit: 0 })).newest)
  const accept = (changes: readonly Change[], committed: Committed) => {
    feed.publish(applyCommitted(allowlist, ended, changes, committed))
  }
  const acceptLateImport = (imported: Imported) => feed.publish(applyLateImport(allowlist, imported))
  const write: Write = (changes) => health.watchWrite(store.commit(changes))
  const queue = new CommitQueue(
    meter === null ? write : metered(meter, clock, write),
    accept,
    sharesProcessor,
  )
  const gate = new LocalGate({
    store,
    queue,
    allowlist,
    health,
    clock,
    startedAt,
    feed,
    ended,
    counters,
    refused,
    longReads: new LongReads(),
    sharesProcessor,
    onImport,
  })
  const tokens = new LocalTokens({ store, queue, health, book, clock, newSecret: newTokenSecret })
  return { gate, tokens, book, badTokens, queue, health, feed, counters, refused, accept, acceptLateImport }
}

type Write = (changes: readonly Change[]) => Promise<Committed>

function metered(meter: Meter, clock: Clock, write: Write): Write {
  return async (changes) => {
    const from = clock.mono()
    try {
      const committed = await write(changes)
      meter.commit((clock.mono() - from) / 1000, changes.length)
      return committed
    } catch (error) {
      meter.commitFailed()
      throw error
    }
  }
}
