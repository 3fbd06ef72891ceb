// What the bench found: targets, tables, wrong answers; on the terminal as it comes, and then as a whole.

import { type Cell, cellText } from "./cell.ts"
import type { Machine } from "./machine.ts"
import { machineText } from "./machine-text.ts"
import type { Plan } from "./plan.ts"
import { claim, isMet, type Target, verdict } from "./target.ts"

export type Table = {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: ReadonlyArray<readonly Cell[]>
  readonly notes: readonly string[]
}

/** All of a run. */
export type Findings = {
  readonly date: string
  readonly machine: Machine
  readonly plan: Plan
  readonly seconds: number
  readonly targets: readonly Target[]
  readonly tables: readonly Table[]
  /** The single figures of each section, from which its medians and ratios were made. */
  readonly rounds: Readonly<Record<string, unknown>>
  readonly leftOut: readonly string[]
  readonly wrong: readonly string[]
}

export class Report {
  private readonly targets: Target[] = []
  private readonly tables: Table[] = []
  private readonly rounds: Record<string, unknown> = {}
  private readonly wrong: string[] = []
  private readonly leftOut: string[] = []
  private readonly startedAt = performance.now()
  private readonly date = new Date().toISOString()

  constructor(
    private readonly machine: Machine,
    private readonly plan: Plan,
  ) {
    print(machineText(machine).join("\n"))
  }

  section(title: string): void {
    print(`\n== ${title} (after ${this.seconds()} s)`)
  }

  log(text: string): void {
    print(text)
  }

  table(
    title: string,
    columns: readonly string[],
    rows: ReadonlyArray<readonly Cell[]>,
    ...notes: string[]
  ): void {
    const table = { title, columns, rows, notes }
    this.tables.push(table)
    print(`\n${title}\n${aligned([columns, ...rows])}`)
    for (const note of notes) print(note)
  }

  /** Keeps what was measured before anything was made of it, so that somebody else can do that again. */
  keepRounds(section: string, figures: unknown): void {
    this.rounds[section] = figures
  }

  /** The sizes of the quick form say nothing about speed, so there no target is judged. */
  target(target: Target): void {
    if (this.plan.quick) return
    this.targets.push(target)
    print(`${verdict(target).padEnd(8)} ${claim(target)}${target.detail === "" ? "" : ` (${target.detail})`}`)
  }

  /** An answer that is not right: the only thing that fails the bench. */
  wrongAnswer(what: string): void {
    this.wrong.push(what)
    print(`WRONG    ${what}`)
  }

  leaveOut(what: string): void {
    this.leftOut.push(what)
    print(`left out: ${what}`)
  }

  summary(): string {
    const missed = this.targets.filter((target) => !isMet(target)).length
    const lines = this.targets.map((target) => `${verdict(target).padEnd(8)} ${claim(target)}`)
    const judged = this.plan.quick
      ? "quick: no target is judged"
      : `${this.targets.length - missed} targets met, ${missed} not met`
    const counts = `${judged}; ${this.wrong.length} wrong answers; ${this.seconds()} s`
    return [
      ...lines,
      ...this.leftOut.map((what) => `left out: ${what}`),
      ...this.wrong.map((what) => `WRONG    ${what}`),
      counts,
    ].join("\n")
  }

  findings(): Findings {
    const { date, machine, plan, targets, tables, rounds, leftOut, wrong } = this
    return { date, machine, plan, seconds: this.seconds(), targets, tables, rounds, leftOut, wrong }
  }

  private seconds(): number {
    return Math.round((performance.now() - this.startedAt) / 1000)
  }
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function aligned(rows: ReadonlyArray<readonly Cell[]>): string {
  const texts = rows.map((row) => row.map(cellText))
  const widths = (texts[0] ?? []).map((_, column) =>
    Math.max(...texts.map((row) => row[column]?.length ?? 0)),
  )
  return texts
    .map((row) =>
      row
        .map((text, column) =>
          column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}
