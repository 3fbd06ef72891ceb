// What the JSON of the answers looks like, each beside the function of wire/answers.ts that writes it.

import { AUDIT_ACTIONS } from "../core/audit.ts"
import { TOKEN_SCOPES, TOKEN_STATES } from "../core/token.ts"
import type * as answers from "../wire/answers.ts"
import type { JsonSchema } from "../wire/inputs.ts"
import { ADDRESS_SCHEMA, NETWORK_SCHEMA } from "../wire/network-schema.ts"
import type * as tokens from "../wire/tokens.ts"

/** What a function writes must have these members and no others: the compiler compares the two. */
type Written<F extends (...of: never[]) => object> = { readonly [N in keyof ReturnType<F>]-?: JsonSchema }

function object(description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", description, required: Object.keys(properties), properties }
}

const text = (description: string): JsonSchema => ({ type: "string", description })
const count = (description: string): JsonSchema => ({ type: "integer", minimum: 0, description })
const time = (description: string): JsonSchema => ({ type: "string", format: "date-time", description })
const oneOf = (values: readonly string[], description: string): JsonSchema => ({
  type: "string",
  enum: values,
  description,
})

const address = (description: string): JsonSchema => ({ description, ...ADDRESS_SCHEMA })
const network = (description: string): JsonSchema => ({ description, ...NETWORK_SCHEMA })

/** What the schema takes, or null. */
const nullable = ({ type, anyOf, ...rest }: JsonSchema): JsonSchema =>
  Array.isArray(anyOf) ? { ...rest, anyOf: [...anyOf, { type: "null" }] } : { type: [type, "null"], ...rest }

const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const listName = oneOf(["perm", "temp"], "The permanent or the temporary list.")

const status: Written<typeof answers.statusToJson> = {
  status: oneOf(
    ["ok", "degraded"],
    "degraded while the database does not work: decisions go on, changes fail.",
  ),
  uptime: text("The running time as a duration: 3d4h12m5s."),
  perm_whitelist_count: count("Permanent entries."),
  temp_whitelist_count: count("Temporary entries."),
  db_ok: { type: "boolean", description: "Whether the database works." },
}

const permanentEntry: Written<typeof answers.permanentEntryToJson> = {
  ip: network("The address or network, in canonical form."),
}

const temporaryEntry: Written<typeof answers.temporaryEntryToJson> = {
  ip: network("The address or network, in canonical form."),
  reason: text("Why; empty if no reason was given."),
  expires: time("When the entry ends."),
}

const auditRecord: Written<typeof answers.auditRecordToJson> = {
  timestamp: time("When it happened."),
  action: oneOf(AUDIT_ACTIONS, "What happened."),
  ip: nullable(network("The entry.")),
  ttl_seconds: nullable({
    type: "integer",
    minimum: 1,
    description: "The lifetime of a temporary addition.",
  }),
  reason: nullable(text("The reason of a temporary addition, if one was given.")),
  api_client_ip: nullable(
    address("Who asked for it; null over a unix socket, offline, and for an entry that ended by itself."),
  ),
}

/** Of the rich form. */
const auditDetail: Omit<Written<typeof answers.auditDetailToJson>, keyof typeof auditRecord> = {
  id: count("With detail=1: the number of the record, as in the stream of changes."),
  token: nullable(
    text(
      "With detail=1: the name of the token that it was done with; file for the token file, offline for a command without a server, null for an entry that ended by itself.",
    ),
  ),
}

const token: Written<typeof tokens.tokenToJson> = {
  name: text("What the log calls it."),
  scope: oneOf(TOKEN_SCOPES, "What may be done with it."),
  max_ttl_seconds: nullable({
    type: "integer",
    minimum: 1,
    description: "The longest lifetime of an entry.",
  }),
  within: nullable(network("The network in which entries must lie.")),
  created: time("When it was made."),
  expires: nullable(time("Until when it is good; null until it is revoked.")),
  last_used: nullable(time("When it was shown last.")),
  revoked: nullable(time("When it was revoked.")),
  state: oneOf(TOKEN_STATES, "Whether it counts; invalid for a row of the database that nobody understands."),
}

const newToken: Written<typeof tokens.newTokenToJson> = {
  ...token,
  token: text("The secret, for the header Authorization. It is not shown again."),
}

const importCounts: Written<typeof answers.importCountsToJson> = {
  added: count("Entries that were on no list."),
  replaced: count("Temporary entries that got another lifetime or reason."),
  unchanged: count("Entries that were there already."),
  removed: count("Permanent entries that were pruned."),
  duplicates: count("Lines that name an entry again."),
  ended: count("Lines whose time had passed: they are left out."),
}

type LastEntry = NonNullable<ReturnType<typeof answers.refusedEntryToJson>["last_entry"]>

const lastEntry: { readonly [N in keyof LastEntry]: JsonSchema } = {
  list: listName,
  ip: network("The entry."),
  ended: time("When it ended."),
  how: oneOf(["expired", "removed"], "How it ended."),
}

const refusedClient: Written<typeof answers.refusedEntryToJson> = {
  ip: address("The client."),
  count: { type: "integer", minimum: 1, description: "How often it was refused." },
  first_seen: time("When it was refused first."),
  last_seen: time("When it was refused last."),
  last_entry: nullable(object("The entry that let it in before, if one has ended lately.", lastEntry)),
}

const decisionCounts: Written<typeof answers.decisionCountsToJson> = {
  allowed: count("Requests that were let in."),
  denied: count("Requests that were not."),
  unidentified: count(
    "Those of denied whose proxy is not trusted, or whose address is missing or malformed.",
  ),
}

const match: Written<typeof answers.matchToJson> = {
  list: listName,
  ip: network("The entry."),
  expires: nullable(time("When it ends; null for a permanent one.")),
}

const coverage: Written<typeof answers.coverageToJson> = {
  ip: network("What was asked about, in canonical form."),
  allowed: { type: "boolean", description: "Whether all of it is let in." },
  matched_by: {
    description: "The entry that decided: permanent before temporary, then the narrowest.",
    anyOf: [reference("Match"), { type: "null" }],
  },
}

const matches: JsonSchema = {
  type: "array",
  description: "With matches=all: every entry that contains it.",
  items: reference("Match"),
}

const asked = object("Whether an address or a network is let in, and by which entry.", coverage)

/** The schemas that have a name in the document. They leave room for members that later versions may add. */
export const SCHEMAS = {
  Status: object("How the service is.", status),
  PermanentEntry: object("An entry of the permanent list.", permanentEntry),
  TemporaryEntry: object("An entry of the temporary list.", temporaryEntry),
  AuditRecord: {
    ...object("One record of the log.", auditRecord),
    properties: { ...auditRecord, ...auditDetail },
  },
  ImportCounts: object("What an import did.", importCounts),
  RefusedClient: object("A client that was refused lately.", refusedClient),
  DecisionCounts: object("Decisions since the start of the server.", decisionCounts),
  Token: object("A named token.", token),
  NewToken: object("A named token that was just made.", newToken),
  Match: object("An active entry that contains what was asked about.", match),
  Coverage: { ...asked, properties: { ...coverage, matches } },
} as const satisfies Readonly<Record<string, JsonSchema>>

export const schemaNamed = (name: keyof typeof SCHEMAS): JsonSchema => reference(name)

export const arrayOf = (name: keyof typeof SCHEMAS): JsonSchema => ({ type: "array", items: reference(name) })
