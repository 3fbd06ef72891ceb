// Every key of the configuration: the one table from which it is read, checked, shown and documented.

export type ConfigKey = {
  /** As in the file: section and name. */
  readonly key: string
  readonly kind: "text" | "list"
  /** The text is the path of a file, in the configuration file an absolute one: nothing of the current directory is read. */
  readonly isPath?: true
  readonly variable: string
  /** As the command line takes it. */
  readonly option: string
  /** Of every command, or of `serve` alone. */
  readonly optionOf: "all" | "serve"
  /** The value that holds if nothing is said; `null` where that depends on the machine. */
  readonly fallback: string | readonly string[] | null
  /** The default in words, for `fallback: null`. */
  readonly fallbackInWords?: string
  /** What makes a change of it take effect: SIGHUP, a new start of the server, or the next command. */
  readonly takesEffect: "reload" | "restart" | "next command"
  /** One line, without a full stop. */
  readonly description: string
}

export const DEFAULT_LISTEN = "127.0.0.1:8765"

export const CONFIG_KEYS = [
  {
    key: "server.listen",
    kind: "list",
    variable: "IPGATE_LISTEN",
    option: "--listen <address...>",
    optionOf: "serve",
    fallback: [DEFAULT_LISTEN],
    takesEffect: "restart",
    description: "host:port or unix:/path; several are possible",
  },
  {
    key: "server.socket_mode",
    kind: "text",
    variable: "IPGATE_SOCKET_MODE",
    option: "--socket-mode <mode>",
    optionOf: "serve",
    fallback: "0660",
    takesEffect: "restart",
    description: "the rights on a unix socket",
  },
  {
    key: "server.socket_group",
    kind: "text",
    variable: "IPGATE_SOCKET_GROUP",
    option: "--socket-group <name>",
    optionOf: "serve",
    fallback: null,
    fallbackInWords: "the group that runs the server",
    takesEffect: "restart",
    description: "the group of a unix socket: who else may ask",
  },
  {
    key: "server.idle_timeout",
    kind: "text",
    variable: "IPGATE_IDLE_TIMEOUT",
    option: "--idle-timeout <duration>",
    optionOf: "serve",
    fallback: "120s",
    takesEffect: "restart",
    description: "when a silent connection is closed, at most 255s",
  },
  {
    key: "auth.trusted_proxies",
    kind: "list",
    variable: "IPGATE_TRUSTED_PROXIES",
    option: "--trusted-proxies <network...>",
    optionOf: "serve",
    fallback: ["127.0.0.0/8", "::1", "unix"],
    takesEffect: "reload",
    description: "who may name the client",
  },
  {
    key: "auth.client_ip_header",
    kind: "text",
    variable: "IPGATE_CLIENT_IP_HEADER",
    option: "--client-ip-header <name>",
    optionOf: "serve",
    fallback: "X-Real-IP",
    takesEffect: "reload",
    description: "the header that names the client: X-Real-IP or X-Forwarded-For",
  },
  {
    key: "auth.token_file",
    kind: "text",
    isPath: true,
    variable: "IPGATE_TOKEN_FILE",
    option: "--token-file <file>",
    optionOf: "all",
    fallback: null,
    fallbackInWords: "`api-token` in the state directory: see [The token](#the-token)",
    takesEffect: "reload",
    description: "the file with the API token",
  },
  {
    key: "database.url",
    kind: "text",
    isPath: true,
    variable: "IPGATE_DB",
    option: "--db <url>",
    optionOf: "all",
    fallback: null,
    fallbackInWords: "`ipgate.db` in the state directory",
    takesEffect: "restart",
    description: "the database, for serve and --offline",
  },
  {
    key: "log.level",
    kind: "text",
    variable: "IPGATE_LOG_LEVEL",
    option: "--log-level <level>",
    optionOf: "serve",
    fallback: "info",
    takesEffect: "reload",
    description: "the least level that is logged: debug, info, notice, warn or error",
  },
  {
    key: "log.format",
    kind: "text",
    variable: "IPGATE_LOG_FORMAT",
    option: "--log-format <format>",
    optionOf: "serve",
    fallback: "auto",
    takesEffect: "restart",
    description: "the form of the log: auto, journal, text or json",
  },
  {
    key: "log.refusals",
    kind: "text",
    variable: "IPGATE_LOG_REFUSALS",
    option: "--log-refusals <how>",
    optionOf: "serve",
    fallback: "summary",
    takesEffect: "reload",
    description: "refused clients in the log: summary, at most one line a minute, or none",
  },
  {
    key: "metrics.listen",
    kind: "text",
    variable: "IPGATE_METRICS_LISTEN",
    option: "--metrics-listen <address>",
    optionOf: "serve",
    fallback: "",
    takesEffect: "restart",
    description: "where /metrics answers; empty for nowhere",
  },
  {
    key: "client.server",
    kind: "text",
    variable: "IPGATE_SERVER",
    option: "--server <url>",
    optionOf: "all",
    fallback: null,
    fallbackInWords:
      "`unix:/run/ipgate/ipgate.sock` if it is there, else the first address of `server.listen`",
    takesEffect: "next command",
    description: "the server: host:port, a URL, or unix:/path",
  },
] as const satisfies readonly ConfigKey[]

export type KeyName = (typeof CONFIG_KEYS)[number]["key"]

/** Every variable that the configuration reads. */
export const CONFIG_VARIABLES: readonly string[] = [
  "IPGATE_CONFIG",
  "IPGATE_TOKEN",
  ...CONFIG_KEYS.map(({ variable }) => variable),
]

/** The name under which commander hands an option over: `--socket-mode <mode>` is `socketMode`. */
export function flagNameOf({ option }: Pick<ConfigKey, "option">): string {
  const [name = ""] = option.slice("--".length).split(" ")
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
