// What a row of a bulk file asks for.

import { explainDay } from "../../src/core/calendar-day.ts"
import { explainReason } from "../../src/core/entry.ts"
import { endOf } from "../../src/core/entry-line.ts"
import { explainNetwork } from "../../src/core/explain.ts"
import { Network } from "../../src/core/network.ts"
import { quoted } from "../../src/core/printable.ts"
import type { Cells } from "./row.ts"

/** One entry of a file. `until` is milliseconds since 1970, `null` for a permanent entry. */
export type BulkEntry = {
  readonly network: Network
  readonly until: number | null
  readonly reason: string | null
}

export type RowOptions = {
  readonly now: number
  /** For entries that name no lifetime and no reason of their own. */
  readonly ttlSeconds: number | null
  readonly reason: string | null
}

/** A text is the reason why the row is no entry. Of a lifetime and an end the end counts, and both must be good. */
export function readRow(cells: Cells, options: RowOptions): BulkEntry | string {
  const { now, ttlSeconds } = options
  const text = cells.ip ?? ""
  const network = Network.parse(text)
  if (network === null) return explainNetwork(text)
  const { list } = cells
  if (list !== undefined && list !== "perm" && list !== "temp")
    return `the list must be perm or temp, not ${quoted(list)}`
  const lifetimes = [cells.expires, cells.ttl].filter((lifetime) => lifetime !== undefined)
  if (list === "perm" && lifetimes.length > 0) return "a permanent entry has no lifetime"
  for (const lifetime of lifetimes) {
    if (endOf(lifetime, now) === null) return explainLifetime(lifetime)
  }
  const [lifetime] = lifetimes
  const until =
    lifetime !== undefined
      ? endOf(lifetime, now)
      : list === "perm" || ttlSeconds === null
        ? null
        : now + ttlSeconds * 1000
  if (list === "temp" && until === null)
    return "a temporary entry needs a lifetime: give ttl, expires, or --ttl"
  const reason = cells.reason || (until === null ? null : options.reason)
  if (reason !== null && until === null) return "a reason belongs to a temporary entry"
  const fault = reason === null ? null : explainReason(reason)
  return fault ?? { network, until, reason }
}

function explainLifetime(lifetime: string): string {
  return (
    explainDay(lifetime) ??
    `${quoted(lifetime)} is no lifetime: use 8h, a number of seconds, or a time like 2026-11-21T18:00:00Z`
  )
}
