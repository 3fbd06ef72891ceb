// What a row of a bulk file asks for.

import { explainDay } from "../../src/core/calendar-day.ts"
import { explainReason } from "../../src/core/entry.ts"
import { type Lifetime, readLifetime } from "../../src/core/entry-line.ts"
import { explainNetwork } from "../../src/core/explain.ts"
import { Network } from "../../src/core/network.ts"
import { quoted } from "../../src/core/printable.ts"
import type { Cells } from "./row.ts"

/** One entry of a file. A permanent one has no lifetime. */
export type BulkEntry = {
  readonly network: Network
  readonly lifetime: Lifetime | null
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
  const texts = [cells.expires, cells.ttl].filter((cell) => cell !== undefined)
  if (list === "perm" && texts.length > 0) return "a permanent entry has no lifetime"
  const lifetimes: Lifetime[] = []
  for (const cell of texts) {
    const own = readLifetime(cell, now)
    if (own === null) return explainLifetime(cell)
    lifetimes.push(own)
  }
  const general = list === "perm" || ttlSeconds === null ? null : { seconds: ttlSeconds }
  const lifetime = lifetimes[0] ?? general
  if (list === "temp" && lifetime === null)
    return "a temporary entry needs a lifetime: give ttl, expires, or --ttl"
  const reason = cells.reason || (lifetime === null ? null : options.reason)
  if (reason !== null && lifetime === null) return "a reason belongs to a temporary entry"
  const fault = reason === null ? null : explainReason(reason)
  return fault ?? { network, lifetime, reason }
}

function explainLifetime(lifetime: string): string {
  return (
    explainDay(lifetime) ??
    `${quoted(lifetime)} is no lifetime: use 8h, a number of seconds, or a time like 2026-11-21T18:00:00Z`
  )
}
