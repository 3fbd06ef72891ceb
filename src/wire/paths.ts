// The URL space of the service. The only place that knows that the wire says "whitelist".

export const AUTH_PATH = "/auth"
/** The same decision for proxies that keep the client's method and path and accept only 200 (Envoy). */
export const AUTHZ_PATH = "/authz"
export const STATUS_PATH = "/status"
/** The description of all this, for programs. It wants a token: who asks there instead of `/auth` must not get a 2xx. */
export const OPENAPI_PATH = "/openapi.json"

export const API_PREFIX = "/api/"
export const PERMANENT_PATH = "/api/whitelist/perm"
export const PERMANENT_LIST_PATH = "/api/whitelist/perm/list"
export const TEMPORARY_PATH = "/api/whitelist/temp"
/** The same list as a GET of `TEMPORARY_PATH`: the service document names both. */
export const TEMPORARY_LIST_PATH = "/api/whitelist/temp/list"
/** Many entries at once, as lines of text: in all or nothing, out from one consistent state. */
export const IMPORT_PATH = "/api/whitelist/import"
export const EXPORT_PATH = "/api/whitelist/export"
/** The whole database as a file. */
export const BACKUP_PATH = "/api/backup"
/** Changes as they are committed, as server-sent events. */
export const EVENTS_PATH = "/api/events"
/** Clients that were refused lately. */
export const DENIED_PATH = "/api/denied"
/** How many were let in and kept out since the start. */
export const DECISIONS_PATH = "/api/decisions"
export const LOGS_PATH = "/api/logs"
export const CHECK_PATH = "/api/check"
/** The named tokens. */
export const TOKENS_PATH = "/api/tokens"

/** One entry of a list, as the API's document writes it. */
export const PERMANENT_ENTRY = `${PERMANENT_PATH}/{ip}` as const
export const TEMPORARY_ENTRY = `${TEMPORARY_PATH}/{ip}` as const
export const TOKEN_ENTRY = `${TOKENS_PATH}/{name}` as const

/** What a 204 did: `added`, `replaced`, `removed` or `absent`. */
export const RESULT_HEADER = "Ipgate-Result"
/** When the temporary entry that a 204 added will end, as an RFC 3339 time. */
export const EXPIRES_HEADER = "Ipgate-Expires"

/** The path of one entry below `PERMANENT_PATH` or `TEMPORARY_PATH`. */
export function entryPath(base: string, network: string): string {
  return `${base}/${encodeURIComponent(network)}`
}

/** The path of one token. */
export function tokenPath(name: string): string {
  return `${TOKENS_PATH}/${encodeURIComponent(name)}`
}
