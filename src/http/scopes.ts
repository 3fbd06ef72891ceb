// What each scope may ask for: endpoint by endpoint, closed by default.

import type { Principal } from "../core/principal.ts"
import { TOKEN_SCOPES, type TokenScope } from "../core/token.ts"
import * as paths from "../wire/paths.ts"

const TO_READ: readonly TokenScope[] = ["read", "write"]
const TO_WRITE: readonly TokenScope[] = ["write"]
/** The token of the token file alone, so that a token can never make a mightier one. */
const NO_SCOPE: readonly TokenScope[] = []

/**
 * Every endpoint has a line here, also one that no scope may ask for. What a scope may change with a request that gets
 * this far, the gate decides: see `core/principal.ts`.
 */
const SCOPES: Readonly<Record<string, readonly TokenScope[]>> = {
  [`GET ${paths.PERMANENT_LIST_PATH}`]: TO_READ,
  [`POST ${paths.PERMANENT_PATH}`]: TO_WRITE,
  [`DELETE ${paths.PERMANENT_ENTRY}`]: TO_WRITE,
  [`GET ${paths.TEMPORARY_PATH}`]: TO_READ,
  [`GET ${paths.TEMPORARY_LIST_PATH}`]: TO_READ,
  [`POST ${paths.TEMPORARY_PATH}`]: ["write", "temp-only", "self"],
  [`DELETE ${paths.TEMPORARY_ENTRY}`]: ["write", "temp-only"],
  [`POST ${paths.IMPORT_PATH}`]: TO_WRITE,
  [`GET ${paths.EXPORT_PATH}`]: TO_READ,
  // It holds the digests of the tokens.
  [`GET ${paths.BACKUP_PATH}`]: NO_SCOPE,
  [`GET ${paths.LOGS_PATH}`]: TO_READ,
  [`GET ${paths.EVENTS_PATH}`]: TO_READ,
  [`GET ${paths.DENIED_PATH}`]: TO_READ,
  [`GET ${paths.DECISIONS_PATH}`]: TO_READ,
  [`GET ${paths.CHECK_PATH}`]: ["read", "write", "temp-only", "self"],
  // The same for everybody, and printed by the program; it wants a token for another reason than secrecy.
  [`GET ${paths.OPENAPI_PATH}`]: TOKEN_SCOPES,
  [`GET ${paths.TOKENS_PATH}`]: NO_SCOPE,
  [`POST ${paths.TOKENS_PATH}`]: NO_SCOPE,
  [`DELETE ${paths.TOKEN_ENTRY}`]: NO_SCOPE,
}

/** The scopes that may ask for an endpoint; `null` for one without a line, which is refused to all of them. */
export function scopesOf(endpoint: string): readonly TokenScope[] | null {
  return Object.hasOwn(SCOPES, endpoint) ? (SCOPES[endpoint] ?? null) : null
}

/** Which endpoints have a line. */
export function endpointsWithScopes(): readonly string[] {
  return Object.keys(SCOPES)
}

/** True if this principal may ask for an endpoint, such as `POST /api/whitelist/temp`. */
export function mayAsk({ scope }: Principal, endpoint: string): boolean {
  return scope === "all" || (scopesOf(endpoint)?.includes(scope) ?? false)
}
