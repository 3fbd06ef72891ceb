// Columns as they cross the driver. It panics, and with that ends the whole process, at a text that is not valid UTF-8,
// and one flipped bit in the file makes a text such a one, or a number or a blob a text. So none crosses as a text: what
// is read from a table is selected by these functions, whatever type the file says it has. A blob is also not cut off at
// a zero, as the driver does with a text. Wherever SQLite sorts by such a column, the table has to be named, because the
// bare name means what is selected, by which no index helps.

/** For a SELECT: columns of text or of bytes, under their own names. NULL stays NULL. */
export function byteColumns(...names: readonly string[]): string {
  return names.map((name) => `CAST(${name} AS BLOB) AS ${name}`).join(", ")
}

/** For a SELECT: columns of whole numbers, under their own names. NULL stays NULL. */
export function numberColumns(...names: readonly string[]): string {
  return names.map((name) => `CAST(${name} AS INTEGER) AS ${name}`).join(", ")
}

// A byte order mark is a character of the text as any other.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** The text of a byte column, or `null`. U+FFFD stands for what is not valid UTF-8. */
export function textOrNull(bytes: unknown): string | null {
  return bytes instanceof ArrayBuffer ? decoder.decode(bytes) : null
}

/** The same where the schema lets no NULL in: a damaged one is the empty text. */
export function textOf(bytes: unknown): string {
  return textOrNull(bytes) ?? ""
}

/** The number of a number column, or `null`. */
export function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null
}
