// The closed list of ways in which an operation of the gate can fail.

/**
 * - `invalid`: what was asked makes no sense; nothing was changed.
 * - `unauthorized`: the token is missing or refused.
 * - `forbidden`: the token is good, but not for this; nothing was changed.
 * - `conflict`: the permanent entry, or the name of the token, exists already.
 * - `unavailable`: the server or the database is out of reach, or did not answer in time.
 * - `busy`: too many do the same already; nothing was done, and later it may be.
 * - `failed`: the database refused the operation, or something broke that should not.
 */
export type GateErrorCode =
  | "invalid"
  | "unauthorized"
  | "forbidden"
  | "conflict"
  | "unavailable"
  | "busy"
  | "failed"

/** An operation that could not do what was asked. The message is for people: what is wrong, where, what to do. */
export class GateError extends Error {
  override readonly name = "GateError"

  constructor(
    readonly code: GateErrorCode,
    message: string,
    options?: { cause?: unknown; hint?: string },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause })
    this.hint = options?.hint
  }

  /** What to do next, in one line, where the message alone does not say it. */
  readonly hint: string | undefined
}

export function invalid(message: string): GateError {
  return new GateError("invalid", message)
}
