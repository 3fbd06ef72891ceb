// The temporary entries that the screen shows: from a list that was read, kept true by the changes that follow.

import type { AuditRecord } from "../../src/core/audit.ts"
import type { TemporaryEntry } from "../../src/core/entry.ts"
import { Network } from "../../src/core/network.ts"

/** `lifetime` is how many milliseconds a full bar stands for: as long as the entry was granted for, if that is known. */
export type ActiveEntry = TemporaryEntry & { readonly lifetime: number }

export type ActiveEntries = ReadonlyMap<string, ActiveEntry>

/** An entry as it was listed; `lifetime` is `null` if the log does not tell any more for how long it was granted. */
export type ListedEntry = TemporaryEntry & { readonly lifetime: number | null }

export type ActiveOrder = "time left" | "address" | "reason"

export const ACTIVE_ORDERS: readonly ActiveOrder[] = ["time left", "address", "reason"]

export function activeEntries(listed: readonly ListedEntry[], now: number): ActiveEntries {
  return new Map(
    listed.map((entry) => [
      entry.ip,
      { ...entry, lifetime: entry.lifetime ?? sinceNow(entry.expiresAt, now) },
    ]),
  )
}

/** The same map if none of the records is about a temporary entry. */
export function applyRecords(entries: ActiveEntries, records: readonly AuditRecord[]): ActiveEntries {
  const about = records.filter(({ action }) => action !== "add_perm" && action !== "delete_perm")
  if (about.length === 0) return entries
  const changed = new Map(entries)
  for (const { action, ip, at, ttlSeconds, reason } of about) {
    if (ip === null) continue
    if (action === "add_temp" && ttlSeconds !== null) {
      const lifetime = ttlSeconds * 1000
      changed.set(ip, { ip, reason: reason ?? "", expiresAt: at + lifetime, lifetime })
    } else {
      changed.delete(ip)
    }
  }
  return changed
}

/** Those that match, in the order. */
export function arranged(entries: ActiveEntries, filter: string, order: ActiveOrder): ActiveEntry[] {
  const rows = [...entries.values()].filter(({ ip, reason }) => contains(filter, ip, reason))
  const byEnd = (a: ActiveEntry, b: ActiveEntry) => a.expiresAt - b.expiresAt || (a.ip < b.ip ? -1 : 1)
  if (order === "time left") return rows.sort(byEnd)
  if (order === "reason") return rows.sort((a, b) => compare(a.reason, b.reason) || byEnd(a, b))
  const keys = new Map(rows.map(({ ip }) => [ip, addressKey(ip)]))
  return rows.sort((a, b) => compare(keys.get(a.ip) ?? "", keys.get(b.ip) ?? ""))
}

/** True if one of the texts has `filter` in it, in large or small letters. */
export function contains(filter: string, ...texts: readonly string[]): boolean {
  return filter === "" || texts.some((text) => text.toLowerCase().includes(filter.toLowerCase()))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Text that sorts as the lists do: IPv4 before IPv6, then by address, then by length. */
function addressKey(ip: string): string {
  const network = Network.parse(ip)
  if (network === null) return `9${ip}`
  const { family, word0, word1, word2, word3 } = network.address
  const words = [word0, word1, word2, word3].map((word) => word.toString(16).padStart(8, "0"))
  return `${family}${words.join("")}${String(network.length).padStart(3, "0")}`
}

function sinceNow(expiresAt: number, now: number): number {
  return Math.max(1, expiresAt - now)
}
