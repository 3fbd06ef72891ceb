// A page of a list of which some rows do not count any more.

/**
 * Up to `limit` of the rows that count: fewer only at the end of the list. `ask` gives the first `length` rows of the
 * page, and is asked again for more of them, and not for what follows: meanwhile those that do not count may be taken off
 * the list, and what followed would have moved.
 */
export async function fullPage<T>(
  limit: number,
  ask: (length: number) => Promise<T[]>,
  counts: (row: T) => boolean,
): Promise<T[]> {
  for (let length = limit; ; length *= 2) {
    const rows = await ask(length)
    const counting = rows.filter(counts)
    if (counting.length >= limit || rows.length < length) return counting.slice(0, limit)
  }
}
