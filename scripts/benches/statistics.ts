// Medians, percentiles, and ratios that were measured round by round.

/** One contender in one round. */
export type Sample = { readonly perSecond: number; readonly cpuMicros: number }

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** The value below which the share `at` of all values lies: `percentile(times, 0.99)`. */
export function percentile(values: readonly number[], at: number): number {
  const sorted = Float64Array.from(values).sort()
  if (sorted.length === 0) return Number.NaN
  const position = (sorted.length - 1) * at
  const below = sorted[Math.floor(position)] as number
  const above = sorted[Math.ceil(position)] as number
  return below + (above - below) * (position - Math.floor(position))
}

/** How far the middle half of the values lies apart, as a share of their median. */
export function spread(values: readonly number[]): number {
  return (percentile(values, 0.75) - percentile(values, 0.25)) / median(values)
}

/** The figures of some contenders, a list for each. */
export function samplesByFigure(
  samples: Readonly<Record<string, readonly Sample[]>>,
): Record<string, { perSecond: number[]; cpuMicros: number[] }> {
  return Object.fromEntries(
    Object.entries(samples).map(([name, rounds]) => [
      name,
      {
        perSecond: rounds.map(({ perSecond }) => perSecond),
        cpuMicros: rounds.map(({ cpuMicros }) => cpuMicros),
      },
    ]),
  )
}

export type Ratio = {
  /** Of the two figures the one that differs less from round to round. */
  readonly value: number
  readonly by: "requests/s" | "CPU time"
  readonly requests: number
  readonly cpu: number
}

/**
 * How fast a contender is in units of another. A ratio is made within each round, because what disturbs a round
 * disturbs both; the figure with the smaller spread counts. A round in which one of them answered nothing has no ratio.
 */
export function ratioOf(of: readonly Sample[], to: readonly Sample[]): Ratio {
  const paired = of.flatMap((sample, round) => {
    const other = to[round]
    const isWhole = other !== undefined && sample.perSecond > 0 && other.perSecond > 0
    return isWhole ? [{ sample, other }] : []
  })
  const requests = paired.map(({ sample, other }) => sample.perSecond / other.perSecond)
  const cpu = paired.map(({ sample, other }) => other.cpuMicros / sample.cpuMicros)
  const medians = { requests: median(requests), cpu: median(cpu) }
  return spread(cpu) <= spread(requests)
    ? { value: medians.cpu, by: "CPU time", ...medians }
    : { value: medians.requests, by: "requests/s", ...medians }
}
