// Has a thread that has time give way to the one that decides, where both share a processor.

import { getPriority, setPriority } from "node:os"
import { SCHED_BATCH, schedSetattr } from "./sched-setattr.ts"

/** A tenth of the other's share of a processor when both are busy. */
const LOWER_BY = 10
const LOWEST = 19

/**
 * Lowers the calling thread. As a batch thread it never interrupts one that is running when it wakes up: handed a
 * change, the thread of the database would otherwise take the processor in the middle of the hand-over, for as long as
 * the transaction needs it, and whoever waits for a decision would wait for that. It is no idle thread (SCHED_IDLE): a
 * change must get on beside another program that uses all of the processor. Where none of that can be had, everything
 * works without.
 */
export function giveWay(): void {
  try {
    const nice = Math.min(getPriority() + LOWER_BY, LOWEST)
    if (!schedSetattr({ policy: SCHED_BATCH, nice, slice: 0n, resetOnFork: false })) setPriority(nice)
  } catch {
    // Nothing depends on it.
  }
}
