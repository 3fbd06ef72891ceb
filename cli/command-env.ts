// What a command sees of the world. Everything comes in here, so that a test of a command is a function call.

import type { Config, ExplainedConfig } from "../src/config/config.ts"
import type { Environment, Flags } from "../src/config/settings.ts"
import type { Clock } from "../src/core/clock.ts"
import type { Gate } from "../src/core/gate.ts"
import type { TokenRegistry } from "../src/core/token.ts"
import type { LogFormat } from "../src/log/log-formats.ts"
import type { Output } from "./output.ts"

/** A terminal that a command takes over for a screen of its own. */
export type Terminal = {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  /** From now on calls `handle` with whatever nobody has caught, instead of ending the process. */
  readonly untilCrash: (handle: (error: unknown) => void) => void
}

/** The process, as `main.ts` hands it over. */
export type ProcessEnv = {
  readonly environment: Environment
  readonly userId: number
  readonly processId: number
  /** How many processors this process may use. */
  readonly processors: number
  readonly clock: Clock
  readonly write: (text: string) => unknown
  /** Calls `handle` when nobody can read any more what is written. A command that would go on for ever ends then. */
  readonly untilUnwritable: (handle: () => void) => void
  readonly writeError: (text: string) => unknown
  /** Writes to standard error without waiting for its reader, and calls `done` when the text has gone or cannot go. */
  readonly logTo: (text: string, done: () => void) => void
  /** The form that the reader of standard error takes. */
  readonly logFormat: () => LogFormat
  readonly isTerminal: boolean
  readonly columns: number
  /** All of standard input. */
  readonly readInput: () => Promise<string>
  /** The bytes of a file, or of standard input for `-`; `null` if they cannot be read. No more than `most` are held. */
  readonly readBytes: (path: string, most: number) => Promise<Uint8Array<ArrayBuffer> | "too large" | null>
  /** `null` if the file does not exist or cannot be read. */
  readonly readFile: (path: string) => string | null
  /** True if there is a pipe, with a name or of this process. */
  readonly isPipe: (path: string) => boolean
  /** True if there is a unix socket that this user can see. */
  readonly isSocket: (path: string) => boolean
  readonly sleep: (milliseconds: number) => Promise<void>
  /** Calls `handle` for each SIGTERM, SIGINT and SIGHUP that comes. */
  readonly untilSignal: (handle: (signal: "SIGTERM" | "SIGINT" | "SIGHUP") => void) => void
  /** Calls `tell` when SIGTERM, SIGINT or SIGHUP ends the process, which it does all the same. */
  readonly beforeKilled: (tell: (signal: "SIGTERM" | "SIGINT" | "SIGHUP") => void) => void
  readonly exitNow: (code: number) => void
  /** Calls `handle` with what nobody has caught, which then does not end the process by itself. */
  readonly untilFault: (handle: (error: unknown) => void) => void
  /** `null` where there is no terminal on both ends that could show a screen; missing where there never is one. */
  readonly openTerminal?: () => Terminal | null
}

/** The options that every command takes, before or after its name. */
export type GlobalOptions = {
  readonly server?: string
  readonly tokenFile?: string
  readonly offline?: boolean
  readonly db?: string
  readonly config?: string
  readonly json?: boolean
  readonly quiet?: boolean
  /** False with --no-color. */
  readonly color?: boolean
}

/** Made for one run of one command. */
export type CommandEnv = {
  readonly process: ProcessEnv
  readonly options: GlobalOptions
  readonly out: Output
  /** Throws `ConfigError`. */
  readonly config: (flags?: Flags) => Config
  /** The same, with the origin of each value. `read` takes the place of that of the process. */
  readonly explainedConfig: (flags?: Flags, read?: ProcessEnv["readFile"]) => ExplainedConfig
  /** Runs `use` with the gate that the options ask for, on-line or off-line, and closes it afterwards. */
  readonly withGate: <T>(use: (gate: Gate) => Promise<T>) => Promise<T>
  /** The same with the named tokens. */
  readonly withTokens: <T>(use: (tokens: TokenRegistry) => Promise<T>) => Promise<T>
  /** Sets the exit code of a run that does not throw. */
  readonly exitWith: (code: number) => void
}
