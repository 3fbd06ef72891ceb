// Exit codes: what an error becomes for the shell, and how it is said.

import { CommanderError } from "commander"
import { ConfigError } from "../src/config/config-error.ts"
import { GateError, type GateErrorCode } from "../src/core/errors.ts"
import { TokenError } from "../src/token-file.ts"

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  unchanged: 3,
  token: 4,
  unreachable: 5,
  /** EX_CONFIG of sysexits: systemd is told not to try again. */
  config: 78,
} as const

/** The command line makes no sense. */
export class UsageError extends Error {
  override readonly name = "UsageError"

  constructor(
    message: string,
    readonly hint?: string,
  ) {
    super(message)
  }
}

/** `serve` cannot start with this configuration or token. */
export class ServeConfigError extends Error {
  override readonly name = "ServeConfigError"

  constructor(
    message: string,
    options: { cause: unknown },
    readonly hint?: string,
  ) {
    super(message, options)
  }
}

export type Failure = {
  readonly exitCode: number
  readonly code: string
  readonly message: string
  readonly hint: string | undefined
}

const EXIT_OF: Readonly<Record<GateErrorCode, number>> = {
  invalid: EXIT.usage,
  unauthorized: EXIT.token,
  forbidden: EXIT.token,
  conflict: EXIT.failed,
  unavailable: EXIT.unreachable,
  busy: EXIT.failed,
  failed: EXIT.failed,
}

export function failureOf(error: unknown): Failure {
  if (error instanceof GateError) {
    const hint =
      error.code === "unauthorized"
        ? "give the server's token with --token-file or IPGATE_TOKEN_FILE"
        : error.hint
    return { exitCode: EXIT_OF[error.code], code: error.code, message: error.message, hint }
  }
  if (error instanceof UsageError) {
    return { exitCode: EXIT.usage, code: "usage", message: error.message, hint: error.hint }
  }
  if (error instanceof CommanderError && error.code === "commander.help") {
    return { exitCode: EXIT.usage, code: "usage", message: "no command is given", hint: undefined }
  }
  if (error instanceof CommanderError) {
    // A suggestion stands on a line of its own.
    const [, message = "", hint] =
      /^(?:error: )?([\s\S]*?)(?:\n\((Did you mean [\s\S]*)\))?$/.exec(error.message) ?? []
    return { exitCode: EXIT.usage, code: "usage", message, hint }
  }
  if (error instanceof ServeConfigError) {
    return { exitCode: EXIT.config, code: "config", message: error.message, hint: error.hint }
  }
  if (error instanceof ConfigError) {
    return { exitCode: EXIT.usage, code: "config", message: error.message, hint: undefined }
  }
  if (error instanceof TokenError) {
    return {
      exitCode: EXIT.token,
      code: "token",
      message: error.message,
      hint: error.hint ?? "give a token file that you can read with --token-file or IPGATE_TOKEN_FILE",
    }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { exitCode: EXIT.failed, code: "failed", message, hint: undefined }
}
