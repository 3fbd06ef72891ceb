// Answers as JSON of the service document: written by the server, read by the client.

import { type AuditDetail, type AuditRecord, isAuditAction } from "../core/audit.ts"
import { explainDay } from "../core/calendar-day.ts"
import { LATEST_TIME } from "../core/clock.ts"
import type { EndedEntry } from "../core/ended-entries.ts"
import type { ListName, PermanentEntry, TemporaryEntry } from "../core/entry.ts"
import { GateError } from "../core/errors.ts"
import type { Coverage, DecisionCounts, ImportCounts, Match, RefusedEntry } from "../core/gate.ts"
import type { Network } from "../core/network.ts"
import type { Status } from "../core/status.ts"

type Members = Readonly<Record<string, unknown>>

export function temporaryEntryToJson({ ip, reason, expiresAt }: TemporaryEntry) {
  return { ip, reason, expires: toTime(expiresAt) }
}

export function permanentEntryToJson({ ip }: PermanentEntry) {
  return { ip }
}

export function auditRecordToJson({ at, action, ip, ttlSeconds, reason, actor }: AuditRecord) {
  return { timestamp: toTime(at), action, ip, ttl_seconds: ttlSeconds, reason, api_client_ip: actor }
}

export function auditDetailToJson({ id, token, ...record }: AuditDetail) {
  return { id, ...auditRecordToJson(record), token }
}

export function statusToJson(status: Status) {
  return {
    status: status.status,
    uptime: status.uptime,
    perm_whitelist_count: status.permanentCount,
    temp_whitelist_count: status.temporaryCount,
    db_ok: status.databaseOk,
  }
}

export function importCountsToJson(counts: ImportCounts): ImportCounts {
  const { added, replaced, unchanged, removed, duplicates, ended } = counts
  return { added, replaced, unchanged, removed, duplicates, ended }
}

export function refusedEntryToJson({ ip, count, firstAt, lastAt, lastEntry }: RefusedEntry) {
  return {
    ip,
    count,
    first_seen: toTime(firstAt),
    last_seen: toTime(lastAt),
    last_entry:
      lastEntry === null
        ? null
        : { list: lastEntry.list, ip: lastEntry.ip, ended: toTime(lastEntry.endedAt), how: lastEntry.how },
  }
}

export function decisionCountsToJson({ allowed, denied, unidentified }: DecisionCounts): DecisionCounts {
  return { allowed, denied, unidentified }
}

export function matchToJson({ list, ip, expiresAt }: Match) {
  return { list, ip, expires: expiresAt === null ? null : toTime(expiresAt) }
}

export function coverageToJson(network: Network, { allowed, matches }: Coverage) {
  const first = matches[0]
  return { ip: network.toString(), allowed, matched_by: first === undefined ? null : matchToJson(first) }
}

/** RFC 3339 in UTC with milliseconds. It cannot name what comes after the year 9999: that is its last moment. */
export function toTime(milliseconds: number): string {
  return new Date(Math.min(milliseconds, LATEST_TIME)).toISOString()
}

export function permanentEntryFromJson(json: unknown): PermanentEntry {
  return { ip: text(json, "ip") }
}

export function temporaryEntryFromJson(json: unknown): TemporaryEntry {
  return { ip: text(json, "ip"), reason: text(json, "reason"), expiresAt: time(text(json, "expires")) }
}

export function auditRecordFromJson(json: unknown): AuditRecord {
  const action = text(json, "action")
  if (!isAuditAction(action)) throw unexpected("action")
  const ttlSeconds = member(json, "ttl_seconds")
  if (ttlSeconds !== null && typeof ttlSeconds !== "number") throw unexpected("ttl_seconds")
  return {
    at: time(text(json, "timestamp")),
    action,
    ip: textOrNull(json, "ip"),
    ttlSeconds,
    reason: textOrNull(json, "reason"),
    actor: textOrNull(json, "api_client_ip"),
  }
}

export function auditDetailFromJson(json: unknown): AuditDetail {
  return { id: count(json, "id"), ...auditRecordFromJson(json), token: textOrNull(json, "token") }
}

export function statusFromJson(json: unknown): Status {
  const databaseOk = member(json, "db_ok")
  if (typeof databaseOk !== "boolean") throw unexpected("db_ok")
  return {
    status: text(json, "status") === "ok" ? "ok" : "degraded",
    uptime: text(json, "uptime"),
    permanentCount: count(json, "perm_whitelist_count"),
    temporaryCount: count(json, "temp_whitelist_count"),
    databaseOk,
  }
}

export function coverageFromJson(json: unknown): Coverage {
  const allowed = member(json, "allowed")
  const matches = member(json, "matches")
  if (typeof allowed !== "boolean") throw unexpected("allowed")
  return { allowed, matches: list(matches).map(matchFromJson) }
}

export function importCountsFromJson(json: unknown): ImportCounts {
  return {
    added: count(json, "added"),
    replaced: count(json, "replaced"),
    unchanged: count(json, "unchanged"),
    removed: count(json, "removed"),
    duplicates: count(json, "duplicates"),
    ended: count(json, "ended"),
  }
}

export function refusedEntryFromJson(json: unknown): RefusedEntry {
  const lastEntry = member(json, "last_entry")
  return {
    ip: text(json, "ip"),
    count: count(json, "count"),
    firstAt: time(text(json, "first_seen")),
    lastAt: time(text(json, "last_seen")),
    lastEntry: lastEntry === null ? null : endedEntryFromJson(lastEntry),
  }
}

function endedEntryFromJson(json: unknown): EndedEntry {
  const how = text(json, "how")
  if (how !== "expired" && how !== "removed") throw unexpected("how")
  return { list: listName(json), ip: text(json, "ip"), endedAt: time(text(json, "ended")), how }
}

export function decisionCountsFromJson(json: unknown): DecisionCounts {
  return {
    allowed: count(json, "allowed"),
    denied: count(json, "denied"),
    unidentified: count(json, "unidentified"),
  }
}

function listName(json: unknown): ListName {
  const name = text(json, "list")
  if (name !== "perm" && name !== "temp") throw unexpected("list")
  return name
}

function matchFromJson(json: unknown): Match {
  const expires = textOrNull(json, "expires")
  return { list: listName(json), ip: text(json, "ip"), expiresAt: expires === null ? null : time(expires) }
}

/** An answer that must be an array. */
export function list(json: unknown): unknown[] {
  if (!Array.isArray(json)) throw unexpected("list")
  return json
}

/** Milliseconds of an RFC 3339 time in an answer. */
export function time(value: string): number {
  const milliseconds = Date.parse(value)
  if (Number.isNaN(milliseconds) || explainDay(value) !== null) throw unexpected("time")
  return milliseconds
}

export function member(json: unknown, name: string): unknown {
  return typeof json === "object" && json !== null ? (json as Members)[name] : undefined
}

export function text(json: unknown, name: string): string {
  const value = member(json, name)
  if (typeof value !== "string") throw unexpected(name)
  return value
}

export function textOrNull(json: unknown, name: string): string | null {
  return member(json, name) === null ? null : text(json, name)
}

export function count(json: unknown, name: string): number {
  const value = member(json, name)
  if (typeof value !== "number") throw unexpected(name)
  return value
}

/** The error for a member that is missing or of the wrong kind. */
export function unexpected(name: string): GateError {
  return new GateError(
    "failed",
    `the server's answer has no valid "${name}": is it an ipgate of another version?`,
  )
}
