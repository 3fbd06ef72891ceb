// What the bench found: targets, tables, wrong answers; on the terminal as it comes, then as JSON and as Markdown.

import type { Machine } from "./machine.ts"

export type Target = {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly must: "at least" | "at most"
  readonly target: number
  /** How the value came about, or why it is what it is. */
  readonly detail: string
}

type Cell = string | number

export type Table = {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: ReadonlyArray<readonly Cell[]>
  readonly notes: readonly string[]
}

export class Report {
  private readonly targets: Target[] = []
  private readonly tables: Table[] = []
  private readonly wrong: string[] = []
  readonly leftOut: string[] = []
  private readonly startedAt = performance.now()

  constructor(
    private readonly machine: Machine,
    private readonly quick: boolean,
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

  /** The sizes of the quick form say nothing about speed, so there no target is judged. */
  target(target: Target): void {
    if (this.quick) return
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

  get right(): boolean {
    return this.wrong.length === 0
  }

  summary(): string {
    const missed = this.targets.filter((target) => !isMet(target)).length
    const lines = this.targets.map((target) => `${verdict(target).padEnd(8)} ${claim(target)}`)
    const judged = this.quick
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

  json(): string {
    const { machine, quick, tables, wrong, leftOut } = this
    const targets = this.targets.map((target) => ({ ...target, met: isMet(target) }))
    return `${JSON.stringify({ machine, quick, seconds: this.seconds(), targets, tables, leftOut, wrong }, null, 2)}\n`
  }

  markdown(): string {
    const targets = this.targets.map((target) => [
      target.what,
      `${target.must} ${target.target}${unitOf(target)}`,
      `${shown(target.value)}${unitOf(target)}`,
      isMet(target) ? "met" : "**not met**",
      target.detail,
    ])
    const parts = [
      "# The figures of `scripts/bench`",
      machineText(this.machine)
        .map((line) => `- ${line}`)
        .join("\n"),
      markdownTable(["what", "target", "measured", "", "how"], targets),
    ]
    if (this.leftOut.length > 0) parts.push(this.leftOut.map((what) => `- left out: ${what}`).join("\n"))
    for (const { title, columns, rows, notes } of this.tables) {
      parts.push(`## ${title}`, markdownTable(columns, rows), ...notes)
    }
    parts.push(`The whole run took ${this.seconds()} s.`)
    return `${parts.join("\n\n")}\n`
  }

  private seconds(): number {
    return Math.round((performance.now() - this.startedAt) / 1000)
  }
}

/** Three digits that count; nothing after the point where there are more before it. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "-"
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toFixed(digits).replace(/\B(?=(\d{3})+$)/g, digits === 0 ? "," : "")
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function isMet({ value, must, target }: Target): boolean {
  return must === "at least" ? value >= target : value <= target
}

function verdict(target: Target): string {
  return isMet(target) ? "met" : "NOT MET"
}

function claim(target: Target): string {
  const { what, value, must } = target
  return `${what}: ${shown(value)}${unitOf(target)}, target ${must} ${target.target}${unitOf(target)}`
}

function unitOf({ unit }: Target): string {
  return unit === "" ? "" : ` ${unit}`
}

function machineText({ cpu, cores, kernel, memory, disk, pinned, versions, allocator }: Machine): string[] {
  return [
    `${cpu}, ${cores} cores, ${memory} MiB of memory, Linux ${kernel}, files on ${disk}`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
    pinned
      ? "the server on core 0, the load on core 1"
      : "server and load are NOT on cores of their own: the figures say little",
    ...Object.entries(allocator).map(
      ([name, value]) => `every server with ${name}=${value}, as in the shipped unit`,
    ),
  ]
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

function markdownTable(columns: readonly string[], rows: ReadonlyArray<readonly Cell[]>): string {
  const line = (cells: readonly Cell[]) => `| ${cells.map(cellText).join(" | ")} |`
  return [line(columns), `|${columns.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n")
}

function cellText(cell: Cell): string {
  return typeof cell === "number" ? shown(cell) : cell
}
