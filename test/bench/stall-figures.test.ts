// What a reader is told of the windows: enough to see what the filter does, and to make the ratios again.

import { expect, test } from "bun:test"
import { Cores } from "../../scripts/benches/cores.ts"
import type { Window } from "../../scripts/benches/prober.ts"
import type { Programs } from "../../scripts/benches/programs.ts"
import type { Report } from "../../scripts/benches/report.ts"
import { type Measured, tellStall, windowsByFigure } from "../../scripts/benches/stall-figures.ts"
import type { Target } from "../../scripts/benches/target.ts"

const ALONE: Programs = { wrk: null, nginx: null, node: null, taskset: null, chrt: null, strace: null }

const window = (p99: number, p99OfAll: number): Window => ({
  ...{ answers: 1_000, wrong: 0, firstWrong: "", unanswered: 0, broken: 0, letIn: 0 },
  ...{ p50: 0.1, p99, p99OfAll, max: p99OfAll, leftOut: 0.2, lateness: 0.1 },
})

const idle = [window(0.2, 0.4), window(0.1, 0.4), window(0.3, 0.4)]
const changing = [window(0.4, 1), window(0.3, 1), window(0.6, 3)].map((one, i) => ({
  ...one,
  changes: 186 + i,
}))
const measured: Measured[] = [{ what: "200 changes a second", windows: changing, idle, idleName: "idle" }]

function told() {
  const targets: Target[] = []
  const notes: string[] = []
  const report = {
    target: (target: Target) => targets.push(target),
    table: (_: string, __: unknown, ___: unknown, ...said: string[]) => notes.push(...said),
  } as unknown as Report
  tellStall(report, new Cores(ALONE), measured)
  return { how: targets[0]?.detail, value: targets[0]?.value, notes: notes.join() }
}

test("the ratio comes with the range over the windows, without the filter, and with the changes that were made", () => {
  const { how, value } = told()
  expect(value).toBe(2)
  expect(how).toContain("0.40 ms (0.30 to 0.60) of 0.20 ms (0.10 to 0.30)")
  expect(how).toContain("with the slices that the host disturbed 2.50, 1.00 ms of 0.40 ms")
  expect(how).toContain("187 changes a second were made")
})

test("the prober goes first only where it may", () => {
  expect(told().notes).toContain("The prober runs on any core, and takes its turn there like everybody.")
})

test("every window is kept", () => {
  expect(windowsByFigure(measured)).toMatchObject({
    windows: {
      "200 changes a second": {
        idle: "idle",
        p99: [0.4, 0.3, 0.6],
        p99OfAll: [1, 1, 3],
        changesPerSecond: [186, 187, 188],
      },
    },
    idle: { idle: { p99: [0.2, 0.1, 0.3] } },
  })
})
