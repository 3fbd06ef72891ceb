// Which row of a list is marked: a thing and not a place, so that what moves under the mark takes it along.

/** `key` names the row; `index` is where it stood last. */
export type Selection = { readonly key: string | null; readonly index: number }

/** What happens to the mark when its row is gone: it goes to the next row, or waits until somebody moves it. */
export type WhenGone = "next" | "none"

export const NOTHING_SELECTED: Selection = { key: null, index: 0 }

/** The mark in `rows` as they are now. Where there was no row before, the first one is marked. */
export function reselected(
  selection: Selection,
  keys: readonly string[],
  { hadRows, whenGone }: { hadRows: boolean; whenGone: WhenGone },
): Selection {
  if (keys.length === 0) return NOTHING_SELECTED
  if (selection.key === null && hadRows)
    return { key: null, index: Math.min(selection.index, keys.length - 1) }
  const index =
    selection.key === null
      ? 0
      : keys[selection.index] === selection.key
        ? selection.index
        : keys.indexOf(selection.key)
  if (index !== -1) return { key: keys[index] ?? null, index }
  const place = Math.min(selection.index, keys.length - 1)
  return { key: whenGone === "next" ? (keys[place] ?? null) : null, index: place }
}

/** The mark `distance` rows further, an infinite one to the end; a mark that waits comes back where it was. */
export function moved(
  selection: Selection,
  distance: number,
  { count, keyAt }: { count: number; keyAt: (index: number) => string },
): Selection {
  if (count === 0) return NOTHING_SELECTED
  const isWaiting = selection.key === null && Number.isFinite(distance)
  const index = Math.max(0, Math.min(count - 1, selection.index + (isWaiting ? 0 : distance)))
  return { key: keyAt(index), index }
}

/** The first row of a window of `height` that shows the mark, in the middle where the list allows. */
export function windowStart(index: number, height: number, count: number): number {
  return Math.max(0, Math.min(index - Math.floor(height / 2), count - height))
}
