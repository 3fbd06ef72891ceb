// Error code to HTTP status and back: one table for the server and for the client.

import type { GateErrorCode } from "../core/errors.ts"

const STATUS_OF: Readonly<Record<GateErrorCode, number>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  conflict: 409,
  unavailable: 500,
  busy: 503,
  failed: 500,
}

/** Seconds after which a client that found the server busy may ask again. */
export const RETRY_AFTER = 5

export function statusOf(code: GateErrorCode): number {
  return STATUS_OF[code]
}

/** What an unsuccessful status means to a client. A server that answers was in reach, so 500 is `failed`. */
export function codeOf(status: number): GateErrorCode {
  if (status === 400 || status === 413) return "invalid"
  if (status === 401) return "unauthorized"
  if (status === 403) return "forbidden"
  if (status === 409) return "conflict"
  return "failed"
}
