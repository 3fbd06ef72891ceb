// Windows in which the lists are changed at a fixed rate while /auth is asked, in turns with windows of rest.

import type { ServerProcess } from "../../test/support/binary.ts"
import type { Lab } from "./lab.ts"
import { type Probe, startChanges } from "./probe.ts"
import type { Window } from "./prober.ts"
import type { QuietWindows } from "./quiet-windows.ts"
import type { Report } from "./report.ts"

/** `changes` is how many were made a second, which may be fewer than were asked for. */
export type ChangingWindow = Window & { readonly changes: number }

/** Windows of change that are thrown away. */
export async function warmUp(lab: Lab, change: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < lab.plan.warmUpWindows; i++) await change()
}

/** Windows of rest and windows of change, one after the other. */
export async function inTurns(
  lab: Lab,
  quiet: QuietWindows,
  rest: () => Promise<Window>,
  change: () => Promise<ChangingWindow>,
): Promise<{ idle: Window[]; windows: ChangingWindow[] }> {
  const idle: Window[] = []
  const windows: ChangingWindow[] = []
  for (let i = 0; i < lab.plan.windows; i++) {
    idle.push(await quiet.take(rest))
    windows.push(await quiet.take(change))
  }
  return { idle, windows }
}

export async function whileChanging(
  lab: Lab,
  report: Report,
  server: ServerProcess,
  probe: Probe,
  load: { perSecond: number; run: number },
): Promise<ChangingWindow> {
  const end = await startChanges(lab, report, server, { ...load, connections: 128 })
  const window = await probe.during(`${load.perSecond} changes a second`, () =>
    Bun.sleep(lab.plan.windowSeconds * 1000),
  )
  const { perSecond, p99 } = await end()
  report.log(
    `${load.perSecond} changes a second asked for, ${perSecond.toFixed(0)} made; 99 of 100 durable within ${p99.toFixed(1)} ms`,
  )
  return { ...window, changes: perSecond }
}

/** Of a changer after the other. */
export function runNumbers(): () => number {
  let next = 0
  return () => next++
}
