// Reads the temporary list and the newest rows of the log for the screen, while both may change.

import type { TemporaryEntry } from "../../src/core/entry.ts"
import type { Gate } from "../../src/core/gate.ts"
import { LARGEST_LIMIT } from "../../src/core/page.ts"
import { temporaryList, wholeList } from "../whole-list.ts"
import type { ListedEntry } from "./active-entries.ts"

/** Entries that are shown at most, the soonest to end first: more than anybody reads, and still quick to sort. */
export const MOST_ENTRIES = 20_000

/** Pages of the log that are searched for lifetimes beyond those that the entries would fill themselves. */
const FURTHER_PAGES = 2

export type Listed = { readonly entries: ListedEntry[]; readonly isPartial: boolean }

export async function loadEntries(gate: Gate): Promise<Listed> {
  const { rows, isPartial } = await wholeList(temporaryList(gate), MOST_ENTRIES)
  const lifetimes = await lifetimesOf(gate, new Map(rows.map((entry) => [entry.ip, entry])))
  return {
    entries: rows.map((entry) => ({ ...entry, lifetime: lifetimes.get(entry.ip) ?? null })),
    isPartial,
  }
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
