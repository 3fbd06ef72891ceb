// CSV as RFC 4180 has it: quoted fields, doubled quotes, line breaks inside of quotes.

import { behindBreak, lineBreak, lineBreaks } from "./line-break.ts"

/** A record, or what is wrong with it, and the number of the line on which it begins. */
export type CsvRecord = {
  readonly line: number
  readonly fields: readonly string[]
  readonly fault: string | null
}

/** Characters of a quoted field: several times the longest reason, so that a lost quote swallows no whole file. */
const LONGEST_QUOTED = 4096

/**
 * Wholly empty lines are no records, and neither are lines that begin with `#` while `hasComments` says so. A record with
 * a broken quote has a fault; the next one then begins on the next line, because no field of an entry goes over lines.
 */
export function* parseCsv(text: string, hasComments: () => boolean): Generator<CsvRecord> {
  let position = 0
  let line = 1
  while (position < text.length) {
    const end = lineBreak(text, position)
    if (isSpaceUntil(text, position, end) || (hasComments() && isComment(text, position))) {
      position = behindBreak(text, end)
      line++
      continue
    }
    const record = recordAt(text, position)
    yield { line, fields: record.fields, fault: record.fault }
    const last = record.fault === null ? record.end : end
    line += lineBreaks(text, position, last) + 1
    position = behindBreak(text, last)
  }
}

function isSpaceUntil(text: string, start: number, end: number): boolean {
  return text.slice(start, end).trim() === ""
}

function isComment(text: string, start: number): boolean {
  let at = start
  while (text[at] === " " || text[at] === "\t") at++
  return text[at] === "#"
}

function recordAt(text: string, start: number): Omit<CsvRecord, "line"> & { readonly end: number } {
  const fields: string[] = []
  for (let position = start; ; position++) {
    const field = text[position] === '"' ? quotedField(text, position) : plainField(text, position)
    if (typeof field === "string") return { fields, fault: field, end: position }
    fields.push(field.value)
    position = field.end
    if (text[position] !== ",") return { fields, fault: null, end: position }
  }
}

type Field = { readonly value: string; readonly end: number }

function plainField(text: string, start: number): Field {
  let end = start
  while (end < text.length && text[end] !== "," && text[end] !== "\n" && text[end] !== "\r") end++
  return { value: text.slice(start, end).trim(), end }
}

/** A text is what is wrong with it. */
function quotedField(text: string, start: number): Field | string {
  for (let position = start + 1; ; position += 2) {
    position = text.indexOf('"', position)
    if (position === -1) return "a quote is never closed"
    if (position - start > LONGEST_QUOTED) return `a quote is not closed within ${LONGEST_QUOTED} characters`
    const next = text[position + 1]
    if (next === '"') continue
    if (next !== undefined && next !== "," && next !== "\n" && next !== "\r") {
      return "there is text after a closing quote; a quote inside of quotes is written twice"
    }
    return { value: text.slice(start + 1, position).replaceAll('""', '"'), end: position + 1 }
  }
}

/**
 * A field, quoted where it must be, and where it would be divided: some spreadsheets do that at semicolons or tabs. Text
 * that one would take for a formula, in full-width characters too, gets a quote mark in front, and so does text that
 * looks as if it had got one: `fromCsvField` takes one away.
 */
export function csvField(value: string): string {
  const harmless = /^'*[=+\-@\t＝＋－＠]/.test(value) ? `'${value}` : value
  return /[",;\t\r\n]|^\s|\s$/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** The text of a field that `csvField` wrote. */
export function fromCsvField(field: string): string {
  return /^'+[=+\-@\t＝＋－＠]/.test(field) ? field.slice(1) : field
}
