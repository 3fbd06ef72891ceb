// Records the expiry of entries that have ended. It only tidies: a late sweeper can let nobody in, because every
// decision compares the deadlines itself.

import type { Allowlist } from "../core/allowlist.ts"
import type { Clock } from "../core/clock.ts"
import type { CommitQueue } from "../store/commit-queue.ts"
import { expiry } from "./local-gate.ts"

const INTERVAL = 500
/**
 * Expiries in one transaction. Other changes get their turn between two of them, and decisions wait for no more than
 * the handing over or the taking over of so many: a tenth of a millisecond.
 */
const BATCH = 20
/**
 * After a transaction the sweeper rests for so many times as long as it took: it has no hurry, and whoever decides or
 * changes something on the same processor has. So ten thousand ends take some seconds in place of one.
 */
const RESTS = 4
/** Ends that one sweep records at leisure. Where it has found so many, more may come in a second than it would record. */
const AT_LEISURE = 20_000
/** Milliseconds of the longest rest: a disk that is slow has left the processor to others already. */
const LONGEST_REST = 50

export class Sweeper {
  private timer: Timer | null = null
  private sweeping = false
  private stopped = false

  constructor(
    private readonly allowlist: Allowlist,
    private readonly queue: Pick<CommitQueue, "add">,
    private readonly clock: Clock,
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

  /** Records everything that has ended by now, unless it is stopped. A database that fails is asked again at the next interval. */
  async sweep(): Promise<void> {
    if (this.sweeping) return
    this.sweeping = true
    try {
      for (let recorded = 0; !this.stopped; recorded += BATCH) {
        const ended = this.allowlist.endedGrants(BATCH).sort((a, b) => a.expiresAt - b.expiresAt)
        if (ended.length === 0) return
        const from = this.clock.mono()
        const now = this.clock.wall()
        await this.queue.add(ended.map(({ network, expiresAt }) => expiry(network, expiresAt, now)))
        // Fewer than could be taken were all that there are.
        if (ended.length < BATCH) return
        if (recorded < AT_LEISURE)
          await this.sleep(Math.min(RESTS * (this.clock.mono() - from), LONGEST_REST))
      }
    } catch {
      // The entries are still held and still ended; /status tells that the database does not work.
    } finally {
      this.sweeping = false
    }
  }
}

function asleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref())
}
