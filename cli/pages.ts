// All rows of a list that the gate gives out in pages.

import { LARGEST_LIMIT, type Page } from "../src/core/page.ts"

/** Asks for page after page until one is not full, or `wanted` rows have come. */
export async function* eachRow<T>(ask: (page: Page) => Promise<T[]>, wanted = Number.POSITIVE_INFINITY) {
  let offset = 0
  while (offset < wanted) {
    const limit = Math.min(LARGEST_LIMIT, wanted - offset)
    const rows = await ask({ limit, offset })
    yield* rows
    if (rows.length < limit) return
    offset += rows.length
  }
}
