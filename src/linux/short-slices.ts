// Has the thread that decides wait for a processor as shortly as Linux allows.

import { getPriority } from "node:os"
import { SCHED_OTHER, schedSetattr } from "./sched-setattr.ts"

/** Nanoseconds; the kernel takes nothing below. */
const SHORTEST = 100_000n

/**
 * Asks for the shortest slices for the calling thread. From Linux 6.12 on a thread with short slices that wakes up goes
 * before one with longer slices that is running (sched(7) calls the policy SCHED_OTHER, the kernel's documents EEVDF), so
 * that where all share one processor a decision need not wait until the thread of the database has used up its own: 3 ms
 * and more. It gets no more of the processor than before. False where that cannot be had, and everything works without.
 *
 * The runtime's own threads keep their priority. Those that compile take 4 ms from a decision now and then, but its
 * collection of garbage waits for them: with a priority of 10 or 19 below, and another program that uses all of the
 * processor, 99 of 100 decisions while changes are written took up to 6 ms and 280 ms, in place of 4.
 */
export function takeShortSlices(): boolean {
  // The threads that this one makes have other work.
  return schedSetattr({ policy: SCHED_OTHER, nice: getPriority(), slice: SHORTEST, resetOnFork: true })
}
