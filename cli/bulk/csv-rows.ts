// The rows of a CSV file: the first line names the columns.

import { quoted } from "../../src/core/printable.ts"
import { nearestName } from "../../src/nearest-name.ts"
import { COLUMNS } from "./bulk-format.ts"
import { fromCsvField, parseCsv } from "./csv.ts"
import type { Cells, Row } from "./row.ts"

/** Throws `SyntaxError` if the first line names no columns, or others: nobody knows then what the fields mean. */
export function* csvRows(text: string): Generator<Row> {
  let columns: ReadonlyArray<keyof Cells> | null = null
  // In front of another column than the addresses a `#` may begin what the column holds.
  const hasComments = () => columns === null || columns[0] === "ip"
  for (const { line, fields, fault } of parseCsv(text, hasComments)) {
    if (columns === null) {
      if (fault !== null) throw new SyntaxError(`line ${line}: ${fault}`)
      columns = columnsOf(fields, line)
    } else yield { number: line, cells: fault ?? cellsOf(fields, columns) }
  }
}

function columnsOf(fields: readonly string[], line: number): ReadonlyArray<keyof Cells> {
  const names = fields.map((field) => field.trim().toLowerCase())
  const columns = names.filter((name) => (COLUMNS as readonly string[]).includes(name))
  const unknown = names.find((name) => !columns.includes(name))
  const meant = unknown === undefined ? null : nearestName(unknown, COLUMNS)
  const twice = columns.find((name, i) => columns.indexOf(name) !== i)
  const problem =
    unknown !== undefined
      ? `${quoted(unknown)} is none${meant === null ? "" : `; did you mean ${meant}?`}`
      : twice !== undefined
        ? `${twice} is there twice`
        : columns.includes("ip")
          ? null
          : "there is no ip"
  if (problem === null) return columns as Array<keyof Cells>
  throw new SyntaxError(
    `line ${line}: the first line must name the columns: ip, and of ${COLUMNS.slice(1).join(", ")} those that are there; ${problem}`,
  )
}

/** An empty field says nothing, but that of the address. */
function cellsOf(fields: readonly string[], columns: ReadonlyArray<keyof Cells>): Cells | string {
  if (fields.length > columns.length) return "there are more fields than columns"
  if (fields.length < columns.length) return "there are fewer fields than columns"
  const cells: Cells = {}
  for (const [i, column] of columns.entries()) {
    const cell = fromCsvField(fields[i] ?? "")
    if (cell !== "" || column === "ip") cells[column] = cell
  }
  return cells
}
