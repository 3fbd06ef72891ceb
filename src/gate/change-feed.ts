// The live feed of committed changes: every follower gets each change once, in the order of the log.

import { AUDIT_ACTIONS, type AuditAction } from "../core/audit.ts"
import type { FeedEvent } from "../core/feed.ts"

/** Events that may wait for one reader. A reader that falls further behind is dropped, and never waited for. */
const LONGEST_BACKLOG = 10_000

export class ChangeFeed {
  private readonly followers = new Set<Follower>()
  private newest = 0
  private closed = false
  private readonly told = Object.fromEntries(AUDIT_ACTIONS.map((action) => [action, 0])) as Record<
    AuditAction,
    number
  >

  /** How many changes were published since the start, by action. */
  get counts(): Readonly<Record<AuditAction, number>> {
    return this.told
  }

  /** The id of the newest event. */
  get lastId(): number {
    return this.newest
  }

  /** Sets where the log stands before anything is published. */
  startAt(id: number): void {
    this.newest = id
  }

  get isClosed(): boolean {
    return this.closed
  }

  publish(events: readonly FeedEvent[]): void {
    if (events.length === 0) return
    for (const event of events) {
      this.newest = Math.max(this.newest, event.id)
      if (event.kind === "change") this.told[event.record.action]++
    }
    for (const follower of this.followers) follower.take(events)
  }

  /** Takes nobody in any more, and ends every follower but those that stay to the end. */
  close(): void {
    this.closed = true
    for (const follower of this.followers) if (!follower.staysToTheEnd) follower.leave()
  }

  /** Nothing more is published: those that have stayed read what waits for them, and are done. */
  end(): void {
    this.close()
    for (const follower of this.followers) follower.finish()
  }

  /**
   * From here on, until `leave` or until the follower is too slow or the feed is closed; or, if it stays to the end,
   * until that.
   */
  follow({ staysToTheEnd = false }: { readonly staysToTheEnd?: boolean } = {}): Follower {
    const follower = new Follower(() => this.followers.delete(follower), staysToTheEnd)
    if (this.closed) follower.leave()
    else this.followers.add(follower)
    return follower
  }
}

/** One reader's own queue. */
export class Follower {
  private queue: FeedEvent[] = []
  /** Wakes who waits in `next`. */
  private wake: (() => void) | null = null
  private left = false
  private finishing = false

  constructor(
    private readonly leaving: () => void,
    readonly staysToTheEnd = false,
  ) {}

  take(events: readonly FeedEvent[]): void {
    if (this.left || this.finishing) return
    if (this.queue.length + events.length > LONGEST_BACKLOG) {
      this.leave()
      return
    }
    for (const event of events) this.queue.push(event)
    this.wake?.()
  }

  /** No more comes: `next` gives what waits, and then the end. */
  finish(): void {
    this.finishing = true
    if (this.queue.length === 0) this.leave()
  }

  leave(): void {
    this.left = true
    this.queue = []
    this.leaving()
    this.wake?.()
  }

  /**
   * What has come since the last call, at least one event; `null` after the end; `[]` if nothing came for
   * `milliseconds`, if that is given. Only one may wait at a time.
   */
  next(milliseconds: number | null = null): Promise<FeedEvent[] | null> {
    if (this.queue.length > 0 || this.left) return Promise.resolve(this.taken())
    return new Promise((resolve) => {
      const timer = milliseconds === null ? null : setTimeout(() => this.wake?.(), milliseconds)
      this.wake = () => {
        this.wake = null
        if (timer !== null) clearTimeout(timer)
        resolve(this.taken())
      }
    })
  }

  private taken(): FeedEvent[] | null {
    if (this.left) return null
    const events = this.queue
    this.queue = []
    if (this.finishing) this.leave()
    return events
  }
}
