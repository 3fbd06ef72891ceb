// What the bench found, as the page latest.md.

import { type Cell, cellText, shown } from "./cell.ts"
import { machineText } from "./machine-text.ts"
import type { Findings } from "./report.ts"
import { isMet, unitOf } from "./target.ts"

export function markdown({ machine, date, seconds, targets, tables, leftOut, wrong }: Findings): string {
  const rows = targets.map((target) => [
    target.what,
    `${target.must} ${target.target}${unitOf(target)}`,
    `${shown(target.value)}${unitOf(target)}`,
    isMet(target) ? "met" : "**not met**",
    target.detail,
  ])
  const parts = [
    "# The figures of `scripts/bench`",
    list([`of ${date.slice(0, 10)}`, ...machineText(machine)]),
    table(["what", "target", "measured", "", "how"], rows),
  ]
  if (wrong.length > 0) parts.push("**Some answers were wrong, so no figure here counts:**", list(wrong))
  if (leftOut.length > 0) parts.push(list(leftOut.map((what) => `left out: ${what}`)))
  for (const { title, columns, rows, notes } of tables) {
    parts.push(`## ${title}`, table(columns, rows), ...notes)
  }
  parts.push(`The whole run took ${seconds} s.`)
  return `${parts.join("\n\n")}\n`
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n")
}

function table(columns: readonly string[], rows: ReadonlyArray<readonly Cell[]>): string {
  const line = (cells: readonly Cell[]) => `| ${cells.map(cellText).join(" | ")} |`
  return [line(columns), `|${columns.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n")
}
