// Follows the changes for good: through restarts of the server, without missing or repeating one.

import { GateError, type GateErrorCode } from "../core/errors.ts"
import type { FeedEvent, FeedFilter, FeedStart } from "../core/feed.ts"
import type { Gate } from "../core/gate.ts"

/** Besides the feed's own events: the stream was lost and will be tried again. */
export type FollowEvent = FeedEvent | { readonly kind: "lost"; readonly error: GateError | null }

export type FollowOptions = {
  readonly start: FeedStart
  readonly filter: FeedFilter
  readonly signal: AbortSignal
  readonly sleep: (milliseconds: number) => Promise<void>
}

const FIRST_PAUSE = 100
const LONGEST_PAUSE = 2_000

/** Another try would get the same answer. */
const FINAL: readonly GateErrorCode[] = ["unauthorized", "forbidden", "invalid"]

/** Ends only when `signal` is aborted. A refused token or a question that makes no sense is thrown at once. */
export async function* keepFollowing(gate: Gate, options: FollowOptions): AsyncGenerator<FollowEvent> {
  const { filter, signal, sleep } = options
  let start = options.start
  let pause = FIRST_PAUSE
  let reached = false
  while (!signal.aborted) {
    let error: GateError | null = null
    try {
      for await (const event of gate.follow(start, filter, signal)) {
        reached = true
        yield event
        start = { after: event.id }
        pause = FIRST_PAUSE
      }
    } catch (cause) {
      if (!(cause instanceof GateError) || FINAL.includes(cause.code)) throw cause
      // What was never there has not been lost: whoever asks is told at once.
      if (!reached) throw cause
      error = cause
    }
    if (signal.aborted) return
    yield { kind: "lost", error }
    await sleep(pause)
    pause = Math.min(pause * 2, LONGEST_PAUSE)
  }
}
