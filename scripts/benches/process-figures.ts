// What the kernel knows of a process: processor time, peak memory, children.

import { readFileSync } from "node:fs"

/** A tick of /proc, the same on every Linux. */
const TICKS_PER_SECOND = 100

/** User and system time of all threads, in seconds. Throws if the process has ended. */
export function cpuSeconds(pid: number): number {
  const stat = readStat(pid)
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

function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
  } catch {
    throw new Error(`process ${pid} has ended`)
  }
}
