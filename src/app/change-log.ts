// One line of the server's log for each change of the lists, after it is durable.

import type { AuditRecord } from "../core/audit.ts"
import type { Actor } from "../core/change.ts"
import type { FeedEvent } from "../core/feed.ts"
import type { ImportCounts } from "../core/gate.ts"
import { othersFirst } from "../core/others-first.ts"
import type { ChangeFeed } from "../gate/change-feed.ts"
import type { Log } from "../log/log.ts"

/** Lines that are written before decisions get their turn again: about a tenth of a millisecond. */
const LINES_AT_ONCE = 16

/** Follows the feed to its end. A large import is one line, by `logImport`. */
export async function logChanges(feed: ChangeFeed, log: Log): Promise<void> {
  const follower = feed.follow({ staysToTheEnd: true })
  for (;;) {
    const events = await follower.next()
    if (events === null) break
    let told = 0
    for (const event of events) {
      if (told > 0 && told % LINES_AT_ONCE === 0) await othersFirst()
      logChange(event, log)
      told++
    }
  }
  if (feed.isClosed) return
  log.warn("too many changes at once for the log: some are told in the audit log only", {
    event: "list.lost",
  })
  return logChanges(feed, log)
}

export function logImport({ added, replaced, removed, unchanged }: ImportCounts, by: Actor, log: Log): void {
  log.notice("imported", {
    event: "list.import",
    added,
    replaced,
    removed,
    unchanged,
    client_ip: by?.toString(),
  })
}

function logChange(event: FeedEvent, log: Log): void {
  if (event.kind !== "change") return
  const { action, ip, ttlSeconds, reason, actor } = event.record
  const [name, text] = WORDS[action]
  log.notice(text, {
    event: name,
    ip,
    list: action.endsWith("_temp") ? "temp" : "perm",
    ttl_seconds: ttlSeconds ?? undefined,
    reason: reason === null || reason === "" ? undefined : reason,
    client_ip: actor ?? undefined,
    token: event.token,
  })
}

const WORDS: Readonly<Record<AuditRecord["action"], readonly [event: string, text: string]>> = {
  add_temp: ["list.add", "allowed"],
  add_perm: ["list.add", "allowed"],
  delete_temp: ["list.remove", "removed"],
  delete_perm: ["list.remove", "removed"],
  expire_temp: ["list.expire", "ended"],
}
