// CSV as RFC 4180 has it: quoted fields, doubled quotes, line breaks inside of quotes.

/** A record and the number of the line on which it begins. */
export type CsvRecord = { readonly line: number; readonly fields: readonly string[] }

/** Throws `SyntaxError` with the line of a quote that is never closed or is followed by text. */
export function* parseCsv(text: string): Generator<CsvRecord> {
  let position = 0
  let line = 1
  while (position < text.length) {
    const start = line
    const fields: string[] = []
    for (;;) {
      const field = text[position] === '"' ? quotedField(text, position, start) : plainField(text, position)
      line += field.breaks
      fields.push(field.value)
      position = field.end
      if (text[position] !== ",") break
      position++
    }
    if (text[position] === "\r") position++
    position++
    line++
    if (fields.length > 1 || fields[0] !== "") yield { line: start, fields }
  }
}

type Field = { readonly value: string; readonly end: number; readonly breaks: number }

function plainField(text: string, start: number): Field {
  let end = start
  while (end < text.length && text[end] !== "," && text[end] !== "\n" && text[end] !== "\r") end++
  return { value: text.slice(start, end).trim(), end, breaks: 0 }
}

function quotedField(text: string, start: number, line: number): Field {
  let value = ""
  let position = start + 1
  for (;;) {
    const quote = text.indexOf('"', position)
    if (quote === -1) throw new SyntaxError(`line ${line}: a quote is never closed`)
    value += text.slice(position, quote)
    if (text[quote + 1] !== '"') {
      const next = text[quote + 1]
      if (next !== undefined && next !== "," && next !== "\n" && next !== "\r") {
        throw new SyntaxError(`line ${line}: there is text after a closing quote`)
      }
      return { value, end: quote + 1, breaks: value.split("\n").length - 1 }
    }
    value += '"'
    position = quote + 2
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
