// The newest rows of the log, which the gate gives out in pages, though more may come between two of them.

import { LARGEST_LIMIT, type Page } from "../src/core/page.ts"

/**
 * Up to `wanted` rows, newest first, each once. Rows that come meanwhile push the others back, so that a page begins
 * with some that were told already; those that came are left out.
 */
export async function* newestRows<T extends { readonly id: number }>(
  ask: (page: Page) => Promise<T[]>,
  wanted = Number.POSITIVE_INFINITY,
): AsyncGenerator<T> {
  let offset = 0
  let told = 0
  let oldest = Number.POSITIVE_INFINITY
  while (told < wanted) {
    // Of a log that grows, a small page may hold nothing new, and the one after it neither.
    const limit = told < offset ? LARGEST_LIMIT : Math.min(LARGEST_LIMIT, wanted - told)
    const rows = await ask({ limit, offset })
    for (const row of rows) {
      if (row.id >= oldest || told === wanted) continue
      oldest = row.id
      told++
      yield row
    }
    if (rows.length < limit) return
    offset += rows.length
  }
}
