// All rows of a list that the gate gives out in pages, though the list may change between two of them.

import type { PermanentEntry, TemporaryEntry } from "../src/core/entry.ts"
import type { Gate } from "../src/core/gate.ts"
import { LARGEST_LIMIT, type Page } from "../src/core/page.ts"
import type { Token, TokenRegistry } from "../src/core/token.ts"

/** Rows by which a page reaches back into the one before it. */
const OVERLAP = 10

export type PagedList<T> = {
  readonly page: (page: Page) => Promise<T[]>
  /** No two rows have the same. */
  readonly name: (row: T) => string
  /** What the list is ordered by before the name, where a row can get another. */
  readonly place?: (row: T) => number
}

export function permanentList(gate: Gate): PagedList<PermanentEntry> {
  return { page: (page) => gate.listPermanent(page), name: ({ ip }) => ip }
}

export function temporaryList(gate: Gate): PagedList<TemporaryEntry> {
  return {
    page: (page) => gate.listTemporary(page),
    name: ({ ip }) => ip,
    place: ({ expiresAt }) => expiresAt,
  }
}

export function tokenList(registry: TokenRegistry): PagedList<Token> {
  return { page: (page) => registry.list(page), name: ({ name }) => name }
}

/**
 * Page after page until the end, or until there are `most` rows: then `isPartial`, and there is up to a page more. Nothing
 * is there twice, and nothing is left out that was in one place of the list all the while. The order is that of the
 * list, but for rows that came meanwhile.
 *
 * The list gets shorter at its front while it is read, as entries end, and a page that begins where the one before
 * ended would then leave some out. So each one must reach back into what is known already, or it is asked for again
 * from further back.
 */
export async function wholeList<T>(
  { page, name, place }: PagedList<T>,
  most = Number.POSITIVE_INFINITY,
): Promise<{ rows: T[]; isPartial: boolean }> {
  const rows = new Map<string, T>()
  const isKnown = (row: T) => {
    const known = rows.get(name(row))
    return known !== undefined && place?.(known) === place?.(row)
  }
  let offset = 0
  let back = LARGEST_LIMIT / 2
  while (rows.size < most) {
    const found = await page({ limit: LARGEST_LIMIT, offset })
    if (offset > 0 && !found.some(isKnown)) {
      offset = Math.max(0, offset - back)
      back *= 2
      continue
    }
    back = LARGEST_LIMIT / 2
    for (const row of found) {
      if (isKnown(row)) continue
      // One that has moved goes where it is now.
      rows.delete(name(row))
      rows.set(name(row), row)
    }
    if (found.length < LARGEST_LIMIT) return { rows: [...rows.values()], isPartial: false }
    offset += LARGEST_LIMIT - OVERLAP
  }
  return { rows: [...rows.values()], isPartial: true }
}
