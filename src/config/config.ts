// The configuration: flag, environment, file, default, in that order; every problem at once.

import type { ClientIpHeader, TrustedProxies } from "../http/client-address.ts"
import { type ListenAddress, toAsk } from "../listen-address.ts"
import type { LogFormat } from "../log/log-formats.ts"
import type { LogLevel } from "../log/log-levels.ts"
import { CHOICES } from "./choices.ts"
import { ConfigError } from "./config-error.ts"
import { CONFIG_KEYS, type ConfigKey, DEFAULT_LISTEN, type KeyName } from "./keys.ts"
import { type ConfigSources, type Environment, findSettings, type Settings } from "./settings.ts"
import {
  clientIpHeader,
  databasePath,
  idleTimeout,
  listenAddresses,
  metricsAddress,
  oneOf,
  serverAddress,
  socketMode,
  trustedProxies,
} from "./values.ts"

export type Config = {
  /** Where clients find the server. */
  readonly server: string
  /** The token file that somebody named, or `null` for the one in the state directory. */
  readonly tokenFile: string | null
  /**
   * The file that a reload reads: systemd copies a credential once, at the start, so there it is the file that the
   * configuration names, if it names one.
   */
  readonly tokenFileOfReload: string | null
  /** The token itself, from the environment: the last resort. */
  readonly token: string | null
  readonly databasePath: string
  readonly listen: readonly ListenAddress[]
  /** The mode of a unix socket: who may connect may ask. */
  readonly socketMode: number
  /** Its group, by name or number; `null` for the one that it gets by itself. */
  readonly socketGroup: string | null
  /** Seconds after which a connection on which nothing comes is closed. */
  readonly idleTimeout: number
  readonly trustedProxies: TrustedProxies
  readonly clientIpHeader: ClientIpHeader
  readonly logLevel: LogLevel
  /** `auto` for the form that the reader of standard error takes. */
  readonly logFormat: "auto" | LogFormat
  /** True if refused clients are summed up in the log. */
  readonly logRefusals: boolean
  /** Where the metrics are served; `null` for nowhere. */
  readonly metricsListen: ListenAddress | null
  /** Where the database and the token are kept if nothing else is said. */
  readonly stateDirectory: string
}

/** A configuration, and where each of its values comes from. */
export type ExplainedConfig = {
  readonly config: Config
  /** The file that was read, or `null`. */
  readonly file: string | null
  readonly origins: readonly KeyOrigin[]
}

/** `where` is `default`, `command line`, the name of a variable, or a file with a line. */
export type KeyOrigin = {
  readonly key: KeyName
  readonly value: string | readonly string[]
  readonly where: string
}

/** What stands for a value that nobody may see. */
export const SECRET = "***"

/** The socket that the service of the package opens for the commands of this machine. */
const LOCAL_SOCKET = "/run/ipgate/ipgate.sock"

/** Throws `ConfigError`. Reads nothing but the one configuration file, and never one of the current directory. */
export function loadConfig(sources: ConfigSources): Config {
  return explainConfig(sources).config
}

/** The same, with the origin of each value. */
export function explainConfig(sources: ConfigSources): ExplainedConfig {
  const problems: string[] = []
  const settings = findSettings(sources, problems)
  const config = meaning(sources, settings, problems)
  if (problems.length > 0) throw new ConfigError(inOrder(problems, settings.file?.path).join("\n"))
  return {
    config,
    file: settings.file?.path ?? null,
    origins: CONFIG_KEYS.map(({ key }) => originOf(key, config, settings, sources.env)),
  }
}

/** Those of the file by line, as whoever corrects it goes through it; then the others. */
function inOrder(problems: readonly string[], file: string | undefined): readonly string[] {
  const lineOf = (problem: string) => {
    const isInFile = file !== undefined && problem.startsWith(`${file}:`)
    return isInFile ? Number.parseInt(problem.slice(file.length + 1), 10) : Number.MAX_SAFE_INTEGER
  }
  return problems.toSorted((a, b) => lineOf(a) - lineOf(b))
}

function meaning({ env, userId, isSocket }: ConfigSources, settings: Settings, problems: string[]): Config {
  const stateDirectory = stateDirectoryOf(env, userId)
  const text = (key: KeyName) => settings.text(key) ?? { value: fallbackOf(key) as string, where: "default" }
  const list = (key: KeyName) =>
    settings.list(key) ?? { value: fallbackOf(key) as readonly string[], where: "default" }
  const proxiesSet = settings.list("auth.trusted_proxies") !== null
  const database = settings.text("database.url")
  const server = settings.text("client.server")
  const listen = listenAddresses(list("server.listen"), proxiesSet, problems)
  return {
    server:
      server !== null
        ? serverAddress(server, problems)
        : isSocket(LOCAL_SOCKET)
          ? `unix:${LOCAL_SOCKET}`
          : (listen.map(toAsk).find((address) => address !== null) ?? DEFAULT_LISTEN),
    ...tokenFiles(env, settings),
    token: env.IPGATE_TOKEN ?? null,
    databasePath: database === null ? `${stateDirectory}/ipgate.db` : databasePath(database, problems),
    listen,
    socketMode: socketMode(text("server.socket_mode"), problems),
    socketGroup: settings.text("server.socket_group")?.value ?? null,
    idleTimeout: idleTimeout(text("server.idle_timeout"), problems),
    trustedProxies: trustedProxies(list("auth.trusted_proxies"), listen, problems),
    clientIpHeader: clientIpHeader(text("auth.client_ip_header"), problems),
    logLevel: oneOf("log.level", CHOICES["log.level"], text("log.level"), problems),
    logFormat: oneOf("log.format", CHOICES["log.format"], text("log.format"), problems),
    logRefusals: oneOf("log.refusals", CHOICES["log.refusals"], text("log.refusals"), problems) === "summary",
    metricsListen: metricsAddress(text("metrics.listen"), listen, problems),
    stateDirectory,
  }
}

function fallbackOf(key: KeyName): string | readonly string[] | null {
  const row: ConfigKey | undefined = CONFIG_KEYS.find((one) => one.key === key)
  return row?.fallback ?? null
}

/** Flag, the variable with its name, the token itself, the credential of systemd, the file: in that order. */
function tokenFiles(env: Environment, settings: Settings): Pick<Config, "tokenFile" | "tokenFileOfReload"> {
  const given = settings.text("auth.token_file")
  const inFile = given !== null && given.where !== "command line" && given.where !== "IPGATE_TOKEN_FILE"
  if (given !== null && !inFile) return { tokenFile: given.value, tokenFileOfReload: given.value }
  if (env.IPGATE_TOKEN !== undefined) return { tokenFile: null, tokenFileOfReload: null }
  const credential = credentialOf(env)
  return {
    tokenFile: credential ?? given?.value ?? null,
    tokenFileOfReload: given?.value ?? credential,
  }
}

function credentialOf(env: Environment): string | null {
  return env.CREDENTIALS_DIRECTORY === undefined ? null : `${env.CREDENTIALS_DIRECTORY}/api-token`
}

function originOf(key: KeyName, config: Config, settings: Settings, env: Environment): KeyOrigin {
  if (key === "auth.token_file") return tokenOrigin(config, settings, env)
  const { value, where } = settings.text(key) ?? { value: null, where: "default" }
  if (value !== null) return { key, value, where }
  const derived: Partial<Record<KeyName, string>> = {
    "client.server": config.server,
    "database.url": `file:${config.databasePath}`,
  }
  return { key, value: derived[key] ?? fallbackOf(key) ?? "", where }
}

function tokenOrigin(
  { tokenFile, token, stateDirectory }: Config,
  settings: Settings,
  env: Environment,
): KeyOrigin {
  const key = "auth.token_file"
  if (tokenFile === null && token !== null) return { key, value: SECRET, where: "IPGATE_TOKEN" }
  if (tokenFile === null) return { key, value: `${stateDirectory}/api-token`, where: "default" }
  const given = settings.text(key)
  const where = given?.value === tokenFile ? given.where : "CREDENTIALS_DIRECTORY"
  return { key, value: tokenFile, where: tokenFile === credentialOf(env) ? "CREDENTIALS_DIRECTORY" : where }
}

/** Root's state is the system's; everybody else has a directory of their own. */
function stateDirectoryOf(env: Environment, userId: number): string {
  if (userId === 0) return "/var/lib/ipgate"
  // The XDG specification: a path that is not absolute is to be ignored.
  const state = env.XDG_STATE_HOME?.startsWith("/") ? env.XDG_STATE_HOME : `${env.HOME ?? ""}/.local/state`
  return `${state}/ipgate`
}
