// Delays that are worth something: on a machine that lends its processors out, those of some moments are not.

import { stolenShare, type Ticks } from "./stolen-time.ts"

/** Since the start: ticks of the processors, and the milliseconds of the kernel's monitor of memory accesses. */
export type Taken = { readonly ticks: Ticks; readonly monitor: number }

/** Milliseconds of the monitor in a slice: it always runs for one or two, and for forty when it goes over everything. */
const MOST_MONITORED = 5

/**
 * Collects delays by short slices of time. One in which the host of a virtual machine gave a processor to others, or its
 * monitor of the memory had one, is left out: that is no delay of a server, and where a server has more to do there is
 * more to take from it. Of any processor: an answer is late as well where the prober could not read it, which has the
 * other one.
 */
export class QuietSlices {
  private readonly ended: Array<{ readonly delays: readonly number[]; readonly isQuiet: boolean }> = []
  private current: number[] = []
  private since: Taken

  constructor(private readonly now: () => Taken) {
    this.since = now()
  }

  add(delay: number): void {
    this.current.push(delay)
  }

  /** Ends a slice, and begins the next one. */
  turn(): void {
    const now = this.now()
    this.ended.push({ delays: this.current, isQuiet: isQuiet(this.since, now) })
    this.current = []
    this.since = now
  }

  /** The share of the slices that were disturbed. */
  get leftOut(): number {
    return this.ended.length === 0
      ? 0
      : this.ended.filter(({ isQuiet }) => !isQuiet).length / this.ended.length
  }

  /** Every delay of the slices that have ended. */
  get everything(): readonly number[] {
    return this.ended.flatMap(({ delays }) => delays)
  }

  /** Those of quiet slices; all of them if no slice was quiet. */
  get counting(): readonly number[] {
    const quiet = this.ended.filter(({ isQuiet }) => isQuiet).flatMap(({ delays }) => delays)
    return quiet.length === 0 ? this.everything : quiet
  }
}

function isQuiet(since: Taken, now: Taken): boolean {
  return stolenShare(since.ticks, now.ticks) === 0 && now.monitor - since.monitor <= MOST_MONITORED
}
