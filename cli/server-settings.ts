// What `serve` starts with, and what a reload gives it: the configuration and the tokens, read and checked together.

import type { Config, ExplainedConfig } from "../src/config/config.ts"
import { ConfigError } from "../src/config/config-error.ts"
import { misspeltVariables } from "../src/config/misspelt-variables.ts"
import type { Flags } from "../src/config/settings.ts"
import { quoted } from "../src/core/printable.ts"
import { groupIdOf } from "../src/group-id.ts"
import { passesSockets } from "../src/systemd/service-manager.ts"
import {
  checkToken,
  makeTokenFile,
  readTokenFile,
  refuseOpenTokenFile,
  TokenError,
} from "../src/token-file.ts"
import type { CommandEnv } from "./command-env.ts"
import { ServeConfigError } from "./exit.ts"

export type ServerSettings = ExplainedConfig & {
  readonly tokens: readonly string[]
  /** Where the tokens were read. */
  readonly tokensFrom: string
  readonly madeTokenAt: string | null
}

/**
 * - `start`: makes the token file of the state directory if nobody has named one.
 * - `check`: the same, but makes nothing.
 * - `reload`: what is read while the server runs.
 */
export type Purpose = "start" | "check" | "reload"

/** Everything that can be wrong before the start is a `ServeConfigError`: a supervisor must not try again. */
export function readServerSettings(env: CommandEnv, flags: Flags, purpose: Purpose): ServerSettings {
  try {
    const { environment, processId } = env.process
    if (purpose !== "reload" && passesSockets(environment, processId)) {
      throw new ConfigError(
        "LISTEN_FDS is set: ipgate opens its sockets itself. Remove ipgate.socket, and name the addresses with listen under [server]",
      )
    }
    const explained = env.explainedConfig(flags, purpose === "reload" ? withoutWaiting(env) : undefined)
    if (purpose !== "reload") refuseMissingGroup(explained)
    const { tokenFile, tokenFileOfReload } = explained.config
    // Under systemd a reload reads another file than the start, and `serve --check` stands before both.
    if (purpose !== "reload" && tokenFileOfReload !== null && tokenFileOfReload !== tokenFile) {
      if (purpose === "check") readTokenFile(tokenFileOfReload)
      else refuseOpenTokenFile(tokenFileOfReload)
    }
    return { ...explained, ...readTokens(env, explained.config, purpose) }
  } catch (error) {
    if (error instanceof ConfigError || error instanceof TokenError) {
      throw new ServeConfigError(
        error.message,
        { cause: error },
        error instanceof TokenError ? (error.hint ?? hintOfMissing(error)) : undefined,
      )
    }
    throw error
  }
}

/** What `serve` would start with, for whoever asks first. Throws `ServeConfigError`, and warns of what is no error. */
export function checkServerSettings(env: CommandEnv, flags: Flags): void {
  readServerSettings(env, flags, "check")
  for (const misspelt of misspeltVariables(env.process.environment)) env.out.warn(misspelt)
}

// Only who serves needs the group: a client may read the same file where there is none.
function refuseMissingGroup({ config: { listen, socketGroup: group }, origins }: ExplainedConfig): void {
  if (group === null || !listen.some(({ kind }) => kind === "unix") || groupIdOf(group) !== null) return
  const where = origins.find(({ key }) => key === "server.socket_group")?.where
  throw new ConfigError(`${where}: socket_group is ${quoted(group)}: there is no such group on this machine`)
}

/** A client is told to name another file; whoever starts a server may as well make this one. */
function hintOfMissing({ cause }: TokenError): string | undefined {
  if ((cause as NodeJS.ErrnoException | undefined)?.code !== "ENOENT") return undefined
  return "make it: (umask 077; openssl rand -hex 32 > FILE); or name none, and serve makes one in the state directory"
}

/**
 * A reader of files for a server that runs: the loop that decides must not wait until somebody writes into a pipe, and
 * one that was read at the start has nothing left.
 */
function withoutWaiting({ process }: CommandEnv): (path: string) => string | null {
  return (path) => {
    if (process.isPipe(path)) throw new ConfigError(`${path} is a pipe: a reload needs a file`)
    return process.readFile(path)
  }
}

function readTokens(
  { process }: CommandEnv,
  config: Config,
  purpose: Purpose,
): Omit<ServerSettings, keyof ExplainedConfig> {
  const named = purpose === "reload" ? config.tokenFileOfReload : config.tokenFile
  if (purpose === "reload" && named !== null && process.isPipe(named)) {
    throw new TokenError(`the token file ${named} is a pipe: a reload needs a file`)
  }
  if (named !== null) return { tokens: readTokenFile(named), tokensFrom: named, madeTokenAt: null }
  if (config.token !== null) {
    checkToken(config.token, "IPGATE_TOKEN")
    return { tokens: [config.token], tokensFrom: "IPGATE_TOKEN", madeTokenAt: null }
  }
  const path = `${config.stateDirectory}/api-token`
  const made = purpose === "start" && makeTokenFile(path)
  const tokens = purpose === "check" && process.readFile(path) === null ? [] : readTokenFile(path)
  return { tokens, tokensFrom: path, madeTokenAt: made ? path : null }
}
