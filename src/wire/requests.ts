// What a request asks for, read strictly: every fault is an error that names it.

import { AUDIT_ACTIONS, type AuditQuery } from "../core/audit.ts"
import { explainReason, LONGEST_REASON, LONGEST_TTL_SECONDS, type TemporaryGrant } from "../core/entry.ts"
import { invalid } from "../core/errors.ts"
import { explainNetwork } from "../core/explain.ts"
import type { FeedStart } from "../core/feed.ts"
import type { ImportRequest } from "../core/gate.ts"
import { Network } from "../core/network.ts"
import { DEFAULT_LIMIT, LARGEST_LIMIT, type Page } from "../core/page.ts"
import { choice, type Input, inDigits, integer, object, text } from "./inputs.ts"
import { NETWORK_SCHEMA } from "./network-schema.ts"
import { fromQuery, optional, required, withDefault } from "./parameters.ts"

/** The network in text from outside. Throws `invalid` with the reason. */
export function readNetwork(text: string): Network {
  const network = Network.parse(text)
  if (network === null) throw invalid(explainNetwork(text))
  return network
}

export const NETWORK: Input<Network> = text(
  {
    description:
      "An IPv4 or IPv6 address, or a network as address/length without host bits: 10.0.0.5/8 is refused. Every spelling of an entry finds it; answers have the canonical one.",
    ...NETWORK_SCHEMA,
    examples: ["203.0.113.7", "192.0.2.0/28", "2001:db8:1::/64"],
  },
  readNetwork,
)

const REASON: Input<string> = text(
  {
    maxLength: LONGEST_REASON,
    description:
      "Why. Without control characters, line separators, and invisible or direction-changing ones.",
  },
  (reason) => {
    const fault = explainReason(reason)
    if (fault !== null) throw invalid(fault)
    return reason
  },
)

const FORMER_NAMES = { ip: "entry" } as const

export const PERMANENT_BODY = object({
  description: "An address or a network that is to be let in until it is removed.",
  required: { ip: NETWORK },
  formerNames: FORMER_NAMES,
})

export const TEMPORARY_BODY = object({
  description: "An address or a network that is to be let in for a while.",
  required: {
    ip: NETWORK,
    ttl_seconds: integer({
      minimum: 1,
      maximum: LONGEST_TTL_SECONDS,
      description: "The lifetime in seconds, up to ten years.",
    }),
  },
  optional: { reason: REASON },
  formerNames: FORMER_NAMES,
})

export const PATH_IP = required({
  name: "ip",
  in: "path",
  description: "The entry. The slash of a network may be percent-encoded or not.",
  input: NETWORK,
})

export const LIMIT = withDefault(
  {
    name: "limit",
    description: "At most so many items.",
    input: inDigits(integer({ minimum: 1, maximum: LARGEST_LIMIT })),
  },
  DEFAULT_LIMIT,
)

export const OFFSET = withDefault(
  { name: "offset", description: "After so many others.", input: inDigits(integer({ minimum: 0 })) },
  0,
)

export const ACTION = optional({
  name: "action",
  description: "Only records of this action.",
  input: choice(AUDIT_ACTIONS, "an action"),
})

export const LOGGED_IP = optional({
  name: "ip",
  description: "Only records of this entry, in any spelling.",
  input: NETWORK,
})

export const DETAIL = optional({
  name: "detail",
  description: "Also give the id of each record and the name of the token that the change was made with.",
  input: choice(["1"], "a value of detail"),
})

export const PRUNE = optional({
  name: "prune",
  description:
    "Also remove the permanent entries that the import does not name. If they are more than this number, nothing is changed.",
  input: inDigits(integer({ minimum: 0 })),
})

export const TAIL = withDefault(
  {
    name: "tail",
    description: "Begin with so many of the newest records.",
    input: inDigits(integer({ minimum: 0, maximum: LARGEST_LIMIT })),
  },
  0,
)

const EVENT_ID = inDigits(integer({ minimum: 0 }))

export const AFTER = optional({
  name: "after",
  description: "Begin with the first record after the one of this id; goes before tail.",
  input: EVENT_ID,
})

export const LAST_EVENT_ID = optional({
  name: "Last-Event-ID",
  in: "header",
  description: "What a client sends that comes back: the last id that it saw; goes before after.",
  input: EVENT_ID,
})

export const ASKED_IP = required({
  name: "ip",
  description: "The address or network to ask about.",
  input: NETWORK,
})

export const MATCHES = optional({
  name: "matches",
  description: "Also name all the entries that contain it, not only the first.",
  input: choice(["all"], "a value of matches"),
})

/** The body of a permanent addition. */
export function readPermanentBody(body: unknown): Network {
  return PERMANENT_BODY.read(body, "the body").ip
}

/** The body of a temporary addition. */
export function readTemporaryBody(body: unknown): TemporaryGrant {
  const { ip, ttl_seconds, reason = "" } = TEMPORARY_BODY.read(body, "the body")
  return { network: ip, ttlSeconds: ttl_seconds, reason: reason === "" ? null : reason }
}

/** `limit` and `offset`. Throws `invalid` for anything out of range, doubled, or not plain digits. */
export function readPage(query: URLSearchParams): Page {
  return { limit: fromQuery(query, LIMIT), offset: fromQuery(query, OFFSET) }
}

export function readAuditQuery(query: URLSearchParams): AuditQuery {
  const page = readPage(query)
  const action = fromQuery(query, ACTION)
  const network = fromQuery(query, LOGGED_IP)
  return { ...page, ...(action === null ? {} : { action }), ...(network === null ? {} : { network }) }
}

/** `prune=N` removes up to N permanent entries that an import does not name. */
export function readPrune(query: URLSearchParams): ImportRequest["prune"] {
  const maxRemovals = fromQuery(query, PRUNE)
  return maxRemovals === null ? null : { maxRemovals }
}

/** Whether the rich form of the log is wanted. */
export function readDetail(query: URLSearchParams): boolean {
  return fromQuery(query, DETAIL) !== null
}

/** Which rows a follower wants, and from where on: `Last-Event-ID` goes before `after`, and that before `tail`. */
export function readFeedQuery(query: URLSearchParams, lastEventId: string | null) {
  const { limit: _, offset: __, ...filter } = readAuditQuery(query)
  const tail = fromQuery(query, TAIL)
  const after = fromQuery(query, AFTER)
  const id = LAST_EVENT_ID.read(lastEventId) ?? after
  const start: FeedStart = id === null ? { tail } : { after: id }
  return { start, filter }
}

/** What to ask about, and whether all of the entries that contain it are wanted. */
export function readCheckQuery(query: URLSearchParams) {
  return { network: fromQuery(query, ASKED_IP), all: fromQuery(query, MATCHES) === "all" }
}
