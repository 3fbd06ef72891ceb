// Delays that are worth something: on a machine that lends its processors out, those of some moments are not.

import { stolenShare, type Ticks } from "./stolen-time.ts"

/**
 * Collects delays by short slices of time. One in which the host of a virtual machine gave a processor to others is left
 * out: that is no delay of a server, and where a server has more to do there is more to take from it.
 */
export class QuietSlices {
  private all: number[] = []
  private quiet: number[] = []
  private current: number[] = []
  private ended = 0
  private disturbed = 0
  private since: Ticks

  constructor(private readonly now: () => Ticks) {
    this.since = now()
  }

  /** Forgets everything and begins anew. */
  begin(): void {
    this.all = []
    this.quiet = []
    this.current = []
    this.ended = 0
    this.disturbed = 0
    this.since = this.now()
  }

  add(delay: number): void {
    this.current.push(delay)
  }

  /** Ends a slice, and begins the next one. */
  turn(): void {
    const now = this.now()
    const isQuiet = stolenShare(this.since, now) === 0
    this.since = now
    this.ended++
    if (!isQuiet) this.disturbed++
    for (const delay of this.current) {
      this.all.push(delay)
      if (isQuiet) this.quiet.push(delay)
    }
    this.current = []
  }

  /** The share of the slices that were disturbed. */
  get leftOut(): number {
    return this.ended === 0 ? 0 : this.disturbed / this.ended
  }

  /** Every delay of the slices that have ended. */
  get everything(): readonly number[] {
    return this.all
  }

  /** Those of quiet slices; all of them if no slice was quiet. */
  get counting(): readonly number[] {
    return this.quiet.length === 0 ? this.all : this.quiet
  }
}
