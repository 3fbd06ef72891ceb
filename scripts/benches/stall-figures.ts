// What the windows of the section `stall` say: a table of the delays, and each against those of an idle server.

import type { ChangingWindow } from "./changing-windows.ts"
import type { Cores } from "./cores.ts"
import type { Window } from "./prober.ts"
import type { Report } from "./report.ts"
import { median } from "./statistics.ts"

const MOST = 1.5

export type Measured = {
  readonly what: string
  readonly windows: ReadonlyArray<Window | ChangingWindow>
  readonly idle: readonly Window[]
  readonly idleName: string
  /** Not ipgate, and no target: what the machine itself costs. */
  readonly isControl?: true
}

export function tellStall(report: Report, cores: Cores, measured: readonly Measured[]): void {
  const figures = (what: string, windows: readonly Window[]): Array<string | number> => [
    what,
    median(windows.map(({ p50 }) => p50)),
    median(windows.map(({ p99 }) => p99)),
    median(windows.map(({ p99OfAll }) => p99OfAll)),
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
    [
      ...[
        "while",
        "p50",
        "p99",
        "p99, nothing left out",
        "longest",
        "answers",
        "prober late, p99",
        "left out",
      ],
      "p99 to idle",
    ],
    rows,
    `2,000 requests a second over 64 kept connections, sent whether or not the earlier ones have been answered; a request that waits for a connection is charged with the wait, and counts in the window in which it was due. p50 and p99 are medians over the windows. Each window is cut into quarters of a second, and those in which the host of a virtual machine took a processor away, or the kernel went over all memory for it, are left out of p50 and p99; a window of which more than half would be left out was taken again, while there was time. ${cores.proberText}`,
  )
  for (const { what, windows, idle, isControl } of measured) {
    if (isControl) continue
    report.target({
      what: `p99 of /auth, ${what}, of the idle p99`,
      value: ratioToIdle(windows, idle),
      unit: "",
      must: "at most",
      target: MOST,
      detail: howOf(windows, idle),
    })
  }
}

/** The figures of every window, a list for each kind. */
export function windowsByFigure(measured: readonly Measured[]): Record<string, unknown> {
  return {
    windows: Object.fromEntries(
      measured.map(({ what, windows, idleName }) => [what, { idle: idleName, ...figuresOf(windows) }]),
    ),
    idle: Object.fromEntries(measured.map(({ idleName, idle }) => [idleName, figuresOf(idle)])),
  }
}

function figuresOf(windows: ReadonlyArray<Window | ChangingWindow>): Record<string, unknown> {
  const changes = windows.flatMap((window) => ("changes" in window ? [window.changes] : []))
  return {
    answers: windows.map(({ answers }) => answers),
    p50: windows.map(({ p50 }) => p50),
    p99: windows.map(({ p99 }) => p99),
    p99OfAll: windows.map(({ p99OfAll }) => p99OfAll),
    longest: windows.map(({ max }) => max),
    leftOut: windows.map(({ leftOut }) => leftOut),
    proberLate: windows.map(({ lateness }) => lateness),
    ...(changes.length === 0 ? {} : { changesPerSecond: changes }),
  }
}

function howOf(windows: ReadonlyArray<Window | ChangingWindow>, idle: readonly Window[]): string {
  const inAll = (of: readonly Window[]) => median(of.map(({ p99OfAll }) => p99OfAll))
  const changes = windows.flatMap((window) => ("changes" in window ? [window.changes] : []))
  return [
    `${rangeOf(windows)} of ${rangeOf(idle)}`,
    `the longest ${Math.max(...windows.map(({ max }) => max)).toFixed(1)} ms`,
    `with the slices that the host disturbed ${(inAll(windows) / inAll(idle)).toFixed(2)}, ${inAll(windows).toFixed(2)} ms of ${inAll(idle).toFixed(2)} ms`,
    ...(changes.length === 0 ? [] : [`${median(changes).toFixed(0)} changes a second were made`]),
  ].join("; ")
}

/** The median of the windows, and the least and the most of them. */
function rangeOf(windows: readonly Window[]): string {
  const all = windows.map(({ p99 }) => p99)
  return `${median(all).toFixed(2)} ms (${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)})`
}

function ratioToIdle(windows: readonly Window[], idle: readonly Window[]): number {
  return median(windows.map(({ p99 }) => p99)) / median(idle.map(({ p99 }) => p99))
}
