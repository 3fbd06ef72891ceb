// What the screen knows about the server: when it answered last, what it counts, and how fast it decides.

import type { DecisionCounts } from "../../src/core/gate.ts"
import type { Status } from "../../src/core/status.ts"

/** Decisions a second, over the last interval between two answers. */
export type Rates = { readonly allowed: number; readonly denied: number }

export type ServerState = {
  readonly status: Status | null
  readonly counts: DecisionCounts | null
  readonly rates: Rates | null
  /** On the monotonic clock. */
  readonly answeredAt: number
  /** Why it does not answer, or `null`. */
  readonly problem: string | null
}

/** Milliseconds without an answer that are worth telling even before a question has failed. */
const LONG_SILENCE = 3_000

export function answered(
  before: ServerState,
  status: Status,
  counts: DecisionCounts,
  at: number,
): ServerState {
  return { status, counts, rates: ratesOf(before, counts, at), answeredAt: at, problem: null }
}

/** Whole seconds since the last answer, or `null` while the server answers. */
export function silentFor({ answeredAt, problem }: ServerState, mono: number): number | null {
  const silence = mono - answeredAt
  return problem !== null || silence >= LONG_SILENCE ? Math.floor(silence / 1000) : null
}

/** `null` where nothing can be said: at the first answer, and after a restart, which begins to count from 0. */
function ratesOf(
  { counts: before, answeredAt }: ServerState,
  counts: DecisionCounts,
  at: number,
): Rates | null {
  const seconds = (at - answeredAt) / 1000
  if (before === null || seconds <= 0) return null
  const allowed = (counts.allowed - before.allowed) / seconds
  const denied = (counts.denied - before.denied) / seconds
  return allowed < 0 || denied < 0 ? null : { allowed, denied }
}
