// What a command prints: data on stdout, everything else on stderr. Text that anyone wrote is escaped on its way out.

import { printable, printableJson } from "../src/core/printable.ts"
import type { Failure } from "./exit.ts"

export type OutputOptions = {
  readonly write: (text: string) => unknown
  readonly writeError: (text: string) => unknown
  readonly json: boolean
  readonly quiet: boolean
}

export class Output {
  constructor(private readonly options: OutputOptions) {}

  /** True if this run prints the JSON contract. */
  get isJson(): boolean {
    return this.options.json
  }

  /** A line for people; with `--quiet` or `--json` nothing. */
  line(text: string): void {
    if (!this.options.quiet && !this.options.json) this.options.write(`${printable(text)}\n`)
  }

  /** The answer for programs. `JSON.stringify` escapes C0; `printable` would break its quoting, so C1 and bidi are escaped here. */
  json(value: unknown): void {
    this.options.write(`${printableJson(JSON.stringify(value))}\n`)
  }

  /** One target that failed among others; also with `--quiet`. With `--json` the answer tells it. */
  error(text: string, hint?: string): void {
    if (this.options.json) return
    this.options.writeError(`ipgate: ${printable(text)}\n`)
    this.hint(hint)
  }

  /** A remark that is not the answer. */
  warn(text: string): void {
    if (!this.options.quiet && !this.options.json) this.options.writeError(`warning: ${printable(text)}\n`)
  }

  /** Words beside an answer that goes on through a pipe. */
  remark(text: string): void {
    if (this.options.quiet || this.options.json) return
    this.options.writeError(`${text.split("\n").map(printable).join("\n")}\n`)
  }

  /** Columns under titles, as wide as their widest cell; the last one may be as long as it likes. */
  table(titles: readonly string[], rows: ReadonlyArray<readonly string[]>): void {
    if (this.options.quiet) return
    const cells = [titles, ...rows].map((row) => row.map((cell) => printable(cell)))
    // As arguments of one call, a million rows would be more than the stack holds.
    const widths = titles.map((_, column) =>
      cells.reduce((widest, row) => Math.max(widest, Bun.stringWidth(row[column] ?? "")), 0),
    )
    for (const row of cells) {
      const padded = row.map(
        (cell, column) => cell + " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell)),
      )
      this.options.write(`${padded.join("  ").trimEnd()}\n`)
    }
  }

  /** Why the command did not do it. */
  failure({ code, message, hint, exitCode }: Failure): void {
    if (this.options.json) {
      const error = { code, message, hint: hint ?? null, exit_code: exitCode }
      this.options.writeError(`${printableJson(JSON.stringify({ error }))}\n`)
      return
    }
    const lines = message.split("\n").map((line) => printable(line))
    this.options.writeError(`ipgate: ${lines.join("\n")}\n`)
    this.hint(hint)
  }

  private hint(text: string | undefined): void {
    if (text !== undefined) this.options.writeError(`  ${printable(text)}\n`)
  }
}
