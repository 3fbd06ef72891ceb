// Lifetimes as people write them: "90s", "30m", "8h", "1h30m", "7d", "2w"; a bare number is seconds.

const UNITS: ReadonlyArray<readonly [unit: string, seconds: number]> = [
  ["w", 604800],
  ["d", 86400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
]

/**
 * Whole seconds, or `null` for anything that is not wholly understood ("1h30x", "1h 30m", "-5", "1.5h", ""). Units
 * go from large to small and each occurs once, so that "1m1h" is a typing error and not a lifetime.
 */
export function parseDuration(text: string): number | null {
  if (/^[0-9]{1,12}$/.test(text)) return Number(text)
  const match = /^(?:(\d{1,9})w)?(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,12})s)?$/.exec(text)
  if (match === null || text === "") return null
  return UNITS.reduce((total, [, seconds], i) => total + Number(match[i + 1] ?? 0) * seconds, 0)
}

/** `8h`, `1h30m`, `7d`: the same notation, exact, so that it parses back to the same number. */
export function formatDuration(seconds: number): string {
  let rest = Math.max(0, Math.floor(seconds))
  let text = ""
  for (const [unit, size] of UNITS) {
    if (unit === "w") continue
    const count = Math.floor(rest / size)
    if (count > 0) text += `${count}${unit}`
    rest -= count * size
  }
  return text === "" ? "0s" : text
}

/** The two largest units only, for people who read a remaining time: `7h41m`, `3d4h`, `12s`. */
export function roughDuration(seconds: number): string {
  return formatDuration(seconds).match(/^(?:\d+[dhms]){1,2}/)?.[0] ?? "0s"
}
