// How long the kernel has looked after the memory of this machine, on one of its processors.

import { readdirSync, readFileSync } from "node:fs"

/**
 * The kernel's monitor of memory accesses (DAMON), with which a host may find the memory of a virtual machine that it can
 * have back. It goes over all of it in one go: for forty milliseconds every five seconds, in which whoever wants the same
 * processor waits for up to half a millisecond at a time, of whatever priority.
 */
const MONITOR = /^kdamond\./

/** Of `processes`, in the form of /proc. Its threads are looked for once. Returns their time so far, in milliseconds. */
export function memoryMonitor(processes = "/proc"): () => number {
  const threads = readdirSync(processes).filter(
    (name) => /^[0-9]+$/.test(name) && MONITOR.test(textOf(`${processes}/${name}/comm`)),
  )
  return () => threads.reduce((sum, name) => sum + running(textOf(`${processes}/${name}/schedstat`)), 0)
}

/** The first number is the nanoseconds on a processor. */
function running(schedstat: string): number {
  return Number.parseInt(schedstat, 10) / 1e6 || 0
}

// Empty where a thread has ended, and where the kernel keeps no such file.
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
