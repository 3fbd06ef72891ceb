// How long /auth takes while the database is busy: the delays of a moderate, constant load, against those of an idle server.

import { join } from "node:path"
import { startBare } from "../bare-server.ts"
import { inTurns, runNumbers, warmUp, whileChanging } from "../changing-windows.ts"
import { whileExpiring } from "../expiry-window.ts"
import { importFile } from "../import-file.ts"
import type { Lab } from "../lab.ts"
import { makeEntries } from "../million.ts"
import { type Asked, Probe } from "../probe.ts"
import type { Window } from "../prober.ts"
import { QuietWindows } from "../quiet-windows.ts"
import type { Report } from "../report.ts"
import { type Measured, tellStall, windowsByFigure } from "../stall-figures.ts"

/** Microseconds by which the disk is late in the worst case. */
const SLOW_DISK = 200_000

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
  for (const [what, count] of [
    [`${ofMany}, one of the first`, plan.windows],
    [`${ofMany}, a later one`, plan.laterImports],
  ] as const) {
    const importing: Window[] = []
    for (let i = 0; i < count; i++) importing.push(await quiet.take(importMore))
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
  for (let i = 0; i < plan.warmUpExpiries; i++) await expire()
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
  report.keepRounds("stall", { windowsTakenAgain: quiet.takenAgain, ...windowsByFigure(measured) })
  tellStall(report, lab.cores, measured)
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

function knownClients(entries: { in: readonly string[]; out: readonly string[] }): Asked[] {
  return entries.in.flatMap((client, i) => {
    const stranger = entries.out[i]
    return [
      { expectation: "in" as const, client },
      ...(stranger === undefined ? [] : [{ expectation: "out" as const, client: stranger }]),
    ]
  })
}
