// A million networks into a running server, and out again, while /auth is asked about them all the time.

import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { PERMANENT_PATH } from "../../../src/wire/paths.ts"
import { builtBinary } from "../../../test/support/binary.ts"
import { type ImportRun, importFile } from "../import-file.ts"
import type { Lab } from "../lab.ts"
import { type Entries, makeEntries } from "../million.ts"
import { Probe } from "../probe.ts"
import type { Window } from "../prober.ts"
import { peakMebibytes } from "../process-figures.ts"
import type { Report } from "../report.ts"

const DATABASE = "large.db"
/** Let in before the import and after it, and not named by the file. */
const ALWAYS_IN = ["192.0.2.1", "192.0.2.2", "2001:db8::1"]

export type Large = {
  readonly database: string
  readonly entries: Entries
  readonly run: ImportRun
  readonly serverPeak: number
  readonly window: Window
  readonly exportSeconds: number
}

let made: Promise<Large> | null = null

/** The large database, which several sections use and the first one makes. No server holds it. */
export function largeDatabase(lab: Lab, report: Report): Promise<Large> {
  made ??= make(lab, report)
  return made
}

export async function measureBulk(lab: Lab, report: Report): Promise<void> {
  report.section("bulk")
  const { entries, run, serverPeak, window, exportSeconds } = await largeDatabase(lab, report)
  report.table(
    `Import of ${entries.count} networks into a running server`,
    ["what", "measured"],
    [
      ["import, seconds", run.seconds],
      ["entries a second", entries.count / run.seconds],
      ["export of the same, seconds", exportSeconds],
      ["peak memory of the server, MiB", serverPeak],
      ["peak memory of the client, MiB", run.clientPeak],
      ["/auth meanwhile: answers, all right", window.answers - window.wrong],
      ["/auth meanwhile: p99, ms", window.p99],
      ["/auth meanwhile: longest, ms", window.max],
    ],
  )
  const what = `import of ${entries.count} networks`
  const detail = "server and client each on one core"
  report.target({ what, value: run.seconds, unit: "s", must: "at most", target: 30, detail })
  const memory = { unit: "MiB", must: "at most", target: 400, detail: "VmHWM since its start" } as const
  report.target({ what: `${what}, memory of the server`, value: serverPeak, ...memory })
  report.target({ what: `${what}, memory of the client`, value: run.clientPeak, ...memory, detail: "" })
}

async function make(lab: Lab, report: Report): Promise<Large> {
  const entries = await makeEntries(lab, "large", lab.plan.entries)
  const server = await lab.serve(DATABASE)
  for (const ip of ALWAYS_IN) {
    const answer = await server.api("POST", PERMANENT_PATH, { ip })
    if (answer.status !== 204) throw new Error(`adding ${ip}: ${answer.status}`)
  }
  const probe = await Probe.start(lab, report, server.url, [
    ...ALWAYS_IN.map((client) => ({ expectation: "in" as const, client })),
    ...entries.in.map((client) => ({ expectation: "from-now-on" as const, client })),
    ...entries.out.map((client) => ({ expectation: "out" as const, client })),
  ])
  probe.begin()
  const run = await importFile(lab, server.url, entries.file)
  const window = await probe.end("import")
  probe.begin()
  // Every client once more: from now on each must be let in.
  await Bun.sleep(1_500)
  const after = await probe.stop("after the import")
  if (after.letIn !== entries.in.length) {
    report.wrongAnswer(`of ${entries.in.length} imported clients ${after.letIn} were let in`)
  }
  if (run.counts.added !== entries.count) {
    report.wrongAnswer(`${entries.count} entries were imported, and ${run.counts.added} added`)
  }
  const serverPeak = peakMebibytes(server.pid)
  const exportSeconds = await exportAndCompare(lab, report, server.url, entries)
  await server.stop()
  return { database: DATABASE, entries, run, serverPeak, window, exportSeconds }
}

async function exportAndCompare(lab: Lab, report: Report, url: string, entries: Entries): Promise<number> {
  const file = lab.path("exported.txt")
  const startedAt = performance.now()
  const child = lab.start(
    ["sh", "-c", 'exec "$0" export --format values > "$1"', builtBinary(), file],
    lab.environment(url),
  )
  const code = await child.exited
  const seconds = (performance.now() - startedAt) / 1000
  const exported = linesOf(file).filter((line) => !ALWAYS_IN.includes(line))
  if (code !== 0 || digest(exported) !== digest(linesOf(entries.file))) {
    report.wrongAnswer(`the export (exit code ${code}, ${exported.length} lines) is not what was imported`)
  }
  return seconds
}

function linesOf(file: string): string[] {
  return readFileSync(file, "utf8").trim().split("\n")
}

function digest(lines: readonly string[]): string {
  return createHash("sha256").update(lines.toSorted().join("\n")).digest("hex")
}
