// What the followers of the log are told of an import.

import type { FeedEvent } from "../core/feed.ts"
import type { Store } from "../store/store.ts"
import { toEvent } from "./follow-changes.ts"

/** Changes of an import that are told one by one. */
const MOST_TOLD = 1_000

/**
 * The rows of a small import one by one, between the ids of the newest row before and after it; a large one only says
 * that the lists are other ones now. Never rejects: the import is durable and holds already.
 */
export async function importedEvents(
  store: Pick<Store, "auditSlice">,
  before: number,
  after: number,
): Promise<FeedEvent[]> {
  const reload: FeedEvent = { kind: "reload", id: after }
  if (after - before > MOST_TOLD) return [reload]
  try {
    const { rows } = await store.auditSlice({ after: before, limit: MOST_TOLD })
    return rows.map(toEvent)
  } catch {
    return [reload]
  }
}
