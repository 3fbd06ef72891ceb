// The log as somebody follows it: first what was missed, from the database, then each change as it is committed.

import { type FeedEvent, type FeedFilter, type FeedStart, matches } from "../core/feed.ts"
import type { AuditSlice, Store } from "../store/store.ts"
import type { ChangeFeed } from "./change-feed.ts"
import type { Health } from "./health.ts"

/** Rows that are read at once of what was missed. */
const REPLAY_PAGE = 1_000
/** Milliseconds of silence until a follower is told that it has missed nothing. */
const HEARTBEAT = 15_000

export type Followed = { readonly store: Store; readonly health: Health; readonly feed: ChangeFeed }

/**
 * Every event from `start` on that `filter` lets pass, each once and in the order of the log, and `at` where there is
 * nothing to tell. Ends when `signal` aborts, when the feed is closed, or when the follower is too slow for it. Rejects
 * if the database does not tell what was missed.
 */
export async function* followChanges(
  { store, health, feed }: Followed,
  start: FeedStart,
  filter: FeedFilter,
  signal: AbortSignal,
): AsyncGenerator<FeedEvent> {
  const follower = feed.follow()
  signal.addEventListener("abort", () => follower.leave())
  if (signal.aborted) follower.leave()
  try {
    // The follower collects from here on, so nothing is missed between the log's rows and the first live event.
    let told = 0
    for await (const { events, newest } of replay(store, health, start, filter)) {
      yield* events
      told = newest
    }
    yield { kind: "at", id: told }
    for (;;) {
      const events = await follower.next(HEARTBEAT)
      if (events === null) return
      for (const event of events) {
        if (event.id <= told) continue
        told = event.id
        if (event.kind !== "change" || matches(filter, event.record)) yield event
      }
      if (events.length === 0) yield { kind: "at", id: told }
    }
  } finally {
    follower.leave()
  }
}

/** What a follower missed before it came, page by page, and up to which id that is everything. */
async function* replay(
  store: Store,
  health: Health,
  start: FeedStart,
  filter: FeedFilter,
): AsyncGenerator<{ events: FeedEvent[]; newest: number }> {
  const slice = (after: number | null, limit: number) =>
    health.watchRead(store.auditSlice({ ...filter, after, limit }))
  if ("tail" in start) {
    const { rows, newest } = await slice(null, start.tail)
    yield { events: rows.map(toEvent), newest }
    return
  }
  let after = start.after
  for (;;) {
    const { oldest, newest, rows } = await slice(after, REPLAY_PAGE)
    // Rows that the log has dropped, or an id of another database: nobody can tell any more what was missed.
    if (after > newest || (oldest > 0 && after < oldest - 1) || (oldest === 0 && after < newest)) {
      yield { events: [{ kind: "reload", id: newest }], newest }
      return
    }
    yield { events: rows.map(toEvent), newest }
    if (rows.length < REPLAY_PAGE) return
    after = rows.at(-1)?.id ?? newest
  }
}

/** A row of the log as an event. */
export function toEvent({ id, record }: AuditSlice["rows"][number]): FeedEvent {
  return { kind: "change", id, record }
}
