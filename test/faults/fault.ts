// The title of a test that covers rows of the catalogue, from which the page of the faults is made.

import { CATALOGUE } from "./catalogue.ts"

/** How a title begins that `fault` has made. */
export const FAULT_TITLE = /\[[A-Z]-[0-9]{2}[^\]]*\]/

const IDS = new Set(CATALOGUE.map(({ id }) => id))

/**
 * The title for a `test` or a `describe`; every test under a `describe` counts for its rows. `ids` are rows of the
 * catalogue with spaces between them, `done` says what the test does to the program, `holds` what must hold all the
 * while. All three have to stand in the source as plain texts, because the page is made from the source too.
 */
export function fault(ids: string, done: string, holds: string): string {
  const unknown = ids.split(" ").find((id) => !IDS.has(id))
  if (unknown !== undefined) throw new Error(`the catalogue of faults has no row "${unknown}"`)
  return `[${ids}] ${done}: ${holds}`
}
