// One entry as a line of text: the format in which lists go in and out in bulk.

import { explainDay } from "./calendar-day.ts"
import { LATEST_TIME } from "./clock.ts"
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

/** How long an entry holds: so many seconds from when it is stored on, or until a moment in milliseconds. */
export type Lifetime = { readonly seconds: number } | { readonly until: number }

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

/** Reads a line of an export, whose ends are times: none is too far off, also by a clock that is behind the server's. */
export function parseExportedLine(line: string): EntryLine | string {
  return parseEntryLine(line, LATEST_TIME)
}

/** Seconds are written as such: whoever reads the line counts them by the clock of its own. */
export function formatEntryLine(ip: string, lifetime: Lifetime | null, reason: string): string {
  if (lifetime === null) return ip
  const text = "seconds" in lifetime ? String(lifetime.seconds) : new Date(lifetime.until).toISOString()
  return `${ip}\t${text}${reason === "" ? "" : `\t${reason}`}`
}

/**
 * A duration or a time; `null` if the text is neither, on no day of the calendar, or more than ten years away. Digits of
 * a second behind the third are cut off.
 */
export function readLifetime(text: string, now: number): Lifetime | null {
  const seconds = parseDuration(text)
  if (seconds !== null) return isTtl(seconds) ? { seconds } : null
  if (explainDay(text) !== null) return null
  // RFC 3339 has no hour 24, which `Date.parse` takes.
  if (!/^\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text)) return null
  const until = Date.parse(text.replace(/(\.\d{3})\d+/, "$1"))
  return Number.isNaN(until) || until < 0 || until > now + LONGEST_TTL_SECONDS * 1000 ? null : { until }
}

/** The end of such a lifetime that begins `now`. */
export function endOf(text: string, now: number): number | null {
  const lifetime = readLifetime(text, now)
  if (lifetime === null) return null
  return "seconds" in lifetime ? now + lifetime.seconds * 1000 : lifetime.until
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
