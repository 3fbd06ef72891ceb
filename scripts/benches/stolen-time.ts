// How much of the processors the host of a virtual machine keeps for others.

import { readFileSync } from "node:fs"

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
