// The configuration: flag, environment, file, default, in that order; every problem at once.

import { explainNetwork } from "./core/explain.ts"
import { Network } from "./core/network.ts"
import { quoted } from "./core/printable.ts"
import {
  CLIENT_IP_HEADERS,
  type ClientIpHeader,
  DEFAULT_TRUSTED_PROXIES,
  type TrustedProxies,
} from "./http/client-address.ts"
import { formatListenAddress, isLocal, type ListenAddress, parseListenAddress } from "./listen-address.ts"
import { nearestName } from "./nearest-name.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** What the command line gave; a name that is missing was not given. */
export type Flags = {
  readonly config?: string
  readonly server?: string
  readonly tokenFile?: string
  readonly db?: string
  readonly listen?: readonly string[]
  readonly trustedProxies?: readonly string[]
  readonly clientIpHeader?: string
  readonly socketMode?: string
  readonly socketGroup?: string
}

export type Config = {
  /** Where clients find the server. */
  readonly server: string
  /** The token file that somebody named, or `null` for the one in the state directory. */
  readonly tokenFile: string | null
  /** The token itself, from the environment: the last resort. */
  readonly token: string | null
  readonly databasePath: string
  readonly listen: readonly ListenAddress[]
  /** The mode of a unix socket: who may connect may ask. */
  readonly socketMode: number
  /** Its group, by name or number; `null` for the one that it gets by itself. */
  readonly socketGroup: string | null
  readonly trustedProxies: TrustedProxies
  readonly clientIpHeader: ClientIpHeader
  /** Where the database and the token are kept if nothing else is said. */
  readonly stateDirectory: string
}

/** The configuration makes no sense. The message has one line for each problem, with the place of each. */
export class ConfigError extends Error {
  override readonly name = "ConfigError"
}

export const DEFAULT_LISTEN = "127.0.0.1:8765"
/** The owner and the group of the socket may ask, others may not. */
export const DEFAULT_SOCKET_MODE = 0o660
const SYSTEM_CONFIG = "/etc/ipgate/ipgate.toml"

const KEYS: Readonly<Record<string, "text" | "list">> = {
  "server.listen": "list",
  "server.socket_mode": "text",
  "server.socket_group": "text",
  "auth.trusted_proxies": "list",
  "auth.client_ip_header": "text",
  "auth.token_file": "text",
  "database.url": "text",
  "client.server": "text",
}

export type ConfigSources = {
  readonly flags: Flags
  readonly env: Environment
  /** 0 for root. */
  readonly userId: number
  /** The text of a file, or `null` if it does not exist. */
  readonly read: (path: string) => string | null
}

/** Throws `ConfigError`. Reads nothing but the one configuration file, and never one of the current directory. */
export function loadConfig({ flags, env, userId, read }: ConfigSources): Config {
  const problems: string[] = []
  const file = loadFile({ flags, env, userId, read }, problems)
  const text = (flag: string | undefined, variable: string, key: string): Given<string> | null =>
    first(flag, env[variable], variable, file.text(key))
  const list = (
    flag: readonly string[] | undefined,
    variable: string,
    key: string,
  ): Given<readonly string[]> | null =>
    first(flag, env[variable]?.split(/[\s,]+/).filter(Boolean), variable, file.list(key))

  const stateDirectory = stateDirectoryOf(env, userId)
  const proxies = list(flags.trustedProxies, "IPGATE_TRUSTED_PROXIES", "auth.trusted_proxies")
  const listen = list(flags.listen, "IPGATE_LISTEN", "server.listen") ?? {
    value: [DEFAULT_LISTEN],
    where: "default",
  }
  const header = text(flags.clientIpHeader, "IPGATE_CLIENT_IP_HEADER", "auth.client_ip_header")
  const socketMode = text(flags.socketMode, "IPGATE_SOCKET_MODE", "server.socket_mode")
  const database = text(flags.db, "IPGATE_DB", "database.url")

  const config: Config = {
    server: text(flags.server, "IPGATE_SERVER", "client.server")?.value ?? DEFAULT_LISTEN,
    tokenFile: tokenFileOf(flags, env, file),
    token: env.IPGATE_TOKEN ?? null,
    databasePath: database === null ? `${stateDirectory}/ipgate.db` : databasePath(database, problems),
    listen: listenAddresses(listen, proxies !== null, problems),
    socketMode: socketMode === null ? DEFAULT_SOCKET_MODE : modeOfSocket(socketMode, problems),
    socketGroup: text(flags.socketGroup, "IPGATE_SOCKET_GROUP", "server.socket_group")?.value ?? null,
    trustedProxies: proxies === null ? DEFAULT_TRUSTED_PROXIES : trustedProxies(proxies, problems),
    clientIpHeader: header === null ? "X-Real-IP" : clientIpHeader(header, problems),
    stateDirectory,
  }
  if (problems.length > 0) throw new ConfigError(problems.join("\n"))
  return config
}

type Given<T> = { readonly value: T; readonly where: string }

function first<T>(flag: T | undefined, fromEnv: T | undefined, variable: string, fromFile: Given<T> | null) {
  if (flag !== undefined) return { value: flag, where: "command line" }
  if (fromEnv !== undefined) return { value: fromEnv, where: variable }
  return fromFile
}

function tokenFileOf(flags: Flags, env: Environment, file: ConfigFile): string | null {
  if (flags.tokenFile !== undefined) return flags.tokenFile
  if (env.IPGATE_TOKEN_FILE !== undefined) return env.IPGATE_TOKEN_FILE
  if (env.IPGATE_TOKEN !== undefined) return null
  if (env.CREDENTIALS_DIRECTORY !== undefined) return `${env.CREDENTIALS_DIRECTORY}/api-token`
  return file.text("auth.token_file")?.value ?? null
}

/** Root's state is the system's; everybody else has a directory of their own. */
function stateDirectoryOf(env: Environment, userId: number): string {
  if (userId === 0) return "/var/lib/ipgate"
  return `${absolute(env.XDG_STATE_HOME) ?? `${env.HOME ?? ""}/.local/state`}/ipgate`
}

function listenAddresses(
  { value, where }: Given<readonly string[]>,
  proxiesSet: boolean,
  problems: string[],
) {
  const addresses = value.flatMap((text) => {
    const address = parseListenAddress(text)
    if (address !== null) return [address]
    problems.push(
      `${where}: ${quoted(text)} is no listen address: use 127.0.0.1:8765, [::1]:8765 or unix:/path`,
    )
    return []
  })
  if (value.length === 0) problems.push(`${where}: no listen address is given`)
  const open = addresses.find((address) => !isLocal(address))
  if (open !== undefined && !proxiesSet) {
    problems.push(
      `${where}: listening on ${formatListenAddress(open)} lets other machines ask, and anyone who is believed can claim any address.\n` +
        '  Name your proxies: trusted_proxies = ["192.0.2.10"] under [auth], or --trusted-proxies 192.0.2.10',
    )
  }
  return addresses
}

function trustedProxies({ value, where }: Given<readonly string[]>, problems: string[]): TrustedProxies {
  const networks: Network[] = []
  for (const text of value) {
    if (text === "unix") continue
    const network = Network.parse(text)
    if (network === null) problems.push(`${where}: trusted_proxies: ${explainNetwork(text)}`)
    else networks.push(network)
  }
  return { networks, unixSocket: value.includes("unix") }
}

function clientIpHeader({ value, where }: Given<string>, problems: string[]): ClientIpHeader {
  const header = CLIENT_IP_HEADERS.find((known) => known.toLowerCase() === value.toLowerCase())
  if (header !== undefined) return header
  problems.push(`${where}: client_ip_header is ${quoted(value)}: use ${CLIENT_IP_HEADERS.join(" or ")}`)
  return "X-Real-IP"
}

// Whoever connects is believed, so the rights of others would let every user of the machine claim any address.
function modeOfSocket({ value, where }: Given<string>, problems: string[]): number {
  if (/^0?[0-7][0-7]0$/.test(value)) return Number.parseInt(value, 8)
  problems.push(
    `${where}: socket_mode is ${quoted(value)}: use three octal digits with no rights for others, such as 0660; socket_group names who else may ask`,
  )
  return DEFAULT_SOCKET_MODE
}

function databasePath({ value, where }: Given<string>, problems: string[]): string {
  const path = value.startsWith("file:") ? value.slice("file:".length) : value
  if (path === "" || /^[a-z]*:/i.test(path)) {
    problems.push(`${where}: the database ${quoted(value)} is no file: use file:/path/to/ipgate.db`)
  }
  return path
}

type ConfigFile = {
  text(key: string): Given<string> | null
  list(key: string): Given<readonly string[]> | null
}

function loadFile({ flags, env, read }: ConfigSources, problems: string[]): ConfigFile {
  const named = flags.config ?? env.IPGATE_CONFIG
  const home = absolute(env.XDG_CONFIG_HOME) ?? (env.HOME === undefined ? undefined : `${env.HOME}/.config`)
  const candidates =
    named !== undefined ? [named] : [SYSTEM_CONFIG, ...(home ? [`${home}/ipgate/config.toml`] : [])]
  for (const path of candidates) {
    const source = read(path)
    if (source !== null) return readFile(path, source, problems)
  }
  if (named !== undefined) problems.push(`${named}: the configuration file does not exist or cannot be read`)
  return { text: () => null, list: () => null }
}

function readFile(path: string, source: string, problems: string[]): ConfigFile {
  const values = new Map<string, Given<unknown>>()
  try {
    for (const [section, members] of Object.entries(Bun.TOML.parse(source))) {
      const isSection = typeof members === "object" && members !== null && !Array.isArray(members)
      for (const [name, value] of isSection ? Object.entries(members) : [["", members]]) {
        const key = isSection ? `${section}.${name}` : section
        values.set(key, {
          value,
          where: `${path}:${lineOf(source, isSection ? section : "", isSection ? String(name) : section)}`,
        })
      }
    }
  } catch (cause) {
    problems.push(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  for (const [key, { value, where }] of values) {
    const kind = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined
    if (kind === undefined) {
      const near = nearestName(key, Object.keys(KEYS))
      problems.push(`${where}: unknown key ${quoted(key)}${near === null ? "" : `; did you mean ${near}?`}`)
    } else if (kind === "text" ? typeof value !== "string" : !isTextList(value)) {
      problems.push(
        `${where}: ${key} must be ${kind === "text" ? "text in quotes" : 'a list of texts: ["…", "…"]'}`,
      )
      values.delete(key)
    }
  }
  const get = (key: string) => values.get(key) ?? null
  return {
    text: (key) => get(key) as Given<string> | null,
    list: (key) => get(key) as Given<readonly string[]> | null,
  }
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string")
}

// The parser does not tell where a key stands, so look for the line that begins with it, below its section.
function lineOf(source: string, section: string, key: string): number {
  const lines = source.split("\n")
  const from = section === "" ? 0 : lines.findIndex((line) => line.trim().startsWith(`[${section}]`))
  const found = lines.findIndex(
    (line, i) => i >= from && line.split("=")[0]?.replaceAll('"', "").trim() === key,
  )
  return Math.max(found, from, 0) + 1
}

// The XDG specification: a path that is not absolute is to be ignored.
function absolute(path: string | undefined): string | undefined {
  return path?.startsWith("/") ? path : undefined
}
