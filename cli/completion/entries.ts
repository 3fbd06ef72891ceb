// The entries of the lists that begin with what was typed.

import type { ListName } from "../../src/core/entry.ts"
import type { Gate } from "../../src/core/gate.ts"
import { Network } from "../../src/core/network.ts"
import { remaining } from "../times.ts"
import { type PagedList, permanentList, temporaryList, wholeList } from "../whole-list.ts"
import { type Candidate, NOTHING, type Offer } from "./candidate.ts"

/**
 * Of longer lists nothing is offered: they cannot be read while somebody waits for a key, and a part of one would pass
 * for all of it.
 */
export const LONGEST_LIST = 10_000
/** More matches than this are offered as the groups that they form, as directories are instead of all files in them. */
export const MOST_ENTRIES = 256
const LONGEST_DESCRIPTION = 60

export type EntriesWanted = {
  readonly lists: readonly ListName[]
  readonly typed: string
  /** Entries that stand on the line already. */
  readonly except: readonly string[]
  readonly now: number
}

/** Rejects as the gate does. */
export async function offerEntries(gate: Gate, { lists, typed, except, now }: EntriesWanted): Promise<Offer> {
  const descriptions = new Map<string, string>()
  const add = (ip: string, description: string) => {
    // Whatever answers there, only an address may get on to a command line.
    const text = Network.parse(ip)?.toString()
    if (text?.startsWith(typed) && !except.includes(text)) descriptions.set(text, description)
  }
  const [permanent, temporary] = await Promise.all([
    lists.includes("perm") ? all(permanentList(gate)) : [],
    lists.includes("temp") ? all(temporaryList(gate)) : [],
  ])
  if (permanent === null || temporary === null) return NOTHING
  for (const { ip } of permanent) add(ip, "permanent")
  for (const { ip, expiresAt, reason } of temporary) {
    const left = `${remaining(expiresAt, now)} left`
    add(ip, shortened(reason === "" ? left : `${left}: ${reason}`))
  }
  const candidates = [...descriptions].map(([text, description]) => ({ text, description }))
  return candidates.length <= MOST_ENTRIES ? { kind: "words", candidates } : grouped(candidates, typed)
}

/** Every row, or `null` if there are too many. */
async function all<T>(list: PagedList<T>): Promise<T[] | null> {
  const { rows } = await wholeList(list, LONGEST_LIST + 1)
  return rows.length > LONGEST_LIST ? null : rows
}

/** `10.0.` for everything below it: up to the next dot or colon. */
function grouped(candidates: readonly Candidate[], typed: string): Offer {
  const groups = new Map<string, number>()
  for (const { text } of candidates) {
    const end = text.slice(typed.length).search(/[.:]/)
    const head = end === -1 ? text : text.slice(0, typed.length + end + 1)
    groups.set(head, (groups.get(head) ?? 0) + 1)
  }
  if (groups.size > MOST_ENTRIES) return NOTHING
  const heads = [...groups].map(([text, count]) => ({
    text,
    description: count === 1 ? "1 entry" : `${count} entries`,
  }))
  return { kind: "partial", candidates: heads }
}

function shortened(text: string): string {
  const characters = [...text]
  if (characters.length <= LONGEST_DESCRIPTION) return text
  return `${characters.slice(0, LONGEST_DESCRIPTION - 1).join("")}…`
}
