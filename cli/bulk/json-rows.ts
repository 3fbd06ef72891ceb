// The rows of a JSON file: the items of its array.

import { COLUMNS } from "./bulk-format.ts"
import { itemsOf } from "./json-items.ts"
import type { Cells, Row } from "./row.ts"

export function* jsonRows(text: string): Generator<Row> {
  let number = 0
  for (const item of itemsOf(text)) {
    const cells: Cells = {}
    if (typeof item === "string") cells.ip = item
    else if (typeof item === "object" && item !== null) {
      for (const column of COLUMNS) {
        const cell = (item as Readonly<Record<string, unknown>>)[column]
        if (cell !== null && cell !== undefined) cells[column] = String(cell)
      }
    }
    yield { number: ++number, cells }
  }
}
