// Reads the temporary list and the newest rows of the log for the screen, while both may change.

import type { TemporaryEntry } from "../../src/core/entry.ts"
import type { Gate } from "../../src/core/gate.ts"
import { LARGEST_LIMIT } from "../../src/core/page.ts"
import type { ListedEntry } from "./active-entries.ts"

/** Entries that are shown at most, the soonest to end first: more than anybody reads, and still quick to sort. */
export const MOST_ENTRIES = 20_000

/** Pages of the log that are searched for lifetimes beyond those that the entries would fill themselves. */
const FURTHER_PAGES = 2
/** Rows by which a page reaches back into the one before it. */
const OVERLAP = 10

export type Listed = { readonly entries: ListedEntry[]; readonly isPartial: boolean }

export async function loadEntries(gate: Gate): Promise<Listed> {
  const { entries, isPartial } = await listed(gate)
  const lifetimes = await lifetimesOf(gate, entries)
  return {
    entries: [...entries.values()].map((entry) => ({ ...entry, lifetime: lifetimes.get(entry.ip) ?? null })),
    isPartial,
  }
}

/**
 * Page after page. The list gets shorter at its front while it is read, as entries end, and a page that begins where
 * the one before ended would then leave some out. So each one must reach back into what is known already, or it is
 * asked for again from further back.
 */
async function listed(gate: Gate): Promise<{ entries: Map<string, TemporaryEntry>; isPartial: boolean }> {
  const entries = new Map<string, TemporaryEntry>()
  let offset = 0
  let last: TemporaryEntry | undefined
  while (entries.size < MOST_ENTRIES) {
    const page = await gate.listTemporary({ limit: LARGEST_LIMIT, offset })
    if (offset > 0 && !reachesBack(page, last)) {
      offset = Math.max(0, offset - LARGEST_LIMIT / 2)
      continue
    }
    for (const entry of page) entries.set(entry.ip, entry)
    if (page.length < LARGEST_LIMIT) return { entries, isPartial: false }
    last = page.at(-1)
    offset += LARGEST_LIMIT - OVERLAP
  }
  return { entries, isPartial: true }
}

function reachesBack([first, ...rest]: readonly TemporaryEntry[], last: TemporaryEntry | undefined): boolean {
  if (first === undefined || last === undefined) return false
  return first.expiresAt < last.expiresAt || [first, ...rest].some(({ ip }) => ip === last.ip)
}

/** Milliseconds for which each entry was granted, where the log still says so. */
async function lifetimesOf(
  gate: Gate,
  entries: ReadonlyMap<string, TemporaryEntry>,
): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  const pages = Math.ceil(entries.size / LARGEST_LIMIT) + FURTHER_PAGES
  for (let page = 0; page < pages && found.size < entries.size; page++) {
    const offset = page * LARGEST_LIMIT
    const records = await gate.audit({ action: "add_temp", limit: LARGEST_LIMIT, offset })
    for (const { ip, at, ttlSeconds } of records) {
      const entry = ip === null || found.has(ip) ? undefined : entries.get(ip)
      if (entry === undefined || ttlSeconds === null) continue
      // The log has whole seconds; an import may have named an end between two of them.
      if (Math.abs(at + ttlSeconds * 1000 - entry.expiresAt) <= 1000) found.set(entry.ip, ttlSeconds * 1000)
    }
    if (records.length < LARGEST_LIMIT) break
  }
  return found
}
