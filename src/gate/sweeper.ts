// Records the expiry of entries that have ended. It only tidies: a late sweeper can let nobody in, because every
// decision compares the deadlines itself.

import type { Allowlist } from "../core/allowlist.ts"
import type { Clock } from "../core/clock.ts"
import type { HeldGrant } from "../core/temporary-grants.ts"
import type { CommitQueue } from "../store/commit-queue.ts"
import { expiry } from "./local-gate.ts"

const INTERVAL = 500
/**
 * Expiries in one transaction. Other changes get their turn between two of them, and decisions wait for no more than
 * the handing over or the taking over of so many: of five they see nothing, of twenty a tenth of a millisecond.
 */
const SMALLEST_BATCH = 5
const LARGEST_BATCH = 20
/** Ends a millisecond that the size of a batch is chosen for: on a slow disk five at a time would take minutes. */
const PACE = 0.5
/**
 * After a transaction the sweeper rests for so many times as long as it took: it has no hurry, and whoever decides or
 * changes something on the same processor has. So ten thousand ends take some twenty seconds in place of one.
 */
const RESTS = 8
/**
 * Ends that one sweep records in batches as small as can be, and those that it records at leisure at all. Where it has
 * found so many, more may come in a second than it would record.
 */
const IN_SMALL_BATCHES = 10_000
const AT_LEISURE = 20_000
/** Milliseconds of the longest rest: a disk that is slow has left the processor to others already. */
const LONGEST_REST = 20
/** Entries of failed transactions that are kept apart. When the whole database fails, more of them would tell nothing. */
const MOST_APART = 200

export class Sweeper {
  /**
   * Ended entries whose transaction has failed. Each gets one of its own, so that one that cannot be recorded keeps no
   * other from it; one that has failed goes behind the others.
   */
  private readonly apart = new Map<string, HeldGrant>()
  /** True from a sweep that failed until one that does not. */
  private failing = false
  private timer: Timer | null = null
  private sweeping = false
  private stopped = false

  /** `onFailure` is told the error of the first of several sweeps that fail one after the other. */
  constructor(
    private readonly allowlist: Allowlist,
    private readonly queue: Pick<CommitQueue, "add">,
    private readonly clock: Clock,
    private readonly onFailure: (error: unknown) => void,
    private readonly sleep: (milliseconds: number) => Promise<void> = asleep,
  ) {}

  start(): void {
    this.stopped = false
    this.timer ??= setInterval(() => void this.sweep(), INTERVAL)
  }

  stop(): void {
    this.stopped = true
    if (this.timer !== null) clearInterval(this.timer)
    this.timer = null
  }

  /**
   * Records everything that has ended by now, unless it is stopped. The first transaction that fails ends it: its entries
   * are still held and still ended, and are tried again, each alone, at the next interval.
   */
  async sweep(): Promise<void> {
    if (this.sweeping) return
    this.sweeping = true
    try {
      let batch = SMALLEST_BATCH
      for (let recorded = 0; !this.stopped; ) {
        const ended = this.next(batch)
        const from = this.clock.mono()
        const failure = ended.length === 0 ? null : await this.record(ended)
        if (failure !== null) {
          if (!this.failing) this.onFailure(failure.cause)
          this.failing = true
          return
        }
        // Fewer than could be taken were all that there are.
        if (ended.length < batch && this.apart.size === 0) {
          this.failing = false
          return
        }
        recorded += ended.length
        const isAtLeisure = recorded < AT_LEISURE
        if (isAtLeisure) await this.sleep(Math.min(RESTS * (this.clock.mono() - from), LONGEST_REST))
        batch = recorded < IN_SMALL_BATCHES ? batchFor(this.clock.mono() - from) : LARGEST_BATCH
      }
    } finally {
      this.sweeping = false
    }
  }

  /** What goes into the next transaction, oldest first: a batch of what has never failed, or else one that has. */
  private next(batch: number): HeldGrant[] {
    if (this.apart.size < MOST_APART) {
      // More than are taken, because they come in no order.
      const ended = this.allowlist.endedGrants(LARGEST_BATCH + this.apart.size)
      // The names cost more than all the rest, and hardly ever is there one to be looked for.
      const fresh = this.apart.size === 0 ? ended : ended.filter((grant) => !this.apart.has(nameOf(grant)))
      if (fresh.length > 0) return fresh.sort((a, b) => a.expiresAt - b.expiresAt).slice(0, batch)
    }
    return [...this.apart.values()].slice(0, 1)
  }

  /** `null` if the ends are recorded. */
  private async record(ended: readonly HeldGrant[]): Promise<{ readonly cause: unknown } | null> {
    const now = this.clock.wall()
    if (this.apart.size > 0) for (const grant of ended) this.apart.delete(nameOf(grant))
    try {
      await this.queue.add(ended.map(({ network, expiresAt }) => expiry(network, expiresAt, now)))
      return null
    } catch (cause) {
      for (const grant of ended) this.apart.set(nameOf(grant), grant)
      return { cause }
    }
  }
}

/** Ends in the next transaction, if so many milliseconds lie between two. */
function batchFor(milliseconds: number): number {
  return Math.min(Math.max(Math.floor(PACE * milliseconds), SMALLEST_BATCH), LARGEST_BATCH)
}

function nameOf({ network, expiresAt }: HeldGrant): string {
  return `${network} ${expiresAt}`
}

function asleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref())
}
