// A bulk file, whole and checked: every bad line is found before anything is sent.

import { formatEntryLine } from "../../src/core/entry-line.ts"
import { UsageError } from "../exit.ts"
import { explainWide } from "../wide-network.ts"
import type { BulkFormat } from "./bulk-format.ts"
import { csvRows } from "./csv-rows.ts"
import { jsonRows } from "./json-rows.ts"
import { type RowOptions, readRow } from "./read-row.ts"
import type { Row } from "./row.ts"
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

const plural = (place: "line" | "entry"): string => (place === "line" ? "lines" : "entries")

/** The entries of a file, as the gate takes them. */
export type BulkLines = { readonly lines: Uint8Array<ArrayBuffer>; readonly count: number }

/** Throws one `UsageError` with the number and the reason of every bad line. */
export function readBulk(bytes: Uint8Array, options: ReadOptions): BulkLines {
  const text = decode(bytes, options.name)
  const lines = new LineBuffer()
  const problems: string[] = []
  // A JSON text need not have a line for each entry: its number in the array says where to look.
  const place = options.format === "json" ? "entry" : "line"
  let rows = 0
  let wide = false
  try {
    for (const { number, cells } of rowsOf(text, options.format)) {
      const entry = typeof cells === "string" ? cells : readRow(cells, options)
      const tooWide = typeof entry === "string" || options.force ? null : explainWide(entry.network)
      if (tooWide !== null) wide = true
      if (typeof entry === "string" || tooWide !== null)
        problems.push(`${place} ${number}: ${tooWide ?? entry}`)
      else lines.add(formatEntryLine(entry.network.toString(), entry.lifetime, entry.reason ?? ""))
      if (++rows % PORTION === 0) {
        options.progress(rows)
        Bun.gc(true)
      }
    }
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    problems.push(cause.message)
  }
  if (problems.length > 0) {
    const bad = problems.length === 1 ? `1 bad ${place}` : `${problems.length} bad ${plural(place)}`
    throw new UsageError(
      `${options.name}: ${bad}, nothing was changed\n${problems.join("\n")}`,
      wide ? "add --force if you mean networks that wide" : undefined,
    )
  }
  if (rows === 0) throw new UsageError(`${options.name} holds no entry`)
  return { lines: lines.bytes(), count: rows }
}

/**
 * Lines in one growing buffer: a million strings would take ten times the memory. The buffer is moved and not copied, so
 * that no old one is left to the garbage collector, which would take its time.
 */
class LineBuffer {
  private readonly encoder = new TextEncoder()
  private buffer = new Uint8Array(64 * 1024)
  private used = 0

  add(line: string): void {
    // A UTF-16 unit is at most three bytes of UTF-8.
    if (this.used + line.length * 3 + 1 > this.buffer.length) {
      this.buffer = new Uint8Array(this.buffer.buffer.transfer(this.buffer.length * 2 + line.length * 3))
    }
    this.used += this.encoder.encodeInto(line, this.buffer.subarray(this.used)).written
    this.buffer[this.used++] = 10
  }

  /** Nothing can be added afterwards. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.buffer.buffer.transfer(this.used))
  }
}

function decode(bytes: Uint8Array, name: string): string {
  try {
    // Without ignoreBOM the decoder takes a byte-order mark away.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    if (!text.includes("\0")) return text
  } catch {
    // Falls through to the same answer as a NUL: neither is text.
  }
  throw new UsageError(`${name} is not UTF-8 text`)
}

function rowsOf(text: string, format: BulkFormat): Iterable<Row> {
  if (format === "values") return valueRows(text)
  return format === "csv" ? csvRows(text) : jsonRows(text)
}
