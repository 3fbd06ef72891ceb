// A turn of wrk against one address, with the processor time that the asked processes took for it.

import { join } from "node:path"
import { cpuSeconds } from "./process-figures.ts"
import type { Sample } from "./statistics.ts"

export type Load = {
  readonly command: readonly string[]
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
  readonly requests: number
  /** Answers of 400 and more. */
  readonly refused: number
  /** Requests without an answer. */
  readonly broken: number
  /** The share of one core that the servers used. */
  readonly busy: number
}

export async function turn({
  command,
  url,
  script,
  args,
  connections,
  seconds,
  servers,
}: Load): Promise<Turn> {
  const before = servers.map(cpuSeconds)
  const child = Bun.spawn(
    [
      ...command,
      ...["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s"],
      ...["-s", join(import.meta.dir, script), url, "--", ...args],
    ],
    { stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  )
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  const line = stdout.split("\n").findLast((text) => text.startsWith("{"))
  if ((await child.exited) !== 0 || line === undefined) throw new Error(`wrk failed:\n${stdout}${stderr}`)
  const { requests, micros, refused, broken } = JSON.parse(line)
  const cpu = servers.reduce((sum, pid, i) => sum + cpuSeconds(pid) - (before[i] as number), 0)
  return {
    perSecond: requests / (micros / 1e6),
    cpuMicros: (cpu * 1e6) / requests,
    busy: cpu / (micros / 1e6),
    requests,
    refused,
    broken,
  }
}
