// Who acts with what powers: the rules of the scopes, in one place.

import type { Address } from "./address.ts"
import type { Actor, Change } from "./change.ts"
import { formatDuration } from "./duration.ts"
import { GateError } from "./errors.ts"
import { Network } from "./network.ts"
import { OFFLINE_NAME, TOKEN_FILE_NAME, type TokenScope } from "./token.ts"

/** `all` is everything, and the tokens too: for the token file and for whoever may open the database. */
export type Principal = {
  /** As the log has it. */
  readonly name: string
  readonly scope: TokenScope | "all"
  readonly maxTtlSeconds: number | null
  readonly within: Network | null
}

const everything = { scope: "all", maxTtlSeconds: null, within: null } as const

export const TOKEN_FILE: Principal = { name: TOKEN_FILE_NAME, ...everything }
export const OFFLINE: Principal = { name: OFFLINE_NAME, ...everything }

/** True if this principal, asking from this address, may make this change. */
export function mayChange(principal: Principal, by: Actor, change: Change): boolean {
  switch (principal.scope) {
    case "all":
    case "write":
      return true
    case "read":
      return false
    case "temp-only":
      if (change.op !== "add_temp" && change.op !== "delete_temp") return false
      return isShortEnough(principal, change) && isWithin(principal, change.network)
    case "self":
      return change.op === "add_temp" && isShortEnough(principal, change) && isOwn(by, change.network)
  }
}

/** True if it may ask whether this network is let in. */
export function mayCheck(principal: Principal, by: Actor, network: Network): boolean {
  switch (principal.scope) {
    case "all":
    case "write":
    case "read":
      return true
    case "temp-only":
      return isWithin(principal, network)
    case "self":
      return isOwn(by, network)
  }
}

/** True if it may put many entries on both lists at once. */
export function mayImport({ scope }: Principal): boolean {
  return scope === "all" || scope === "write"
}

/** True if it may make, list and revoke tokens. */
export function mayManageTokens({ scope }: Principal): boolean {
  return scope === "all"
}

/** The refusal of what is beyond its powers. The message says what those are. */
export function forbidden(principal: Principal, by: Actor): GateError {
  return new GateError("forbidden", `the token ${principal.name} ${powersOf(principal, by)}`)
}

function powersOf({ scope, maxTtlSeconds, within }: Principal, by: Address | null): string {
  const most = formatDuration(maxTtlSeconds ?? 0)
  switch (scope) {
    case "all":
      return "may do everything"
    case "write":
      return "may read everything and change both lists, but make no backup and manage no tokens"
    case "read":
      return "may read, but change nothing and make no backup"
    case "temp-only":
      return `may check, add and remove temporary entries${within === null ? "" : ` within ${within}`}, for ${most} at most, and nothing else`
    case "self":
      return by === null
        ? "may let in and check its own address, and what that is cannot be told here: the proxy in front must name its client"
        : `may let in and check its own address, ${by}, for ${most} at most, and nothing else`
  }
}

// A principal of a scope that has a limit, but without the limit, may add nothing.
function isShortEnough({ maxTtlSeconds }: Principal, change: Change): boolean {
  return change.op !== "add_temp" || change.ttlSeconds <= (maxTtlSeconds ?? 0)
}

function isWithin({ within }: Principal, network: Network): boolean {
  return within === null || within.contains(network)
}

function isOwn(by: Actor, network: Network): boolean {
  return by !== null && network.equals(Network.of(by))
}
