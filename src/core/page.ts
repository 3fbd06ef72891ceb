// A page of a list: how many rows, after how many others.

export const DEFAULT_LIMIT = 200
export const LARGEST_LIMIT = 1000

export type Page = { readonly limit: number; readonly offset: number }

/** `text` as a whole number from `least` to `most`, in plain decimal digits; `null` for anything else. */
function wholeNumber(text: string, least: number, most: number): number | null {
  if (!/^[0-9]{1,16}$/.test(text)) return null
  const value = Number(text)
  return value >= least && value <= most ? value : null
}

/** A `limit` of 1 to 1000, or `null`. */
export function parseLimit(text: string): number | null {
  return wholeNumber(text, 1, LARGEST_LIMIT)
}

/** An `offset` of 0 or more, or `null`. */
export function parseOffset(text: string): number | null {
  return wholeNumber(text, 0, Number.MAX_SAFE_INTEGER)
}
