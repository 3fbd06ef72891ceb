// The one system call by which a thread says how it wants to be scheduled, where the C library offers no name for it.

import { dlopen } from "bun:ffi"

/** sched_setattr(2) by its number: the C library of Debian 12 has none for it. */
const SCHED_SETATTR: Readonly<Record<string, number>> = { x64: 314, arm64: 274 }

const LIBRARIES = ["libc.so.6", `libc.musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`]

/** Bytes of `struct sched_attr` in its first version, and where its fields are. */
const ATTRIBUTES = 48
const POLICY_AT = 4
const FLAGS_AT = 8
const NICE_AT = 16
const SLICE_AT = 24

/** sched(7): the usual one, and the one whose threads never interrupt another when they wake up. */
export const SCHED_OTHER = 0
export const SCHED_BATCH = 3

export type Scheduling = {
  readonly policy: typeof SCHED_OTHER | typeof SCHED_BATCH
  /** -20 to 19, the lowest. */
  readonly nice: number
  /** Nanoseconds; 0 for the kernel's own. */
  readonly slice: bigint
  /** True: threads that this one makes start with the usual scheduling. */
  readonly resetOnFork: boolean
}

/** For the calling thread. False where the kernel or a filter of system calls does not allow it. */
export function schedSetattr({ policy, nice, slice, resetOnFork }: Scheduling): boolean {
  const number = SCHED_SETATTR[process.arch]
  if (number === undefined) return false
  const attributes = Buffer.alloc(ATTRIBUTES)
  attributes.writeUInt32LE(ATTRIBUTES, 0)
  attributes.writeUInt32LE(policy, POLICY_AT)
  attributes.writeBigUInt64LE(resetOnFork ? 1n : 0n, FLAGS_AT)
  attributes.writeInt32LE(nice, NICE_AT)
  attributes.writeBigUInt64LE(slice, SLICE_AT)
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
