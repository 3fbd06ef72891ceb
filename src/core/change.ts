// One step of the two lists: what goes into the store, and what came of it.

import type { Address } from "./address.ts"
import type { Network } from "./network.ts"

/** Who did it: the address of the API client; `null` over the unix socket, offline, and for an expiry. */
export type Actor = Address | null

/**
 * Each change that takes effect writes one audit row of the same name. `at` is milliseconds since 1970. An
 * `expire_temp` names the expiry that it saw, and does nothing if the entry ends at another time by now: a new
 * grant wins over an old deadline.
 */
export type Change =
  | {
      readonly op: "add_perm" | "delete_perm" | "delete_temp"
      readonly network: Network
      readonly at: number
      readonly by: Actor
      /** The name of the token that it was asked for with. */
      readonly token?: string | undefined
    }
  | {
      readonly op: "add_temp"
      readonly network: Network
      readonly at: number
      readonly by: Actor
      readonly token?: string | undefined
      readonly ttlSeconds: number
      readonly expiresAt: number
      readonly reason: string | null
    }
  | { readonly op: "expire_temp"; readonly network: Network; readonly at: number; readonly expiresAt: number }

/** `conflict`: a permanent entry that exists. `absent`: nothing to remove or to expire. Neither writes a row. */
export type Outcome = "added" | "replaced" | "removed" | "absent" | "conflict"

/** True if the change has changed something, and so is in the audit log. */
export function hasTakenEffect(outcome: Outcome): boolean {
  return outcome === "added" || outcome === "replaced" || outcome === "removed"
}
