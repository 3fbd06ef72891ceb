// Models of the screen for tests: made by the same news and keys that a running screen gets.

import { type Key, type KeyName, pressed, type Step } from "../../cli/watch/keys.ts"
import { initialModel, type LogRow, type Model, type News, told } from "../../cli/watch/model.ts"
import type { AuditRecord } from "../../src/core/audit.ts"
import type { RefusedEntry } from "../../src/core/gate.ts"

export const NOW = Date.UTC(2026, 10, 21, 13, 5, 2)
export const HOUR = 3_600_000

const NAMES: ReadonlySet<string> = new Set<KeyName>([
  "up",
  "down",
  "page-up",
  "page-down",
  "home",
  "end",
  "tab",
  "back-tab",
  "enter",
  "escape",
  "erase",
  "clear",
  "redraw",
  "quit",
])

/** A screen of 100x30, on which nothing has happened. */
export function emptyModel(size = { columns: 100, rows: 30 }): Model {
  return initialModel({ now: NOW, mono: 1_000, size, address: "127.0.0.1:8765" })
}

export function after(model: Model, ...news: readonly News[]): Model {
  return news.reduce(told, model)
}

/** Presses keys by their names, and types everything else, character by character. */
export function typing(model: Model, ...keys: readonly string[]): Step {
  let step: Step = { model, task: null }
  for (const key of keys) {
    const all: Key[] = NAMES.has(key)
      ? [{ kind: "key", name: key as KeyName }]
      : [...key].map((text) => ({ kind: "text", text }))
    for (const one of all) step = pressed(step.model, one)
  }
  return step
}

/** The model after the keys. */
export function keyed(model: Model, ...keys: readonly string[]): Model {
  return typing(model, ...keys).model
}

/** Entries as `ip: hours that are left`, granted for ten hours each. */
export function listed(
  hours: Readonly<Record<string, number>>,
  reasons: Readonly<Record<string, string>> = {},
): News {
  const entries = Object.entries(hours).map(([ip, left]) => ({
    ip,
    expiresAt: NOW + left * HOUR,
    lifetime: 10 * HOUR,
    reason: reasons[ip] ?? "",
  }))
  return { kind: "listed", entries, isPartial: false }
}

export function client(ip: string, more: Partial<RefusedEntry> = {}): RefusedEntry {
  return { ip, count: 1, firstAt: NOW - 60_000, lastAt: NOW - 5_000, lastEntry: null, ...more }
}

export function refused(...ips: readonly string[]): News {
  return { kind: "refused", clients: ips.map((ip) => client(ip)) }
}

export function row(
  id: number,
  action: AuditRecord["action"],
  ip: string,
  more: Partial<AuditRecord> = {},
): LogRow {
  const ttlSeconds = action === "add_temp" ? 3600 : null
  return { id, record: { at: NOW, action, ip, ttlSeconds, reason: null, actor: "127.0.0.1", ...more } }
}

export function changed(...rows: readonly LogRow[]): News {
  return { kind: "changed", rows }
}

export function answer(more: Partial<Extract<News, { kind: "answered" }>> = {}): News {
  return {
    kind: "answered",
    status: { status: "ok", uptime: "3d4h12m5s", permanentCount: 12, temporaryCount: 3, databaseOk: true },
    counts: { allowed: 0, denied: 0, unidentified: 0 },
    at: 1_000,
    ...more,
  }
}

/** What the panes show, and the marked row of each: `> ip`. */
export function shown({ active, refused, logged }: Model): Record<"active" | "refused" | "log", string[]> {
  const rows = (keys: string[], marked: string | null) =>
    keys.map((key) => (key === marked ? `> ${key}` : key))
  return {
    active: rows(
      active.rows.map(({ ip }) => ip),
      active.selection.key,
    ),
    refused: rows(
      refused.rows.map(({ ip }) => ip),
      refused.selection.key,
    ),
    log: logged.rows.map(
      ({ id, record }) =>
        `${String(id) === logged.selection.key ? "> " : ""}${id} ${record.action} ${record.ip}`,
    ),
  }
}
