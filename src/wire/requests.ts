// What a request asks for, read strictly: every fault is an error that names it.

import { type AuditQuery, isAuditAction } from "../core/audit.ts"
import { explainReason, isTtl, LONGEST_TTL_SECONDS, type TemporaryGrant } from "../core/entry.ts"
import { invalid } from "../core/errors.ts"
import { explainNetwork } from "../core/explain.ts"
import type { FeedStart } from "../core/feed.ts"
import type { ImportRequest } from "../core/gate.ts"
import { Network } from "../core/network.ts"
import { DEFAULT_LIMIT, LARGEST_LIMIT, type Page, parseLimit, parseOffset } from "../core/page.ts"
import { quoted } from "../core/printable.ts"

type Members = Readonly<Record<string, unknown>>

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
