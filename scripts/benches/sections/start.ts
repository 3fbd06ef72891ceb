// From the start of the process to the first right answer, with the large database.

import { builtBinary } from "../../../test/support/binary.ts"
import { freePort } from "../../../test/support/free-port.ts"
import { fate, mortal } from "../fate.ts"
import type { Lab } from "../lab.ts"
import { peakMebibytes } from "../process-figures.ts"
import type { Report } from "../report.ts"
import { median } from "../statistics.ts"
import { largeDatabase } from "./bulk.ts"

/** Milliseconds. */
const LONGEST_START = 60_000

type Start = { readonly seconds: number; readonly refused: number; readonly peak: number }

export async function measureStart(lab: Lab, report: Report): Promise<void> {
  const { database, entries } = await largeDatabase(lab, report)
  report.section("start")
  const starts: Start[] = []
  for (let i = 0; i < lab.plan.starts; i++) {
    starts.push(await start(lab, report, database, entries.in[i] as string, entries.out[i] as string))
  }
  const seconds = median(starts.map((start) => start.seconds))
  const peak = Math.max(...starts.map((start) => start.peak))
  report.table(
    `Start with ${entries.count} entries, the file in the page cache`,
    ["start", "seconds until the first right answer", "connections refused before", "peak memory, MiB"],
    starts.map((start, i) => [String(i + 1), start.seconds, String(start.refused), start.peak]),
  )
  const what = `start with ${entries.count} entries`
  report.target({ what, value: seconds, unit: "s", must: "at most", target: 2, detail: "median" })
  report.target({
    what: `${what}, memory`,
    value: peak,
    unit: "MiB",
    must: "at most",
    target: 350,
    detail: "VmHWM after the first answers",
  })
}

async function start(
  lab: Lab,
  report: Report,
  database: string,
  guest: string,
  stranger: string,
): Promise<Start> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const startedAt = performance.now()
  const child = lab.start([...lab.cores.server, builtBinary(), "serve", "--listen", `127.0.0.1:${port}`], {
    ...lab.environment(url),
    ...lab.allocator,
    IPGATE_DB: `file:${lab.path(database)}`,
  })
  let refused = 0
  for (;;) {
    const status = await decision(url, guest)
    if (status === 204) break
    if (status !== null) report.wrongAnswer(`just started: ${guest} gets ${status}`)
    refused++
    if (performance.now() - startedAt > LONGEST_START)
      throw new Error("ipgate serve does not begin to answer")
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`ipgate serve does not start: ${await fate(mortal(child))}`)
    await Bun.sleep(2)
  }
  const seconds = (performance.now() - startedAt) / 1000
  const status = await decision(url, stranger)
  if (status !== 401) report.wrongAnswer(`just started: the stranger ${stranger} gets ${status}`)
  const peak = peakMebibytes(child.pid)
  child.kill("SIGTERM")
  await child.exited
  return { seconds, refused, peak }
}

/** `null` if nobody listens. */
async function decision(url: string, client: string): Promise<number | null> {
  try {
    return (await fetch(`${url}/auth`, { headers: { "X-Real-IP": client }, keepalive: false })).status
  } catch {
    return null
  }
}
