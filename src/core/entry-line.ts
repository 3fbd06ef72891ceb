// One entry as a line of text: the format in which lists go in and out in bulk.

import { explainDay } from "./calendar-day.ts"
import { parseDuration } from "./duration.ts"
import { explainReason, isTtl, LONGEST_TTL_SECONDS } from "./entry.ts"
import { explainNetwork } from "./explain.ts"
import { Network } from "./network.ts"

/** `until` is the moment when the entry ends, in milliseconds, or `null` for a permanent one. */
export type EntryLine = {
  readonly network: Network
  readonly until: number | null
  readonly reason: string | null
}

/**
 * Reads `NETWORK`, or `NETWORK TAB LIFETIME`, or `NETWORK TAB LIFETIME TAB REASON`. A lifetime is a number of seconds
 * from `now`, or the RFC 3339 time of the end. A string is the reason why the line is no entry. An entry whose time
 * has passed already is read as it is: whoever stores it must leave it out.
 */
export function parseEntryLine(line: string, now: number): EntryLine | string {
  const tab = line.indexOf("\t")
  const text = tab === -1 ? line : line.slice(0, tab)
  const network = Network.parse(text)
  if (network === null) return explainNetwork(text)
  if (tab === -1) return { network, until: null, reason: null }
  const [lifetime = "", reason = "", ...rest] = line.slice(tab + 1).split("\t")
  if (rest.length > 0) return "there are more than three columns"
  const until = endOf(lifetime, now)
  if (until === null) {
    return (
      explainDay(lifetime) ??
      `the lifetime must be 1 to ${LONGEST_TTL_SECONDS} seconds, or a time like 2026-11-21T18:00:00Z`
    )
  }
  const fault = explainReason(reason)
  return fault ?? { network, until, reason: reason === "" ? null : reason }
}

export function formatEntryLine(ip: string, until: number | null, reason: string): string {
  if (until === null) return ip
  return `${ip}\t${new Date(until).toISOString()}${reason === "" ? "" : `\t${reason}`}`
}

/**
 * The end of a lifetime given as a duration or a time; `null` if it is neither, on no day of the calendar, or more than
 * ten years away.
 */
export function endOf(lifetime: string, now: number): number | null {
  const seconds = parseDuration(lifetime)
  if (seconds !== null) return isTtl(seconds) ? now + seconds * 1000 : null
  if (explainDay(lifetime) !== null) return null
  // RFC 3339 has no hour 24, which `Date.parse` takes.
  if (!/^\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$/.test(lifetime)) return null
  const until = Date.parse(lifetime)
  return Number.isNaN(until) || until < 0 || until > now + LONGEST_TTL_SECONDS * 1000 ? null : until
}

/** The lines of pieces that may end anywhere, as pieces that come over a network do. */
export async function* linesOfPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = new Uint8Array(0)
  for await (const piece of pieces) {
    const bytes = new Uint8Array(rest.length + piece.length)
    bytes.set(rest)
    bytes.set(piece, rest.length)
    const end = bytes.lastIndexOf(10) + 1
    yield* linesOf(bytes.subarray(0, end))
    rest = bytes.slice(end)
  }
  yield* linesOf(rest)
}

/** The lines of a text, without their ends; an empty last line does not count. Yields the bytes' text lazily. */
export function* linesOf(bytes: Uint8Array): Generator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(10, start)
    const end = found === -1 ? bytes.length : found
    yield decoder.decode(bytes.subarray(start, end))
    start = end + 1
  }
}
