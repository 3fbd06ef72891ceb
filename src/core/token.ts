// An access token: a name, what may be done with it, and until when. The secret itself is nowhere in here.

import { isTtl, LONGEST_TTL_SECONDS } from "./entry.ts"
import type { Network } from "./network.ts"
import type { Page } from "./page.ts"
import { quoted } from "./printable.ts"

/**
 * - `read`: see everything, change nothing.
 * - `write`: see everything, and change both lists.
 * - `temp-only`: add and remove temporary entries, up to a lifetime and perhaps within one network; check addresses there.
 * - `self`: let its own address in, up to a lifetime; check that address.
 */
export const TOKEN_SCOPES = ["read", "write", "temp-only", "self"] as const

export type TokenScope = (typeof TOKEN_SCOPES)[number]

export function isTokenScope(text: unknown): text is TokenScope {
  return (TOKEN_SCOPES as readonly unknown[]).includes(text)
}

/** What somebody asks for. Without a lifetime the token is good until it is revoked. */
export type TokenRequest = {
  readonly name: string
  readonly scope: TokenScope
  /** The longest lifetime of an entry: for `temp-only` and `self`, and for no other scope. */
  readonly maxTtlSeconds: number | null
  /** The network in which entries must lie: for `temp-only`, if at all. */
  readonly within: Network | null
  readonly lifetimeSeconds: number | null
}

/** A token as the database keeps it. Moments are milliseconds since 1970; `digest` is the SHA-256 of the secret, in hexadecimal. */
export type StoredToken = {
  readonly name: string
  readonly digest: string
  readonly scope: string
  readonly maxTtlSeconds: number | null
  /** Canonical text of a network. */
  readonly within: string | null
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
}

/** `invalid`: a row that this version does not understand; nobody gets in with it. */
export const TOKEN_STATES = ["active", "expired", "revoked", "invalid"] as const

export type TokenState = (typeof TOKEN_STATES)[number]

/** A token as people see it. */
export type Token = Omit<StoredToken, "digest"> & { readonly state: TokenState }

/** The last use of a token. */
export type TokenUse = { readonly name: string; readonly at: number }

/**
 * Makes, lists and revokes named tokens. Rejects with `GateError`, and with `forbidden` for whoever may not do everything:
 * no named token makes or ends another one.
 */
export interface TokenRegistry {
  /** The one moment at which the secret is told. Rejects with `conflict` for a name that is, or was, in use. */
  create(request: TokenRequest): Promise<{ readonly token: Token; readonly secret: string }>
  /** All of them by name, also those that have ended. */
  list(page: Page): Promise<Token[]>
  /** Holds for the very next request. `unchanged`: it was revoked before. `absent`: there is none of that name. */
  revoke(name: string): Promise<"revoked" | "unchanged" | "absent">
}

/** The names by which the log knows the tokens of the token file, and the command line with --offline. */
export const TOKEN_FILE_NAME = "file"
export const OFFLINE_NAME = "offline"

export const LONGEST_TOKEN_NAME = 64

/** `null` if `text` can name a token, else why not. */
export function explainTokenName(text: string): string | null {
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(text) || text.length > LONGEST_TOKEN_NAME) {
    return `${quoted(text)} is no name for a token: use 1 to ${LONGEST_TOKEN_NAME} of a-z, 0-9, ".", "_" and "-", with a letter or a digit first`
  }
  if (text === TOKEN_FILE_NAME || text === OFFLINE_NAME) {
    return `${quoted(text)} is no name for a token: the log uses it for changes that were made without a named one`
  }
  return null
}

/** `null` if such a token can be made, else why not. */
export function explainToken({
  name,
  scope,
  maxTtlSeconds,
  within,
  lifetimeSeconds,
}: TokenRequest): string | null {
  const fault = explainTokenName(name)
  if (fault !== null) return fault
  const addsTemporary = scope === "temp-only" || scope === "self"
  if (addsTemporary && maxTtlSeconds === null) {
    return `a token of scope ${scope} needs a maximum lifetime for the entries that it adds`
  }
  if (!addsTemporary && maxTtlSeconds !== null) {
    return `a maximum lifetime goes with the scopes temp-only and self, not with ${scope}`
  }
  if (maxTtlSeconds !== null && !isTtl(maxTtlSeconds)) {
    return `a maximum lifetime is 1 s to ten years (${LONGEST_TTL_SECONDS} s)`
  }
  if (within !== null && scope !== "temp-only")
    return `a network goes with the scope temp-only, not with ${scope}`
  if (lifetimeSeconds !== null && !isTtl(lifetimeSeconds)) {
    return `the lifetime of a token is 1 s to ten years (${LONGEST_TTL_SECONDS} s)`
  }
  return null
}
