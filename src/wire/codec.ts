// JSON of the service document to core values and back, strict in both directions.

import { type AuditQuery, type AuditRecord, isAuditAction } from "../core/audit.ts"
import type { EndedEntry } from "../core/ended-entries.ts"
import {
  explainReason,
  isTtl,
  type ListName,
  LONGEST_TTL_SECONDS,
  type PermanentEntry,
  type TemporaryEntry,
  type TemporaryGrant,
} from "../core/entry.ts"
import { GateError, invalid } from "../core/errors.ts"
import { explainNetwork } from "../core/explain.ts"
import type { FeedStart } from "../core/feed.ts"
import type {
  Coverage,
  DecisionCounts,
  ImportCounts,
  ImportRequest,
  Match,
  RefusedEntry,
} from "../core/gate.ts"
import { Network } from "../core/network.ts"
import { DEFAULT_LIMIT, LARGEST_LIMIT, type Page, parseLimit, parseOffset } from "../core/page.ts"
import { quoted } from "../core/printable.ts"
import type { Status } from "../core/status.ts"

type Members = Readonly<Record<string, unknown>>

// ---- requests, read by the server ----

/** The network in text from outside. Throws `invalid` with the reason. */
export function readNetwork(text: string): Network {
  const network = Network.parse(text)
  if (network === null) throw invalid(explainNetwork(text))
  return network
}

/** The body of a permanent addition. */
export function readPermanentBody(body: Members): Network {
  return readNetwork(readIp(body))
}

/** The body of a temporary addition. */
export function readTemporaryBody(body: Members): TemporaryGrant {
  const network = readNetwork(readIp(body))
  const ttlSeconds = own(body, "ttl_seconds")
  if (ttlSeconds === undefined) throw invalid("ttl_seconds is missing")
  if (!isTtl(ttlSeconds)) throw invalid(`ttl_seconds must be an integer from 1 to ${LONGEST_TTL_SECONDS}`)
  const reason = own(body, "reason")
  if (reason === undefined) return { network, ttlSeconds, reason: null }
  if (typeof reason !== "string") throw invalid("reason must be a string")
  const fault = explainReason(reason)
  if (fault !== null) throw invalid(fault)
  return { network, ttlSeconds, reason: reason === "" ? null : reason }
}

/** `limit` and `offset`. Throws `invalid` for anything out of range, doubled, or not plain digits. */
export function readPage(parameters: URLSearchParams): Page {
  const limitText = single(parameters, "limit")
  const offsetText = single(parameters, "offset")
  const limit = limitText === null ? DEFAULT_LIMIT : parseLimit(limitText)
  const offset = offsetText === null ? 0 : parseOffset(offsetText)
  if (limit === null) throw invalid("limit must be an integer from 1 to 1000")
  if (offset === null) throw invalid("offset must be an integer of 0 or more")
  return { limit, offset }
}

export function readAuditQuery(parameters: URLSearchParams): AuditQuery {
  const page = readPage(parameters)
  const action = single(parameters, "action")
  const ip = single(parameters, "ip")
  if (action !== null && !isAuditAction(action)) {
    throw invalid(
      `${quoted(action)} is not an action: use add_temp, delete_temp, add_perm, delete_perm or expire_temp`,
    )
  }
  return {
    ...page,
    ...(action === null ? {} : { action }),
    ...(ip === null ? {} : { network: readNetwork(ip) }),
  }
}

/** `prune=N` removes up to N permanent entries that an import does not name. */
export function readPrune(parameters: URLSearchParams): ImportRequest["prune"] {
  const text = single(parameters, "prune")
  if (text === null) return null
  const maxRemovals = parseOffset(text)
  if (maxRemovals === null) throw invalid("prune must be a number: how many permanent entries may be removed")
  return { maxRemovals }
}

/** Which rows a follower wants, and from where on: `Last-Event-ID` goes before `after`, and that before `tail`. */
export function readFeedQuery(parameters: URLSearchParams, lastEventId: string | null) {
  const { limit: _, offset: __, ...filter } = readAuditQuery(parameters)
  const after = lastEventId ?? single(parameters, "after")
  const tail = single(parameters, "tail")
  const id = after === null ? null : parseOffset(after)
  const rows = tail === null ? 0 : parseOffset(tail)
  if (after !== null && id === null) throw invalid("the last event id must be a number")
  if (rows === null || rows > LARGEST_LIMIT)
    throw invalid(`tail must be an integer from 0 to ${LARGEST_LIMIT}`)
  const start: FeedStart = id === null ? { tail: rows } : { after: id }
  return { start, filter }
}

/** A query parameter that may occur once. */
export function single(parameters: URLSearchParams, name: string): string | null {
  const values = parameters.getAll(name)
  if (values.length > 1) throw invalid(`${name} occurs more than once`)
  return values[0] ?? null
}

function readIp(body: Members): string {
  const ip = own(body, "ip")
  if (ip === undefined) {
    throw invalid(
      own(body, "entry") === undefined
        ? "ip is missing"
        : 'ip is missing: the field "entry" is called "ip" now',
    )
  }
  if (typeof ip !== "string") throw invalid("ip must be a string")
  return ip
}

function own(body: Members, name: string): unknown {
  return Object.hasOwn(body, name) ? body[name] : undefined
}

// ---- answers, written by the server ----

export function temporaryEntryToJson({ ip, reason, expiresAt }: TemporaryEntry) {
  return { ip, reason, expires: toTime(expiresAt) }
}

export function permanentEntryToJson({ ip }: PermanentEntry) {
  return { ip }
}

export function auditRecordToJson({ at, action, ip, ttlSeconds, reason, actor }: AuditRecord) {
  return { timestamp: toTime(at), action, ip, ttl_seconds: ttlSeconds, reason, api_client_ip: actor }
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

/** RFC 3339 in UTC with milliseconds. */
export function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

// ---- answers, read by the client ----

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
  if (Number.isNaN(milliseconds)) throw unexpected("time")
  return milliseconds
}

function member(json: unknown, name: string): unknown {
  return typeof json === "object" && json !== null ? (json as Members)[name] : undefined
}

function text(json: unknown, name: string): string {
  const value = member(json, name)
  if (typeof value !== "string") throw unexpected(name)
  return value
}

function textOrNull(json: unknown, name: string): string | null {
  return member(json, name) === null ? null : text(json, name)
}

function count(json: unknown, name: string): number {
  const value = member(json, name)
  if (typeof value !== "number") throw unexpected(name)
  return value
}

function unexpected(name: string): GateError {
  return new GateError(
    "failed",
    `the server's answer has no valid "${name}": is it an ipgate of another version?`,
  )
}
