// The rows of the panes as text: which columns there are at a width, and what stands in each cell.

import { formatDuration } from "../../src/core/duration.ts"
import type { RefusedEntry } from "../../src/core/gate.ts"
import { ago, remaining, shortTime } from "../times.ts"
import type { ActiveEntry } from "./active-entries.ts"
import { column, cut, rightColumn } from "./cells.ts"
import type { LogRow, Model, Pane } from "./model.ts"

/** How a piece of text looks. Whatever it tells stands in the text as well. */
export type Tone = "plain" | "strong" | "marked" | "faint" | "good" | "warning" | "bad" | "heading"

export type Span = { readonly text: string; readonly tone: Tone }

/** A pane's columns at a width: the room of each, 0 for one that is left out. The last takes the rest. */
type Widths = Readonly<Record<"address" | "second" | "third" | "fourth" | "rest", number>>

/** The mark before a row. */
export const MARK = 2
const NARROWEST_ADDRESS = 19
const WIDEST_ADDRESS = 43
const NARROWEST_REST = 6

const WIDE = 80
const WIDER = 100

/** As wide as the longest address that there is, so that columns stay where they are while rows come and go. */
export function addressWidth({ longestIp }: Pane<unknown>): number {
  return Math.max(NARROWEST_ADDRESS, Math.min(longestIp, WIDEST_ADDRESS))
}

// ---- active entries: address, what is left, bar, end, reason ----

const LEFT = 8
const END = 20
const NARROWEST_BAR = 5

export function activeWidths(columns: number, address: number): Widths {
  const bar = columns >= WIDER ? 24 : columns >= WIDE ? 16 : 10
  const fourth = columns >= WIDER ? END + 1 : 0
  return shared(columns, address + 1, LEFT + 1, fourth, bar + 1, NARROWEST_BAR + 1)
}

export function activeHeading(widths: Widths, title: string, { activeOrder }: Model): Span[] {
  const name = (text: string, order: string) => (order === activeOrder ? `${text}^` : text)
  return heading([
    [activeOrder === "address" ? `${title}^` : title, widths.address],
    [name("LEFT", "time left"), widths.second],
    ["", widths.third],
    ["ENDS", widths.fourth],
    [name("REASON", "reason"), widths.rest],
  ])
}

export function activeLine(
  widths: Widths,
  { ip, expiresAt, lifetime, reason }: ActiveEntry,
  now: number,
): Span[] {
  const share = Math.max(0, Math.min(1, (expiresAt - now) / lifetime))
  const tone: Tone = share < 0.1 ? "bad" : share < 0.25 ? "warning" : "good"
  const left = expiresAt <= now ? "ended" : remaining(expiresAt, now)
  return [
    cell(ip, widths.address, "strong"),
    cell(left, widths.second, share < 0.1 ? "bad" : "plain"),
    ...(widths.third === 0 ? [] : bar(share, widths.third - 1, tone)),
    cell(shortTime(expiresAt), widths.fourth, "plain"),
    { text: cut(reason, widths.rest), tone: "plain" },
  ]
}

function bar(share: number, width: number, tone: Tone): Span[] {
  const full = Math.ceil(share * width)
  return [
    { text: "█".repeat(full), tone },
    { text: `${"░".repeat(width - full)} `, tone: "faint" },
  ]
}

// ---- refused clients: address, count, last and first seen, what let them in ----

const COUNT = 7
const SEEN = 11

export function refusedWidths(columns: number, address: number): Widths {
  return shared(columns, address + 1, COUNT + 2, columns >= WIDER ? SEEN : 0, SEEN, 0)
}

export function refusedHeading(widths: Widths, title: string, { refusedOrder }: Model): Span[] {
  return heading([
    [title, widths.address],
    [(refusedOrder === "count" ? "COUNT^" : "COUNT").padStart(COUNT), widths.second],
    [refusedOrder === "last seen" ? "LAST^" : "LAST", widths.third],
    ["FIRST", widths.fourth],
    ["LET IN BEFORE", widths.rest],
  ])
}

export function refusedLine(widths: Widths, client: RefusedEntry, { now, entries }: Model): Span[] {
  const { ip, count, firstAt, lastAt, lastEntry } = client
  const entry = entries.get(ip)
  const isActive = entry !== undefined && entry.expiresAt > now
  const before =
    lastEntry === null
      ? "-"
      : `${lastEntry.how} ${ago(lastEntry.endedAt, now)}: ${lastEntry.list === "perm" ? "permanent" : "temporary"} ${lastEntry.ip}`
  return [
    cell(ip, widths.address, "strong"),
    { text: `${rightColumn(String(count), COUNT)}  `, tone: "plain" },
    cell(ago(lastAt, now), widths.third, "plain"),
    cell(ago(firstAt, now), widths.fourth, "plain"),
    isActive
      ? { text: cut(`let in for ${remaining(entry.expiresAt, now)}`, widths.rest), tone: "good" }
      : { text: cut(before, widths.rest), tone: lastEntry === null ? "faint" : "warning" },
  ]
}

// ---- the log: time, action, address, lifetime, client, reason ----

const TIME = 20
const CLOCK = 9
const ACTION = 11
const LIFETIME = 8
const NARROWEST_CLIENT = 15

export type LogWidths = Widths & { readonly client: number }

export function logWidths(columns: number, address: number): LogWidths {
  const time = columns >= WIDER ? TIME : CLOCK
  const client = columns >= WIDER ? NARROWEST_CLIENT + 1 : 0
  const room = Math.max(0, columns - MARK)
  const third = Math.min(address + 1, Math.max(0, room - time - 1 - ACTION - 1))
  const fourth = columns >= WIDE ? LIFETIME + 1 : 0
  const used = time + 1 + ACTION + 1 + third + fourth + client
  return { second: time + 1, third: ACTION + 1, address: third, fourth, client, rest: atLeast(room - used) }
}

export function logHeading(widths: LogWidths, title: string): Span[] {
  return heading([
    [title, widths.second],
    ["ACTION", widths.third],
    ["ADDRESS", widths.address],
    ["TTL", widths.fourth],
    ["CLIENT", widths.client],
    ["REASON", widths.rest],
  ])
}

export function logLine(widths: LogWidths, { record }: LogRow): Span[] {
  const { at, action, ip, ttlSeconds, actor, reason } = record
  const time = shortTime(at)
  return [
    cell(widths.second > CLOCK + 1 ? time : time.slice(-CLOCK), widths.second, "faint"),
    cell(action, widths.third, action === "add_temp" || action === "add_perm" ? "good" : "warning"),
    cell(ip ?? "-", widths.address, "strong"),
    cell(ttlSeconds === null ? "-" : formatDuration(ttlSeconds), widths.fourth, "plain"),
    cell(actor ?? "-", widths.client, "faint"),
    { text: cut(reason ?? "", widths.rest), tone: "plain" },
  ]
}

// ---- what they share ----

/**
 * The address is never cut while there is room for it at all; then comes the second column; the third shrinks to
 * `leastThird` before it goes; the rest gets what is left, if that is worth anything.
 */
function shared(
  columns: number,
  address: number,
  second: number,
  fourth: number,
  third: number,
  leastThird: number,
): Widths {
  let room = Math.max(0, columns - MARK)
  const take = (wanted: number, least: number) => {
    const given = room >= wanted ? wanted : room >= least ? room : 0
    room -= given
    return given
  }
  const widths = {
    address: take(address, 0),
    second: take(second, second),
    third: take(third, Math.max(leastThird, 1)),
    fourth: take(fourth, fourth),
  }
  return { ...widths, rest: atLeast(room) }
}

function atLeast(room: number): number {
  return room < NARROWEST_REST ? 0 : room
}

/** A cell with a space after it; nothing at all where there is no room. */
function cell(text: string, width: number, tone: Tone): Span {
  return { text: width < 2 ? "" : `${column(text, width - 1)} `, tone }
}

function heading(cells: ReadonlyArray<readonly [text: string, width: number]>): Span[] {
  return cells.map(([text, width]) => cell(text, width, "heading"))
}
