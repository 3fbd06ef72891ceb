// Records the expiry of entries that have ended. It only tidies: a late sweeper can let nobody in, because every
// decision compares the deadlines itself.

import type { Allowlist } from "../core/allowlist.ts"
import type { Clock } from "../core/clock.ts"
import type { CommitQueue } from "../store/commit-queue.ts"
import { expiry } from "./local-gate.ts"

const INTERVAL = 500
/**
 * Expiries in one transaction. Other changes get their turn between two of them, and decisions wait for no more than
 * the taking over of so many: a tenth of a millisecond.
 */
const BATCH = 50

export class Sweeper {
  private timer: Timer | null = null
  private sweeping = false

  constructor(
    private readonly allowlist: Allowlist,
    private readonly queue: CommitQueue,
    private readonly clock: Clock,
  ) {}

  start(): void {
    this.timer ??= setInterval(() => void this.sweep(), INTERVAL)
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer)
    this.timer = null
  }

  /** Records everything that has ended by now. A database that fails is asked again at the next interval. */
  async sweep(): Promise<void> {
    if (this.sweeping) return
    this.sweeping = true
    try {
      for (;;) {
        const ended = this.allowlist.endedGrants(BATCH)
        if (ended.length === 0) return
        const now = this.clock.wall()
        await this.queue.add(ended.map(({ network, expiresAt }) => expiry(network, expiresAt, now)))
      }
    } catch {
      // The entries are still held and still ended; /status tells that the database does not work.
    } finally {
      this.sweeping = false
    }
  }
}
