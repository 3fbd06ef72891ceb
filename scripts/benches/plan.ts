// How much of everything: the full run, and the quick one that only asks whether the answers are right.

export type Plan = {
  readonly quick: boolean
  /** Entries of the large database. */
  readonly entries: number
  /**
   * Rounds in which the contenders take turns, and the whole seconds of each turn: short ones, because a virtual machine
   * is slower or faster for some ten seconds at a time, and those who are compared should meet the same.
   */
  readonly rounds: number
  readonly turnSeconds: number
  readonly warmUpSeconds: number
  /** Entry and probe counts of the index. */
  readonly indexEntries: readonly number[]
  readonly indexProbes: readonly number[]
  readonly indexRepeats: number
  /** Milliseconds of decisions that are timed together. */
  readonly indexMilliseconds: number
  /** Seconds of each window in which the delay of decisions is watched, and how often each is repeated. */
  readonly windowSeconds: number
  readonly windows: number
  /** Windows of changes that are thrown away first: the runtime compiles their code anew for some fifteen seconds. */
  readonly warmUpWindows: number
  /** Expiries that are thrown away: some twenty seconds each. */
  readonly warmUpExpiries: number
  /** Seconds that may go into windows that are taken again. */
  readonly againSeconds: number
  /** Entries that are imported before and while decisions are watched: so the log is full after it. */
  readonly importedWhileWatched: number
  /** Windows of imports once their code is compiled: a window is as short as an import. */
  readonly laterImports: number
  readonly expiringAtOnce: number
  readonly writeSeconds: number
  readonly writeRounds: number
  readonly starts: number
  readonly commandRuns: number
}

export const FULL: Plan = {
  quick: false,
  entries: 1_000_000,
  rounds: 11,
  turnSeconds: 1,
  warmUpSeconds: 2,
  indexEntries: [10, 1_000, 1_000_000],
  indexProbes: [1_000, 1_000_000],
  indexRepeats: 3,
  indexMilliseconds: 20,
  windowSeconds: 5,
  windows: 4,
  warmUpWindows: 4,
  warmUpExpiries: 1,
  againSeconds: 40,
  importedWhileWatched: 100_000,
  laterImports: 8,
  expiringAtOnce: 10_000,
  writeSeconds: 4,
  writeRounds: 3,
  starts: 3,
  commandRuns: 40,
}

export const QUICK: Plan = {
  quick: true,
  entries: 5_000,
  rounds: 1,
  turnSeconds: 1,
  warmUpSeconds: 0,
  indexEntries: [10, 2_000],
  indexProbes: [1_000],
  indexRepeats: 1,
  indexMilliseconds: 5,
  windowSeconds: 0.5,
  windows: 1,
  warmUpWindows: 1,
  warmUpExpiries: 1,
  againSeconds: 0,
  importedWhileWatched: 2_000,
  laterImports: 1,
  expiringAtOnce: 200,
  writeSeconds: 1,
  writeRounds: 1,
  starts: 1,
  commandRuns: 3,
}
