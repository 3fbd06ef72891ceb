// What the kernel knows of a process, processor time, peak memory, children, and of the processors themselves.

import { readFileSync } from "node:fs"

/** A tick of /proc, the same on every Linux. */
const TICKS_PER_SECOND = 100

/** User and system time of all threads, in seconds. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  // The name in parentheses may hold spaces; the state follows it, and the two times are the 12th and 13th after that.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** The most memory that the process has held, in MiB. */
export function peakMebibytes(pid: number): number {
  const line = /^VmHWM:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1] ?? Number.NaN) / 1024
}

export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number)
}

/** Time of all processors since the start, and how much of it they were given to others by the host of a virtual machine. */
export type Ticks = { readonly all: number; readonly stolen: number }

export function ticks(): Ticks {
  const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n", 1)
  // proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal; what follows is part of these.
  const times = line.split(/ +/).slice(1, 9).map(Number)
  return { all: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 }
}

/** The share of the time between these two moments in which the processors were elsewhere. */
export function stolenShare(before: Ticks, after: Ticks): number {
  const all = after.all - before.all
  return all <= 0 ? 0 : (after.stolen - before.stolen) / all
}
