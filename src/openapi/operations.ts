// Every operation of the API. `http/api.ts` has a handler for each that wants a token: the compiler compares the two.

import * as paths from "../wire/paths.ts"
import * as requests from "../wire/requests.ts"
import * as tokens from "../wire/tokens.ts"
import { arrayOf, schemaNamed } from "./answer-schemas.ts"
import { BUSY, changed, guarded, json, NO_SNIFF, refusal } from "./answers.ts"
import { PUBLIC_OPERATIONS } from "./decisions.ts"
import type { Operation } from "./operation.ts"

const REMOVED = changed("Removed, or it was not there.", ["removed", "absent"])
const PAGE = [requests.LIMIT, requests.OFFSET] as const
const FILTER = [requests.ACTION, requests.LOGGED_IP] as const
const TEMPORARY_LIST = json("The entries that have not ended.", arrayOf("TemporaryEntry"))

const TOKEN_OPERATIONS = [
  {
    method: "POST",
    path: paths.TEMPORARY_PATH,
    id: "addTemporary",
    summary: "Let an address or a network in for a while",
    description:
      "An entry that is there gets the new lifetime and the new reason. A 204 means that the change is on the disk, is in the log, and holds for the very next decision.",
    body: { type: "application/json", schema: requests.TEMPORARY_BODY.schema },
    answers: changed("Let in.", ["added", "replaced"], {
      [paths.EXPIRES_HEADER]: { type: "string", format: "date-time", description: "When the entry ends." },
    }),
  },
  {
    method: "GET",
    path: paths.TEMPORARY_PATH,
    id: "listTemporary",
    summary: "The temporary entries, the soonest to end first",
    parameters: PAGE,
    answers: TEMPORARY_LIST,
  },
  {
    method: "GET",
    path: paths.TEMPORARY_LIST_PATH,
    id: "listTemporaryToo",
    summary: "The same list under another path",
    parameters: PAGE,
    answers: TEMPORARY_LIST,
  },
  {
    method: "DELETE",
    path: paths.TEMPORARY_ENTRY,
    id: "removeTemporary",
    summary: "Remove a temporary entry",
    parameters: [requests.PATH_IP],
    answers: REMOVED,
  },
  {
    method: "POST",
    path: paths.PERMANENT_PATH,
    id: "addPermanent",
    summary: "Let an address or a network in until it is removed",
    body: { type: "application/json", schema: requests.PERMANENT_BODY.schema },
    answers: {
      ...changed("Let in.", ["added"]),
      409: refusal("Conflict", "The entry is there already, and stays."),
    },
  },
  {
    method: "GET",
    path: paths.PERMANENT_LIST_PATH,
    id: "listPermanent",
    summary: "The permanent entries, IPv4 before IPv6, by address",
    parameters: PAGE,
    answers: json("The entries.", arrayOf("PermanentEntry")),
  },
  {
    method: "DELETE",
    path: paths.PERMANENT_ENTRY,
    id: "removePermanent",
    summary: "Remove a permanent entry",
    parameters: [requests.PATH_IP],
    answers: REMOVED,
  },
  {
    method: "POST",
    path: paths.IMPORT_PATH,
    id: "importEntries",
    summary: "Add many entries in one transaction: all or nothing",
    parameters: [requests.PRUNE],
    body: {
      type: "text/plain",
      schema: { type: "string" },
      description:
        "One entry a line: NETWORK, or with tabs between NETWORK LIFETIME or NETWORK LIFETIME REASON. The lifetime is a number of seconds, or the time of the end.",
    },
    answers: { ...json("What was done.", schemaNamed("ImportCounts")), ...BUSY },
  },
  {
    method: "GET",
    path: paths.EXPORT_PATH,
    id: "exportEntries",
    summary: "Both lists from one consistent state, in the form that an import takes",
    answers: {
      200: {
        description: "The entries, one a line.",
        content: { type: "text/plain", schema: { type: "string" } },
        headers: NO_SNIFF,
      },
      ...BUSY,
    },
  },
  {
    method: "GET",
    path: paths.BACKUP_PATH,
    id: "backup",
    summary: "The whole database as a file, from one consistent state",
    answers: {
      200: {
        description: "An SQLite database: both lists, the log, and whatever else the server keeps.",
        content: {
          type: "application/vnd.sqlite3",
          schema: { type: "string", contentMediaType: "application/vnd.sqlite3" },
        },
      },
      ...BUSY,
    },
  },
  {
    method: "GET",
    path: paths.LOGS_PATH,
    id: "logs",
    summary: "The log of all changes, the newest first",
    parameters: [...FILTER, ...PAGE, requests.DETAIL],
    answers: json("The records.", arrayOf("AuditRecord")),
  },
  {
    method: "GET",
    path: paths.EVENTS_PATH,
    id: "events",
    summary: "Each change as it is committed",
    parameters: [...FILTER, requests.TAIL, requests.AFTER, requests.LAST_EVENT_ID],
    answers: {
      200: {
        description:
          "Server-sent events without end, each with an id. change: its data is an AuditRecord. reload: more has changed than is shown, read the lists. at: the log stands here.",
        content: { type: "text/event-stream", schema: { type: "string" } },
      },
    },
  },
  {
    method: "GET",
    path: paths.DENIED_PATH,
    id: "denied",
    summary: "The clients that were refused lately, the last one first",
    parameters: PAGE,
    answers: json("The clients.", arrayOf("RefusedClient")),
  },
  {
    method: "GET",
    path: paths.DECISIONS_PATH,
    id: "decisions",
    summary: "How many were let in and kept out since the start of the server",
    answers: json("The counts.", schemaNamed("DecisionCounts")),
  },
  {
    method: "GET",
    path: paths.CHECK_PATH,
    id: "check",
    summary: "Whether an address or a network is let in, and by which entry",
    parameters: [requests.ASKED_IP, requests.MATCHES],
    answers: json("The answer.", schemaNamed("Coverage")),
  },
  {
    method: "GET",
    path: paths.TOKENS_PATH,
    id: "listTokens",
    summary: "The named tokens, by name, also those that have ended",
    parameters: PAGE,
    answers: json("The tokens, without their secrets.", arrayOf("Token")),
  },
  {
    method: "POST",
    path: paths.TOKENS_PATH,
    id: "createToken",
    summary: "Make a named token",
    description: "The answer is the only one that ever holds the secret.",
    body: { type: "application/json", schema: tokens.TOKEN_BODY.schema },
    answers: {
      201: {
        description: "Made.",
        content: { type: "application/json", schema: schemaNamed("NewToken") },
        headers: { Location: { type: "string", description: "The path of the token." } },
      },
      409: refusal("NameInUse", "There is, or was, a token of this name."),
    },
  },
  {
    method: "DELETE",
    path: paths.TOKEN_ENTRY,
    id: "revokeToken",
    summary: "Revoke a named token, for the very next request",
    parameters: [tokens.PATH_NAME],
    answers: {
      ...changed("Revoked, or it was before.", ["revoked", "unchanged"]),
      404: refusal("NoToken", "There is no token of this name.", {
        [paths.RESULT_HEADER]: { type: "string", const: "absent", description: "What the request did." },
      }),
    },
  },
  {
    method: "GET",
    path: paths.OPENAPI_PATH,
    id: "openApi",
    summary: "This document",
    description: "Wants a token, so that a proxy that asks here by mistake lets nobody in.",
    answers: json("The document.", { type: "object", required: ["openapi", "info", "paths"] }),
  },
] as const satisfies readonly Operation[]

type TokenOperation = (typeof TOKEN_OPERATIONS)[number]
type EntryOperation = Extract<TokenOperation, { path: `${string}{${string}` }>

/** A value for each operation that wants a token, and for nothing else, by path and method. */
export type EndpointTable<E> = TableOf<Exclude<TokenOperation, EntryOperation>, E>
/** The same for the operations on one entry, whose path ends in a part in braces. */
export type EntryEndpointTable<E> = TableOf<EntryOperation, E>

type TableOf<O extends TokenOperation, E> = {
  readonly [P in O["path"]]: { readonly [M in Extract<O, { path: P }>["method"]]: E }
}

/** The operations that anybody may ask, those under a token, and with each of them every answer that it can get. */
export const OPERATIONS: { readonly open: readonly Operation[]; readonly guarded: readonly Operation[] } = {
  open: PUBLIC_OPERATIONS,
  guarded: TOKEN_OPERATIONS.map(guarded),
}
