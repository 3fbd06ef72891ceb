// A bulk file, whole and checked: every bad line is found before anything is sent.

import { formatEntryLine } from "../../src/core/entry-line.ts"
import { UsageError } from "../exit.ts"
import { explainWide } from "../wide-network.ts"
import type { BulkFormat } from "./bulk-format.ts"
import { csvRows } from "./csv-rows.ts"
import { jsonRows } from "./json-rows.ts"
import { LineBuffer } from "./line-buffer.ts"
import { LinePlaces } from "./line-places.ts"
import { type RowOptions, readRow } from "./read-row.ts"
import type { Row } from "./row.ts"
import { textOf } from "./text-of.ts"
import { valueRows } from "./value-rows.ts"

export type ReadOptions = RowOptions & {
  readonly format: BulkFormat
  /** What the file is called in messages. */
  readonly name: string
  /** True if networks that let a large part of the internet in are meant. */
  readonly force: boolean
  /** Told from time to time how many lines have been checked. */
  readonly progress: (lines: number) => void
}

/** Rows after which the progress is told, and their garbage collected: beside a large text the runtime would leave it for long. */
const PORTION = 50_000

/** Bad lines that are named one by one. Nobody reads more, and of 256 MiB their reasons would take gigabytes. */
const MOST_NAMED = 100_000

const plural = (place: "line" | "entry"): string => (place === "line" ? "lines" : "entries")

/** The entries of a file, as the gate takes them, and where each line comes from. */
export type BulkLines = {
  readonly lines: Uint8Array<ArrayBuffer>
  readonly count: number
  /** How many of them are permanent. */
  readonly permanent: number
  readonly places: LinePlaces
}

/** Throws one `UsageError` with the number and the reason of every bad line, up to `MOST_NAMED`, and how many there are. */
export function readBulk(bytes: Uint8Array, options: ReadOptions): BulkLines {
  const text = textOf(bytes, options.name)
  const lines = new LineBuffer()
  const problems = new LineBuffer()
  // A JSON text need not have a line for each entry: its number in the array says where to look.
  const place = options.format === "json" ? "entry" : "line"
  const places = new LinePlaces(options.name, place)
  let rows = 0
  let permanent = 0
  let bad = 0
  let wide = false
  const refuse = (problem: string) => {
    if (bad++ < MOST_NAMED) problems.add(problem)
  }
  try {
    for (const { number, cells } of rowsOf(text, options.format)) {
      const entry = typeof cells === "string" ? cells : readRow(cells, options)
      const tooWide = typeof entry === "string" || options.force ? null : explainWide(entry.network)
      if (tooWide !== null) wide = true
      if (typeof entry === "string" || tooWide !== null) refuse(`${place} ${number}: ${tooWide ?? entry}`)
      else {
        lines.add(formatEntryLine(entry.network.toString(), entry.lifetime, entry.reason ?? ""))
        places.add(number)
        if (entry.lifetime === null) permanent++
      }
      if (++rows % PORTION === 0) {
        options.progress(rows)
        Bun.gc(true)
      }
    }
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    refuse(cause.message)
  }
  if (bad > 0) {
    if (bad > MOST_NAMED) problems.add(`and ${bad - MOST_NAMED} more`)
    const count = bad === 1 ? `1 bad ${place}` : `${bad} bad ${plural(place)}`
    throw new UsageError(
      `${options.name}: ${count}, nothing was changed\n${new TextDecoder().decode(problems.bytes()).trimEnd()}`,
      wide ? "add --force if you mean networks that wide" : undefined,
    )
  }
  if (rows === 0) {
    throw new UsageError(
      `${options.name} holds no entry, and nothing was changed`,
      "an import never empties the lists: remove entries with `ipgate deny`",
    )
  }
  return { lines: lines.bytes(), count: rows, permanent, places }
}

function rowsOf(text: string, format: BulkFormat): Iterable<Row> {
  if (format === "values") return valueRows(text)
  return format === "csv" ? csvRows(text) : jsonRows(text)
}
