// Whether a turn of wrk was what it had to be: every request answered, and with the status that was expected.

import type { Turn } from "./wrk.ts"

/**
 * The share of the connections' time that answered requests must fill. It is 0.7 and more where all is well, also beside
 * other work; a request that never gets its answer fills nothing, and wrk itself does not tell of it.
 */
const LEAST_OCCUPIED = 0.25

/** What was wrong, or `null`. */
export function judgeTurn(turn: Turn, status: number): string | null {
  const { requests, refused, broken, unexpected, occupied } = turn
  if (requests === 0) return "no request was answered"
  const faults = [
    refused === (status >= 400 ? requests : 0) ? [] : [`${refused} refused`],
    broken === 0 ? [] : [`${broken} connections in trouble`],
    unexpected === 0 ? [] : [`${unexpected} without the status ${status}`],
    occupied >= LEAST_OCCUPIED
      ? []
      : [`${((1 - occupied) * 100).toFixed(0)} % of the time of the connections passed without an answer`],
  ].flat()
  return faults.length === 0 ? null : `of ${requests} requests ${faults.join(", ")}`
}
