// The screen as data: what happens goes in, the next state and what has to be done come out. Nothing else changes it.

import type { AuditRecord } from "../../src/core/audit.ts"
import type { DecisionCounts, RefusedEntry } from "../../src/core/gate.ts"
import type { Network } from "../../src/core/network.ts"
import type { Status } from "../../src/core/status.ts"
import {
  type ActiveEntries,
  type ActiveEntry,
  type ActiveOrder,
  activeEntries,
  applyRecords,
  arranged,
  contains,
  type ListedEntry,
} from "./active-entries.ts"
import type { Form } from "./form.ts"
import type { PaneName, Size } from "./layout.ts"
import { NOTHING_SELECTED, reselected, type Selection, type WhenGone } from "./selection.ts"
import { answered, type ServerState } from "./server-state.ts"

/** A row of the log with its id. */
export type LogRow = { readonly id: number; readonly record: AuditRecord }

export type RefusedOrder = "last seen" | "count"

/** What a pane shows: rows that match, in order, and which one is marked. */
export type Pane<Row> = {
  readonly rows: readonly Row[]
  readonly selection: Selection
  /** Characters of the longest address in the rows. */
  readonly longestIp: number
}

/** What keys mean at the moment. */
export type Mode =
  | { readonly kind: "browse" }
  | { readonly kind: "filter" }
  | { readonly kind: "form"; readonly form: Form }
  | { readonly kind: "confirm"; readonly question: string; readonly short: string; readonly task: Task }
  | { readonly kind: "help" }

/** A line about what was done, or why not, until the next key. */
export type Notice = { readonly text: string; readonly isBad: boolean }

/** What somebody has asked for, to be done outside. */
export type Task =
  | {
      readonly kind: "allow"
      readonly network: Network
      readonly ttlSeconds: number
      readonly reason: string | null
    }
  | { readonly kind: "remove"; readonly network: Network }
  | { readonly kind: "make-permanent"; readonly network: Network }
  | { readonly kind: "redraw" }
  | { readonly kind: "quit" }

export type Model = {
  /** Milliseconds since 1970. */
  readonly now: number
  /** On the monotonic clock. */
  readonly mono: number
  readonly size: Size
  /** Where the server is, for the status line. */
  readonly address: string
  readonly server: ServerState
  readonly entries: ActiveEntries
  /** False until the list has been read. */
  readonly isLoaded: boolean
  /** True if there are more entries than these: the soonest to end are here. */
  readonly isPartial: boolean
  readonly clients: readonly RefusedEntry[]
  /** Newest first. */
  readonly log: readonly LogRow[]
  readonly active: Pane<ActiveEntry>
  readonly refused: Pane<RefusedEntry>
  readonly logged: Pane<LogRow>
  readonly focus: PaneName
  readonly filter: string
  readonly activeOrder: ActiveOrder
  readonly refusedOrder: RefusedOrder
  readonly mode: Mode
  readonly notice: Notice | null
}

/** What the server tells, what time does, and what came of a task. */
export type News =
  | { readonly kind: "listed"; readonly entries: readonly ListedEntry[]; readonly isPartial: boolean }
  | { readonly kind: "log-read"; readonly rows: readonly LogRow[] }
  | { readonly kind: "changed"; readonly rows: readonly LogRow[] }
  | { readonly kind: "refused"; readonly clients: readonly RefusedEntry[] }
  | {
      readonly kind: "answered"
      readonly status: Status
      readonly counts: DecisionCounts
      readonly at: number
    }
  | { readonly kind: "lost"; readonly problem: string }
  | { readonly kind: "tick"; readonly now: number; readonly mono: number }
  | { readonly kind: "resized"; readonly size: Size }
  | { readonly kind: "done"; readonly text: string }
  | { readonly kind: "failed"; readonly text: string }

/** Rows of the log that are kept. */
export const LOG_ROWS = 500

const EMPTY = { rows: [], selection: NOTHING_SELECTED, longestIp: 0 } as const

export function initialModel(start: {
  readonly now: number
  readonly mono: number
  readonly size: Size
  readonly address: string
}): Model {
  return {
    ...start,
    server: { status: null, counts: null, rates: null, answeredAt: start.mono, problem: null },
    entries: new Map(),
    isLoaded: false,
    isPartial: false,
    clients: [],
    log: [],
    active: EMPTY,
    refused: EMPTY,
    logged: EMPTY,
    focus: "active",
    filter: "",
    activeOrder: "time left",
    refusedOrder: "last seen",
    mode: { kind: "browse" },
    notice: null,
  }
}

export function told(model: Model, news: News): Model {
  switch (news.kind) {
    case "listed": {
      const entries = activeEntries(news.entries, model.now)
      return withActive({ ...model, entries, isLoaded: true, isPartial: news.isPartial })
    }
    case "log-read":
      return withLogged({ ...model, log: news.rows.slice(0, LOG_ROWS) })
    case "changed":
      return changed(model, news.rows)
    case "refused":
      return withRefused({ ...model, clients: news.clients })
    case "answered":
      return { ...model, server: answered(model.server, news.status, news.counts, news.at) }
    case "lost":
      return { ...model, server: { ...model.server, rates: null, problem: news.problem } }
    case "tick":
      return { ...model, now: news.now, mono: news.mono }
    case "resized":
      return { ...model, size: news.size }
    case "done":
      return { ...model, notice: { text: news.text, isBad: false } }
    case "failed":
      return { ...model, notice: { text: news.text, isBad: true } }
  }
}

/** The rows of every pane again, after the filter or an order has changed. */
export function rearranged(model: Model): Model {
  return withLogged(withRefused(withActive(model)))
}

export const keyOf = {
  active: ({ ip }: ActiveEntry): string => ip,
  refused: ({ ip }: RefusedEntry): string => ip,
  log: ({ id }: LogRow): string => String(id),
} as const

/** The entry, client or row that is marked in the pane with the focus. */
export function markedIp({ focus, active, refused, logged }: Model): string | null {
  if (focus === "active") return active.selection.key
  if (focus === "refused") return refused.selection.key
  return logged.rows.find(({ id }) => String(id) === logged.selection.key)?.record.ip ?? null
}

/** Temporary entries: those that are here if they are all, and that is newer than what the server has told. */
export function temporaryCount({ entries, isLoaded, isPartial, server }: Model): number {
  const told = server.status?.temporaryCount ?? 0
  return isLoaded && !isPartial ? entries.size : Math.max(entries.size, told)
}

function changed(model: Model, rows: readonly LogRow[]): Model {
  // A log that was read anew may hold a row already that is told now.
  const newest = model.log[0]?.id ?? 0
  const news = rows.filter(({ id }) => id > newest)
  const logged = withLogged({ ...model, log: [...news.reverse(), ...model.log].slice(0, LOG_ROWS) })
  if (!model.isLoaded) return logged
  const entries = applyRecords(
    model.entries,
    rows.map(({ record }) => record),
  )
  return entries === model.entries ? logged : withActive({ ...logged, entries })
}

function withActive(model: Model): Model {
  const rows = arranged(model.entries, model.filter, model.activeOrder)
  return {
    ...model,
    active: pane(model.active, rows, { key: keyOf.active, ip: keyOf.active, whenGone: "next" }),
  }
}

// Who is marked here is let in by one key, so a mark never goes to another client by itself.
function withRefused(model: Model): Model {
  const rows = model.clients.filter(({ ip }) => contains(model.filter, ip))
  if (model.refusedOrder === "count") rows.sort((a, b) => b.count - a.count || b.lastAt - a.lastAt)
  const before = seen(model, "refused", model.refused)
  return {
    ...model,
    refused: pane(before, rows, { key: keyOf.refused, ip: keyOf.refused, whenGone: "none" }),
  }
}

function withLogged(model: Model): Model {
  const rows = model.log.filter(({ record: { action, ip, reason } }) =>
    contains(model.filter, action, ip ?? "", reason ?? ""),
  )
  const before = seen(model, "log", model.logged)
  const ip = ({ record }: LogRow) => record.ip
  return { ...model, logged: pane(before, rows, { key: keyOf.log, ip, whenGone: "next" }) }
}

/** A pane in which newer rows come first shows them until somebody goes there: then the mark stays where it is. */
function seen<Row>(model: Model, name: PaneName, pane: Pane<Row>): Pane<Row> {
  return model.focus === name ? pane : EMPTY
}

function pane<Row>(
  before: Pane<Row>,
  rows: readonly Row[],
  { key, ip, whenGone }: { key: (row: Row) => string; ip: (row: Row) => string | null; whenGone: WhenGone },
): Pane<Row> {
  const hadRows = before.rows.length > 0
  let longestIp = 0
  for (const row of rows) longestIp = Math.max(longestIp, ip(row)?.length ?? 0)
  return { rows, longestIp, selection: reselected(before.selection, rows.map(key), { hadRows, whenGone }) }
}
