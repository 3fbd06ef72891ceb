// A turn of wrk against one address, with the processor time that the asked processes took for it.

import { join } from "node:path"
import type { Lab } from "./lab.ts"
import { cpuSeconds } from "./process-figures.ts"
import type { Sample } from "./statistics.ts"

export type Load = {
  readonly url: string
  /** A script beside this file, and its arguments. */
  readonly script: "load.lua" | "adds.lua"
  readonly args: readonly string[]
  readonly connections: number
  /** Whole seconds: wrk knows no others. */
  readonly seconds: number
  /** Those whose processor time counts. */
  readonly servers: readonly number[]
}

export type Turn = Sample & {
  /** Those that were answered. */
  readonly requests: number
  /** Answers of 400 and more. */
  readonly refused: number
  /** Connections that were not made, or broke, and answers that were late by wrk's own patience. */
  readonly broken: number
  /** Answers with another status than the script was told to expect, if it was told one. */
  readonly unexpected: number
  /** The share of the connections' time that answered requests filled; wrk's mean of long delays is a high one. */
  readonly occupied: number
  /** The share of one core that the servers used. */
  readonly busy: number
}

/** Throws if wrk fails, or one of the servers ends meanwhile. */
export async function turn(lab: Lab, load: Load): Promise<Turn> {
  const { url, script, args, connections, seconds, servers } = load
  const before = servers.map(cpuSeconds)
  const child = lab.start([
    ...[...lab.cores.load, lab.programs.wrk ?? "wrk", "-t1", `-c${connections}`, `-d${seconds}s`],
    // Only answers that came are measured by it, in whole seconds: it says nothing of those that never do.
    ...["--timeout", "10s", "-s", join(import.meta.dir, script), url, "--", ...args],
  ])
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  const line = stdout.split("\n").findLast((text) => text.startsWith("{"))
  if ((await child.exited) !== 0 || line === undefined) throw new Error(`wrk failed:\n${stdout}${stderr}`)
  const { requests, micros, meanMicros, refused, broken, unexpected } = JSON.parse(line)
  const cpu = servers.reduce((sum, pid, i) => sum + cpuSeconds(pid) - (before[i] as number), 0)
  return {
    perSecond: requests / (micros / 1e6),
    cpuMicros: (cpu * 1e6) / requests,
    busy: cpu / (micros / 1e6),
    occupied: (meanMicros * requests) / (micros * connections),
    requests,
    refused,
    broken,
    unexpected,
  }
}
