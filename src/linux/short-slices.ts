// Has the thread that decides wait for a processor as shortly as Linux allows.

import { dlopen } from "bun:ffi"
import { getPriority } from "node:os"

/** sched_setattr(2), which the C library of Debian 12 does not offer by its name. */
const SCHED_SETATTR: Readonly<Record<string, number>> = { x64: 314, arm64: 274 }

const LIBRARIES = ["libc.so.6", `libc.musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`]

/** Nanoseconds; the kernel takes nothing below. */
const SHORTEST = 100_000n

/** Bytes of `struct sched_attr` in its first version. */
const ATTRIBUTES = 48
const FLAGS_AT = 8
const NICE_AT = 16
const SLICE_AT = 24
const RESET_ON_FORK = 1n

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
  const number = SCHED_SETATTR[process.arch]
  if (number === undefined) return false
  const attributes = Buffer.alloc(ATTRIBUTES)
  attributes.writeUInt32LE(ATTRIBUTES, 0)
  // The threads that this one makes have other work.
  attributes.writeBigUInt64LE(RESET_ON_FORK, FLAGS_AT)
  attributes.writeInt32LE(getPriority(), NICE_AT)
  attributes.writeBigUInt64LE(SHORTEST, SLICE_AT)
  for (const library of LIBRARIES) {
    try {
      const { symbols, close } = dlopen(library, {
        syscall: { args: ["i64", "i64", "ptr", "i64"], returns: "i64" },
      })
      const failed = symbols.syscall(BigInt(number), 0n, attributes, 0n) !== 0n
      close()
      return !failed
    } catch {
      // Another C library.
    }
  }
  return false
}
