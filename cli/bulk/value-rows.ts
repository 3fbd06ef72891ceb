// The rows of a file of bare networks: one a line, with remarks behind `#`.

import { behindBreak, lineBreak } from "./line-break.ts"
import type { Row } from "./row.ts"

export function* valueRows(text: string): Generator<Row> {
  let line = 0
  for (let start = 0; start < text.length; ) {
    const end = lineBreak(text, start)
    line++
    const value = text.slice(start, end)
    const comment = value.indexOf("#")
    const ip = (comment === -1 ? value : value.slice(0, comment)).trim()
    if (ip !== "") yield { number: line, cells: { ip } }
    start = behindBreak(text, end)
  }
}
