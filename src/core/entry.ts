// The entries of the two lists, and the rules for a lifetime and a reason.

import type { Network } from "./network.ts"
import { isPrintable } from "./printable.ts"

export type ListName = "perm" | "temp"

export type PermanentEntry = { readonly ip: string }

/** `expiresAt` is milliseconds since 1970; `reason` is `""` when none was given. */
export type TemporaryEntry = { readonly ip: string; readonly reason: string; readonly expiresAt: number }

/** What somebody asks for: let this network in for so long. */
export type TemporaryGrant = {
  readonly network: Network
  readonly ttlSeconds: number
  readonly reason: string | null
}

/** Ten years. */
export const LONGEST_TTL_SECONDS = 315_360_000

export const LONGEST_REASON = 500

/** True for a whole number of seconds from 1 to ten years. */
export function isTtl(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= LONGEST_TTL_SECONDS
}

/** `null` if `text` can be a reason, else why not. Length is counted in code points. */
export function explainReason(text: string): string | null {
  if (text.length > 2 * LONGEST_REASON || [...text].length > LONGEST_REASON) {
    return `reason is longer than ${LONGEST_REASON} characters`
  }
  if (!isPrintable(text)) {
    return "reason contains a control character, a line separator, or an invisible or direction-changing character"
  }
  return null
}
