// Which known name was probably meant.

/** The name with the fewest edits from `text`, if no more than a third of it differs. */
export function nearestName(text: string, names: readonly string[]): string | null {
  let best: string | null = null
  let least = Math.max(1, Math.floor(text.length / 3)) + 1
  for (const name of names) {
    const distance = editDistance(text, name)
    if (distance < least) {
      least = distance
      best = name
    }
  }
  return best
}

// Levenshtein: insertions, deletions and replacements, one row of the table at a time.
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
