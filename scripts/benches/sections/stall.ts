// How long /auth takes while the database is busy: the delays of a moderate, constant load, against those of an idle server.

import { join } from "node:path"
import type { ServerProcess } from "../../../test/support/binary.ts"
import { startBare } from "../bare-server.ts"
import { importFile } from "../import-file.ts"
import type { Lab } from "../lab.ts"
import { makeEntries } from "../million.ts"
import { type Asked, Probe, startChanges } from "../probe.ts"
import type { Window } from "../prober.ts"
import { QuietWindows } from "../quiet-windows.ts"
import type { Report } from "../report.ts"
import { median } from "../statistics.ts"

const MOST = 1.5
/** Microseconds by which the disk is late in the worst case. */
const SLOW_DISK = 200_000
/** Milliseconds after which what must happen has not happened. */
const LONGEST_WAIT = 60_000

type Measured = {
  readonly what: string
  readonly windows: readonly Window[]
  readonly idle: readonly Window[]
  readonly idleName: string
  /** Not ipgate, and no target: what the machine itself costs. */
  readonly isControl?: true
}

export async function measureStall(lab: Lab, report: Report): Promise<void> {
  report.section("no stall")
  const { plan } = lab
  const seconds = () => Bun.sleep(plan.windowSeconds * 1000)
  const measured: Measured[] = []
  const run = runNumbers()

  const first = await makeEntries(lab, "stall-1", plan.importedWhileWatched)
  const server = await lab.serve("stall.db")
  await importFile(lab, server.url, first.file)
  const probe = await Probe.start(lab, report, server.url, knownClients(first))
  await seconds()
  const change = () => whileChanging(lab, report, server, probe, { perSecond: 1_000, run: run() })
  const rest = () => probe.during("idle", seconds)
  const quiet = new QuietWindows(report, plan.againSeconds)
  // Idle is a server that has long been warm; so what changes do has to be compiled too before the first window.
  await warmUp(lab, change)

  const idleName = "idle"
  const { idle, windows: changing } = await inTurns(lab, quiet, rest, change)
  measured.push({ what: "1,000 changes a second", windows: changing, idle, idleName })

  let seed = 1
  const importMore = async () => {
    const more = await makeEntries(lab, `stall-${++seed}`, plan.importedWhileWatched, { seed })
    return probe.during("import", () => importFile(lab, server.url, more.file))
  }
  // Few servers import often, so what the first ones cost counts for itself: the runtime compiles their code meanwhile.
  const ofMany = `import of ${plan.importedWhileWatched} entries`
  for (const what of [`${ofMany}, one of the first`, `${ofMany}, a later one`]) {
    const importing: Window[] = []
    for (let i = 0; i < plan.windows; i++) importing.push(await quiet.take(importMore))
    measured.push({ what, windows: importing, idle, idleName })
  }

  // The imports have the runtime compile much of it anew, because they are another use of the same code.
  await warmUp(lab, change)
  const rotating = await inTurns(lab, quiet, rest, change)
  idle.push(...rotating.idle)
  const rotation = plan.quick
    ? "1,000 changes a second, again"
    : "1,000 changes a second, the log rotating at 200,000"
  measured.push({ what: rotation, windows: rotating.windows, idle, idleName })

  const expiring: Window[] = []
  let expired = 0
  const expire = async () => {
    const window = await whileExpiring(lab, report, server, probe, expired)
    expired += plan.expiringAtOnce
    return window
  }
  await expire()
  for (let i = 0; i < plan.windows; i++) expiring.push(await quiet.take(expire))
  measured.push({
    what: `${plan.expiringAtOnce} entries expire at once`,
    windows: expiring,
    idle,
    idleName,
  })
  await probe.stop("idle")
  await server.stop()

  measured.push(await besideAWriter(lab, report, quiet, run))
  if (lab.programs.strace !== null) measured.push(await withSlowDisk(lab, report, quiet, run))
  tell(report, measured)
}

/**
 * A bare handler, while an ipgate on the same core writes: two processes that share nothing but the processor and the
 * disk. No server that has one core for its decisions and its writes can be expected below this.
 */
async function besideAWriter(
  lab: Lab,
  report: Report,
  quiet: QuietWindows,
  run: () => number,
): Promise<Measured> {
  const writer = await lab.serve("beside.db")
  const bare = await startBare(lab, [process.execPath, join(import.meta.dir, "../contenders/bare-bun.ts")])
  const probe = await Probe.start(lab, report, bare.url, [{ expectation: "in", client: "192.0.2.1" }])
  const idleName = "a bare handler, idle"
  const change = () => whileChanging(lab, report, writer, probe, { perSecond: 1_000, run: run() })
  const rest = () => probe.during(idleName, () => Bun.sleep(lab.plan.windowSeconds * 1000))
  await warmUp(lab, change)
  const { idle, windows } = await inTurns(lab, quiet, rest, change)
  await probe.stop(idleName)
  await writer.stop()
  return {
    what: "1,000 changes a second, by another process on its core",
    windows,
    idle,
    idleName,
    isControl: true,
  }
}

/** A database whose every fsync (libSQL calls that, and not fdatasync) takes 200 ms more. The idle windows are of the same server, traced as well. */
async function withSlowDisk(
  lab: Lab,
  report: Report,
  quiet: QuietWindows,
  run: () => number,
): Promise<Measured> {
  const entries = await makeEntries(lab, "slow-disk", 1_000)
  // -D: the server stays our child. --seccomp-bpf: it stops for these two system calls and for no other.
  const strace = [
    ...[lab.programs.strace ?? "strace", "-D", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null"],
    ...["-e", "trace=fdatasync,fsync", "-e", `inject=fdatasync,fsync:delay_exit=${SLOW_DISK}`],
  ]
  const server = await lab.serve("slow.db", { prefix: [...lab.cores.load, ...strace, ...lab.cores.server] })
  await importFile(lab, server.url, entries.file)
  const probe = await Probe.start(lab, report, server.url, knownClients(entries))
  const idleName = "idle, traced by strace"
  const change = () => whileChanging(lab, report, server, probe, { perSecond: 200, run: run() })
  const rest = () => probe.during(idleName, () => Bun.sleep(lab.plan.windowSeconds * 1000))
  // As for the same changes on a disk that is not slow.
  await warmUp(lab, change)
  const { idle, windows } = await inTurns(lab, quiet, rest, change)
  await probe.stop(idleName)
  await server.stop()
  return { what: "200 changes a second, each fsync 200 ms late", windows, idle, idleName }
}

/** Windows of change that are thrown away. */
async function warmUp(lab: Lab, change: () => Promise<Window>): Promise<void> {
  for (let i = 0; i < lab.plan.warmUpWindows; i++) await change()
}

/** Windows of rest and windows of change, one after the other. */
async function inTurns(
  lab: Lab,
  quiet: QuietWindows,
  rest: () => Promise<Window>,
  change: () => Promise<Window>,
): Promise<{ idle: Window[]; windows: Window[] }> {
  const idle: Window[] = []
  const windows: Window[] = []
  for (let i = 0; i < lab.plan.windows; i++) {
    idle.push(await quiet.take(rest))
    windows.push(await quiet.take(change))
  }
  return { idle, windows }
}

async function whileChanging(
  lab: Lab,
  report: Report,
  server: ServerProcess,
  probe: Probe,
  load: { perSecond: number; run: number },
): Promise<Window> {
  const end = await startChanges(lab, report, server, { ...load, connections: 128 })
  const window = await probe.during(`${load.perSecond} changes a second`, () =>
    Bun.sleep(lab.plan.windowSeconds * 1000),
  )
  const { perSecond, p99 } = await end()
  report.log(
    `${load.perSecond} changes a second asked for, ${perSecond.toFixed(0)} made; 99 of 100 durable within ${p99.toFixed(1)} ms`,
  )
  return window
}

/** From the moment when they end until the last one is in the log, which tells of so many expiries already. */
async function whileExpiring(
  lab: Lab,
  report: Report,
  server: ServerProcess,
  probe: Probe,
  toldBefore: number,
): Promise<Window> {
  const count = lab.plan.expiringAtOnce
  const names = Array.from({ length: count }, (_, i) => `172.16.${i >> 8}.${i & 255}`)
  const file = await lab.write("expiring.txt", `${names.join("\n")}\n`)
  await importFile(lab, server.url, file, "--ttl", "5s")
  const status = async () =>
    (await fetch(`${server.url}/status`)).json() as Promise<{ temp_whitelist_count: number }>
  const last = names.at(-1) as string
  if ((await server.decision(last)) !== 204) report.wrongAnswer(`${last} is not let in before it expires`)
  const toExpire = async () => (await status()).temp_whitelist_count === 0
  if (!(await within(toExpire, 20))) report.wrongAnswer(`${count} entries do not expire`)
  const window = await probe.during("expiry", async () => {
    const recorded = `/api/logs?action=expire_temp&limit=1&offset=${toldBefore + count - 1}`
    const inTheLog = async () => (await server.read<unknown[]>(recorded)).length > 0
    if (!(await within(inTheLog, 100))) report.wrongAnswer(`the log does not tell of ${count} expiries`)
  })
  if ((await server.decision(last)) !== 401) report.wrongAnswer(`${last} is let in after it expired`)
  return window
}

/** Asks at this interval of milliseconds until it is so; false if it does not become so. */
async function within(isSo: () => Promise<boolean>, interval: number): Promise<boolean> {
  const deadline = performance.now() + LONGEST_WAIT
  while (performance.now() < deadline) {
    if (await isSo()) return true
    await Bun.sleep(interval)
  }
  return false
}

function tell(report: Report, measured: readonly Measured[]): void {
  const figures = (what: string, windows: readonly Window[]): Array<string | number> => [
    what,
    median(windows.map(({ p50 }) => p50)),
    median(windows.map(({ p99 }) => p99)),
    Math.max(...windows.map(({ max }) => max)),
    windows.reduce((sum, { answers }) => sum + answers, 0),
    median(windows.map(({ lateness }) => lateness)),
    `${(median(windows.map(({ leftOut }) => leftOut)) * 100).toFixed(0)} %`,
  ]
  const rows: Array<ReturnType<typeof figures>> = []
  let idleBefore: readonly Window[] = []
  for (const { what, windows, idle, idleName } of measured) {
    if (idle !== idleBefore) rows.push([...figures(idleName, idle), ""])
    idleBefore = idle
    rows.push([...figures(what, windows), ratioToIdle(windows, idle)])
  }
  report.table(
    "The delay of /auth, in milliseconds",
    ["while", "p50", "p99", "longest", "answers", "prober late, p99", "left out", "p99 to idle"],
    rows,
    "2,000 requests a second over 64 kept connections, sent whether or not the earlier ones have been answered; a request that waits for a connection is charged with the wait. p50 and p99 are medians over the windows. Each window is cut into quarters of a second, and those in which the host of a virtual machine took a processor away are left out of p50 and p99; a window of which more than half would be left out was taken again, while there was time. The prober runs on the core of the load and goes first there.",
  )
  for (const { what, windows, idle, isControl } of measured) {
    if (isControl) continue
    report.target({
      what: `p99 of /auth, ${what}, of the idle p99`,
      value: ratioToIdle(windows, idle),
      unit: "",
      must: "at most",
      target: MOST,
      detail:
        `${median(windows.map(({ p99 }) => p99)).toFixed(2)} ms of ${median(idle.map(({ p99 }) => p99)).toFixed(2)} ms, ` +
        `the longest ${Math.max(...windows.map(({ max }) => max)).toFixed(1)} ms`,
    })
  }
}

function ratioToIdle(windows: readonly Window[], idle: readonly Window[]): number {
  return median(windows.map(({ p99 }) => p99)) / median(idle.map(({ p99 }) => p99))
}

function knownClients(entries: { in: readonly string[]; out: readonly string[] }): Asked[] {
  return entries.in.flatMap((client, i) => {
    const stranger = entries.out[i]
    return [
      { expectation: "in" as const, client },
      ...(stranger === undefined ? [] : [{ expectation: "out" as const, client: stranger }]),
    ]
  })
}

function runNumbers(): () => number {
  let next = 0
  return () => next++
}
