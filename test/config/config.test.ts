// The configuration: who wins, what is refused, and that every mistake is told at once and with its place.

import { describe, expect, test } from "bun:test"
import { type Config, explainConfig } from "../../src/config/config.ts"
import { ConfigError } from "../../src/config/config-error.ts"
import { CONFIG_KEYS, type ConfigKey, flagNameOf, type KeyName } from "../../src/config/keys.ts"
import type { Environment, Flags } from "../../src/config/settings.ts"
import { formatListenAddress } from "../../src/listen-address.ts"
import { fault } from "../faults/fault.ts"
import { network } from "../support/parsed.ts"

const SYSTEM_FILE = "/etc/ipgate/ipgate.toml"
const HOME = "/home/gate"
const HOME_FILE = `${HOME}/.config/ipgate/config.toml`

type Sources = {
  readonly flags?: Flags
  readonly env?: Environment
  readonly files?: Readonly<Record<string, string>>
  readonly userId?: number
  readonly sockets?: readonly string[]
}

/** Loads as a user with a home directory, unless it is said otherwise; `read` is what was looked for. */
function attempt({ flags = {}, env = {}, files = {}, userId = 1000, sockets = [] }: Sources) {
  const read: string[] = []
  const explain = () =>
    explainConfig({
      flags,
      env: { HOME, ...env },
      userId,
      isSocket: (path) => sockets.includes(path),
      read: (path) => {
        read.push(path)
        return files[path] ?? null
      },
    })
  return { load: () => explain().config, explain, read }
}

const load = (sources: Sources = {}): Config => attempt(sources).load()

/** The lines of the problems, or nothing if there are none. */
function problems(sources: Sources): string[] {
  try {
    attempt(sources).load()
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n")
    throw error
  }
}

const toml = (text: string) => ({ files: { [SYSTEM_FILE]: text } })

describe("the rights on a unix socket", () => {
  test.each([
    ["0660", 0o660],
    ["660", 0o660],
    ["0600", 0o600],
    ["0770", 0o770],
  ])("socket_mode %s", (text, mode) => {
    expect(load({ flags: { socketMode: text } }).socketMode).toBe(mode)
  })

  test.each(["0666", "0661", "rw-rw----", "", "1660", "66"])("socket_mode %j is refused", (text) => {
    expect(problems({ flags: { socketMode: text } })).toEqual([expect.stringContaining("socket_mode is ")])
  })

  test("the group is a name or a number, taken as it is", () => {
    expect(load({ env: { IPGATE_SOCKET_GROUP: "www-data" } }).socketGroup).toBe("www-data")
  })
})

describe("without anything said", () => {
  const DEFAULTS = {
    server: "127.0.0.1:8765",
    tokenFile: null,
    token: null,
    listen: [{ kind: "tcp", hostname: "127.0.0.1", port: 8765 }],
    trustedProxies: { networks: [network("127.0.0.0/8"), network("::1")], unixSocket: true },
    clientIpHeader: "X-Real-IP",
    socketMode: 0o660,
    socketGroup: null,
    idleTimeout: 120,
    logLevel: "info",
    logFormat: "auto",
    logRefusals: true,
    metricsListen: null,
    tokenFileOfReload: null,
  } as const

  test.each<readonly [string, number, Environment, string]>([
    ["a user", 1000, {}, `${HOME}/.local/state/ipgate`],
    ["a user with a state directory", 1000, { XDG_STATE_HOME: "/state" }, "/state/ipgate"],
    ["a user with an empty one", 1000, { XDG_STATE_HOME: "" }, `${HOME}/.local/state/ipgate`],
    ["root", 0, {}, "/var/lib/ipgate"],
    ["root with a state directory", 0, { XDG_STATE_HOME: "/state" }, "/var/lib/ipgate"],
  ])("%s", (_who, userId, env, stateDirectory) => {
    expect(load({ userId, env })).toEqual({
      ...DEFAULTS,
      stateDirectory,
      databasePath: `${stateDirectory}/ipgate.db`,
    })
  })

  test(
    fault(
      "H-09",
      "a configuration that says nothing",
      "loopback and the unix socket are trusted, and nobody else",
    ),
    () => {
      const { networks, unixSocket } = load().trustedProxies
      expect([networks.map(String), unixSocket]).toEqual([["127.0.0.0/8", "::1"], true])
    },
  )

  test("a variable that only looks like one of ours changes nothing", () => {
    const env = { PORT: "1", HOST: "0.0.0.0", LISTEN: "x", IPGATE_PORT: "1", IPGATE_UNKNOWN: "x", TOKEN: "x" }
    expect(load({ env })).toEqual(load())
  })
})

describe("flag before environment before file before default", () => {
  const ROWS: ReadonlyArray<
    readonly [
      name: string,
      flag: (text: string) => Flags,
      variable: string,
      key: string,
      of: (config: Config) => unknown,
    ]
  > = [
    ["server", (server) => ({ server }), "IPGATE_SERVER", "client.server", ({ server }) => server],
    [
      "token file",
      (tokenFile) => ({ tokenFile }),
      "IPGATE_TOKEN_FILE",
      "auth.token_file",
      ({ tokenFile }) => tokenFile,
    ],
    ["database", (db) => ({ db }), "IPGATE_DB", "database.url", ({ databasePath }) => databasePath],
  ]

  test.each(ROWS)("%s", (_name, flag, variable, key, of) => {
    const [section, name] = key.split(".")
    const file = toml(`[${section}]\n${name} = "/from-file"\n`)
    const env = { [variable]: "/from-env" }
    expect(of(load({ ...file, env, flags: flag("/from-flag") }))).toBe("/from-flag")
    expect(of(load({ env, flags: flag("/from-flag") }))).toBe("/from-flag")
    expect(of(load({ ...file, flags: flag("/from-flag") }))).toBe("/from-flag")
    expect(of(load({ ...file, env }))).toBe("/from-env")
    expect(of(load({ ...file }))).toBe("/from-file")
    expect(of(load({ ...file, env: { [variable]: undefined } }))).toBe("/from-file")
  })

  test("listen", () => {
    const file = toml('[server]\nlisten = ["127.0.0.1:1", "unix:/run/a.sock"]\n')
    const env = { IPGATE_LISTEN: "127.0.0.1:2, [::1]:2  unix:/run/b.sock" }
    const of = (sources: Sources) => load(sources).listen.map(formatListenAddress)
    expect(of({ ...file, env, flags: { listen: ["localhost:3"] } })).toEqual(["localhost:3"])
    expect(of({ ...file, env })).toEqual(["127.0.0.1:2", "[::1]:2", "unix:/run/b.sock"])
    expect(of({ ...file })).toEqual(["127.0.0.1:1", "unix:/run/a.sock"])
  })

  test("trusted proxies: a list replaces the one below, and is not added to it", () => {
    const file = toml('[auth]\ntrusted_proxies = ["10.0.0.0/8", "unix"]\n')
    const env = { IPGATE_TRUSTED_PROXIES: "192.0.2.1,2001:DB8::/32" }
    const of = (sources: Sources) => {
      const { networks, unixSocket } = load(sources).trustedProxies
      return [...networks.map(String), ...(unixSocket ? ["unix"] : [])]
    }
    expect(of({ ...file, env, flags: { trustedProxies: ["unix"] } })).toEqual(["unix"])
    expect(of({ ...file, env, flags: { trustedProxies: [] } })).toEqual([])
    expect(of({ ...file, env })).toEqual(["192.0.2.1", "2001:db8::/32"])
    expect(of({ ...file })).toEqual(["10.0.0.0/8", "unix"])
    expect(of({ env: { IPGATE_TRUSTED_PROXIES: "" } })).toEqual([])
  })

  test("the header with the client's address", () => {
    const file = toml('[auth]\nclient_ip_header = "X-Forwarded-For"\n')
    const env = { IPGATE_CLIENT_IP_HEADER: "x-real-ip" }
    const of = (sources: Sources) => load(sources).clientIpHeader
    expect(of({ ...file, env, flags: { clientIpHeader: "X-FORWARDED-FOR" } })).toBe("X-Forwarded-For")
    expect(of({ ...file, env })).toBe("X-Real-IP")
    expect(of({ ...file })).toBe("X-Forwarded-For")
  })
})

describe("the token", () => {
  const file = toml('[auth]\ntoken_file = "/from-file"\n')
  const CREDENTIALS = { CREDENTIALS_DIRECTORY: "/run/credentials/ipgate.service" }
  const CREDENTIAL = "/run/credentials/ipgate.service/api-token"

  test.each<readonly [string, Sources, tokenFile: string | null, token: string | null]>([
    ["of the file", file, "/from-file", null],
    ["of systemd, before that of the file", { ...file, env: CREDENTIALS }, CREDENTIAL, null],
    ["of systemd alone", { env: CREDENTIALS }, CREDENTIAL, null],
    [
      "in the environment, before both",
      { ...file, env: { ...CREDENTIALS, IPGATE_TOKEN: "secret" } },
      null,
      "secret",
    ],
    [
      "in a file of the environment, before that",
      { ...file, env: { ...CREDENTIALS, IPGATE_TOKEN: "secret", IPGATE_TOKEN_FILE: "/from-env" } },
      "/from-env",
      "secret",
    ],
    [
      "in a file of the command line, before all",
      {
        ...file,
        env: { ...CREDENTIALS, IPGATE_TOKEN: "secret", IPGATE_TOKEN_FILE: "/from-env" },
        flags: { tokenFile: "/from-flag" },
      },
      "/from-flag",
      "secret",
    ],
    // Empty is not absent: it must not fall through to another token, nor to a new one.
    ["that is empty in the environment", { ...file, env: { IPGATE_TOKEN: "" } }, null, ""],
    ["in a file without a name", { ...file, env: { IPGATE_TOKEN_FILE: "" } }, "", null],
  ])("%s", (_what, sources, tokenFile, token) => {
    const config = load(sources)
    expect([config.tokenFile, config.token]).toEqual([tokenFile, token])
  })
})

describe("which file is read", () => {
  const text = '[client]\nserver = "of the file"\n'

  test("the one of the system, then the one of the user, and only the first that is there", () => {
    const both = attempt({ files: { [SYSTEM_FILE]: text, [HOME_FILE]: "nonsense" } })
    expect(both.load().server).toBe("of the file")
    expect(both.read).toEqual([SYSTEM_FILE])

    const own = attempt({ files: { [HOME_FILE]: text } })
    expect(own.load().server).toBe("of the file")
    expect(own.read).toEqual([SYSTEM_FILE, HOME_FILE])

    // An empty one is there, too.
    expect(load({ files: { [SYSTEM_FILE]: "", [HOME_FILE]: text } }).server).toBe("127.0.0.1:8765")
  })

  test("the user's own may be elsewhere", () => {
    const sources = { env: { XDG_CONFIG_HOME: "/xdg" }, files: { "/xdg/ipgate/config.toml": text } }
    expect(load(sources).server).toBe("of the file")
    expect(load({ ...sources, env: { XDG_CONFIG_HOME: "" } }).server).toBe("127.0.0.1:8765")
  })

  test.each<readonly [string, Sources]>([
    ["by flag", { flags: { config: "/named.toml" } }],
    ["by environment", { env: { IPGATE_CONFIG: "/named.toml" } }],
    [
      "by flag before environment",
      { flags: { config: "/named.toml" }, env: { IPGATE_CONFIG: "/other.toml" } },
    ],
  ])("or the one that is named %s, and no other", (_how, sources) => {
    const files = { [SYSTEM_FILE]: "nonsense", [HOME_FILE]: "nonsense", "/named.toml": text }
    const { load, read } = attempt({ ...sources, files })
    expect(load().server).toBe("of the file")
    expect(read).toEqual(["/named.toml"])
    expect(problems({ ...sources, files: { [SYSTEM_FILE]: text } })).toEqual([
      "/named.toml: the configuration file does not exist or cannot be read",
    ])
  })

  test.each<readonly [string, Environment, number]>([
    ["a user", {}, 1000],
    ["root", {}, 0],
    ["a user without a home", { HOME: undefined }, 1000],
    ["a user with an empty home", { HOME: "" }, 1000],
    ["a user whose directories are relative", { XDG_CONFIG_HOME: ".", XDG_STATE_HOME: "state" }, 1000],
  ])("never one of the current directory, for %s", (_who, env, userId) => {
    const { load, read } = attempt({ env, userId })
    const { stateDirectory, databasePath } = load()
    for (const path of [...read, stateDirectory, databasePath]) expect(path).toStartWith("/")
  })
})

describe("a file that makes no sense", () => {
  const LISTEN_LINE =
    '  Name your proxies: trusted_proxies = ["192.0.2.10"] under [auth], or `ipgate serve --trusted-proxies 192.0.2.10`'

  test.each([
    [
      '[server]\nlistne = ["127.0.0.1:1"]',
      `${SYSTEM_FILE}:2: unknown key "server.listne"; did you mean server.listen?`,
    ],
    [
      '\n\n[auth]\n# a comment\ntrusted_proxy = ["unix"]',
      `${SYSTEM_FILE}:5: unknown key "auth.trusted_proxy"; did you mean auth.trusted_proxies?`,
    ],
    [
      '[auth]\nclientIpHeader = "X-Real-IP"',
      `${SYSTEM_FILE}:2: unknown key "auth.clientIpHeader"; did you mean auth.client_ip_header?`,
    ],
    ['[database]\nur = "file:/x"', `${SYSTEM_FILE}:2: unknown key "database.ur"; did you mean database.url?`],
    [
      '[server]\ntoken_file = "/x"',
      `${SYSTEM_FILE}:2: unknown key "server.token_file"; did you mean auth.token_file?`,
    ],
    ['[zebra]\ncrossing = "x"', `${SYSTEM_FILE}:2: unknown key "zebra.crossing"`],
    ['listen = ["127.0.0.1:1"]', `${SYSTEM_FILE}:1: unknown key "listen"; did you mean server.listen?`],
    [
      "\ntrusted_proxies = []",
      `${SYSTEM_FILE}:2: unknown key "trusted_proxies"; did you mean auth.trusted_proxies?`,
    ],
    ['[__proto__]\nx = "1"', `${SYSTEM_FILE}:2: unknown key "__proto__.x"`],
    ['constructor = "x"', `${SYSTEM_FILE}:1: unknown key "constructor"`],
    ['[[auth]]\ntoken_file = "/x"', `${SYSTEM_FILE}:1: unknown key "auth"`],
  ])("%j", (text, problem) => {
    expect(problems(toml(text))).toEqual([problem])
  })

  const TEXT = "must be text in quotes"
  const WHOLE = "write the whole path from / on; a part of one would count from wherever a command is started"
  const LIST = 'must be a list of texts: ["…", "…"]'

  test.each([
    ['[server]\nlisten = "127.0.0.1:1"', `${SYSTEM_FILE}:2: server.listen ${LIST}`],
    ["[server]\nlisten = [1]", `${SYSTEM_FILE}:2: server.listen ${LIST}`],
    ['[server]\nlisten = ["127.0.0.1:1", 2]', `${SYSTEM_FILE}:2: server.listen ${LIST}`],
    ["[server]\nlisten = 8765", `${SYSTEM_FILE}:2: server.listen ${LIST}`],
    ["[server]\nlisten = true", `${SYSTEM_FILE}:2: server.listen ${LIST}`],
    ['[auth]\ntrusted_proxies = "unix"', `${SYSTEM_FILE}:2: auth.trusted_proxies ${LIST}`],
    ["[auth]\nclient_ip_header = 1", `${SYSTEM_FILE}:2: auth.client_ip_header ${TEXT}`],
    ['[auth]\nclient_ip_header = ["X-Real-IP"]', `${SYSTEM_FILE}:2: auth.client_ip_header ${TEXT}`],
    ["[auth]\ntoken_file = false", `${SYSTEM_FILE}:2: auth.token_file ${TEXT}`],
    ["[database]\nurl = {}", `${SYSTEM_FILE}:2: database.url ${TEXT}`],
    ["[client]\n\n\nserver = 5", `${SYSTEM_FILE}:4: client.server ${TEXT}`],
    ['[database]\nurl = "file:x.db"', `${SYSTEM_FILE}:2: database.url is "file:x.db": ${WHOLE}`],
    ['[database]\nurl = "./x.db"', `${SYSTEM_FILE}:2: database.url is "./x.db": ${WHOLE}`],
    ['[auth]\ntoken_file = "~/token"', `${SYSTEM_FILE}:2: auth.token_file is "~/token": ${WHOLE}`],
    ['[server]\nlisten_more = "x"\nlisten = 1', undefined],
    ["[client]\nserver = 5\n[server]\nlisten = 5", undefined],
  ])("of a wrong type: %j", (text, problem) => {
    if (problem !== undefined) expect(problems(toml(text))).toEqual([problem])
    // A wrong value is not used, nor is the default in its place: nothing starts.
    expect(() => load(toml(text))).toThrow(ConfigError)
  })

  test("the line is the one of that key, and not of one that begins like it", () => {
    expect(problems(toml('[server]\nlisten_more = ["x"]\nlisten = 1\n'))).toEqual([
      `${SYSTEM_FILE}:2: unknown key "server.listen_more"; did you mean server.listen?`,
      `${SYSTEM_FILE}:3: server.listen ${LIST}`,
    ])
    expect(problems(toml('[client]\nserver = 5\n\n[server]\nlisten = 5\n\n[auth]\n"token_file"=1'))).toEqual([
      `${SYSTEM_FILE}:2: client.server ${TEXT}`,
      `${SYSTEM_FILE}:5: server.listen ${LIST}`,
      `${SYSTEM_FILE}:8: auth.token_file ${TEXT}`,
    ])
  })

  test.each(["[server", "a =", "[server]\nlisten = [", "{}", "server:\n  listen: x", "\0"])(
    "no TOML: %j",
    (text) => {
      const found = problems(toml(text))
      expect(found.length).toBe(1)
      expect(found[0]).toMatch(/^\/etc\/ipgate\/ipgate\.toml:[12]: column \d+ is no TOML: [a-z]/)
    },
  )

  test.each([
    "",
    "\n",
    "# only a comment\n",
    "\ufeff",
    '[server]\r\nlisten = [\r\n  "127.0.0.1:1",\r\n]\r\n',
  ])("fine: %j", (text) => {
    expect(problems(toml(text))).toEqual([])
  })

  test("every problem at once, wherever it comes from", () => {
    const text = [
      "[server]",
      'listen = ["0.0.0.0:8765", "nonsense"]',
      "",
      "[auth]",
      'client_ip_header = "CF-Connecting-IP"',
      "token_fil = 5",
      "",
      "[database]",
      'url = "libsql://db.example"',
    ].join("\n")
    expect(problems({ ...toml(text), env: { IPGATE_TRUSTED_PROXIES: "10.0.0.5/8 nobody" } })).toEqual([
      // By line, as whoever corrects the file goes through it.
      `${SYSTEM_FILE}:2: "nonsense" is no listen address: use 127.0.0.1:8765, [::1]:8765 or unix:/path`,
      `${SYSTEM_FILE}:5: client_ip_header is "CF-Connecting-IP": use X-Real-IP or X-Forwarded-For`,
      `${SYSTEM_FILE}:6: unknown key "auth.token_fil"; did you mean auth.token_file?`,
      `${SYSTEM_FILE}:9: the database "libsql://db.example" is no file: use file:/path/to/ipgate.db`,
      'IPGATE_TRUSTED_PROXIES: trusted_proxies: "10.0.0.5/8" has host bits set; did you mean 10.0.0.0/8 or 10.0.0.5?',
      'IPGATE_TRUSTED_PROXIES: trusted_proxies: "nobody" is not an IP address or CIDR',
    ])
  })

  test("two listeners at one address", () => {
    const metrics = (where: string, address: string) => [
      `${where}: metrics.listen is ${address}, where the server listens: give it a port of its own, such as 127.0.0.1:9765`,
    ]
    expect(problems({ flags: { metricsListen: "127.0.0.1:8765" } })).toEqual(
      metrics("command line", "127.0.0.1:8765"),
    )
    const listen = '[server]\nlisten = ["unix:/a", "[::1]:1"]\n'
    expect(problems(toml(`${listen}[metrics]\nlisten = "[::1]:1"`))).toEqual(
      metrics(`${SYSTEM_FILE}:4`, "[::1]:1"),
    )
    expect(problems(toml(`${listen}[metrics]\nlisten = "127.0.0.1:1"`))).toEqual([])
    expect(problems({ flags: { listen: ["127.0.0.1:1", "unix:/a", "127.0.0.1:1"] } })).toEqual([
      "command line: 127.0.0.1:1 is there twice",
    ])
    // The system chooses another port each time.
    const any = "127.0.0.1:0"
    expect(problems({ flags: { listen: [any, any], metricsListen: any } })).toEqual([])
  })

  test.each(["", "ftp://example.org", "tcp://127.0.0.1:8765", "unix:run/ipgate.sock"])(
    "no server: %j",
    (text) => {
      expect(problems({ env: { IPGATE_SERVER: text } })).toEqual([
        `IPGATE_SERVER: the server is "${text}": use host:port, a URL with http or https, or unix:/path`,
      ])
    },
  )

  test.each(["127.0.0.1:8765", "example.org", "http://[::1]:8765/", "https://example.org", "unix:/run/x"])(
    "a server: %j",
    (text) => {
      expect(load({ env: { IPGATE_SERVER: text } }).server).toBe(text)
    },
  )

  test(fault("H-08", "listeners beyond this machine without a list of trusted proxies", "refused"), () => {
    const problem = (where: string, address: string) => [
      `${where}: listening on ${address} lets other machines ask, and anyone who is believed can claim any address.`,
      LISTEN_LINE,
    ]
    for (const address of [
      "0.0.0.0:8765",
      "[::]:8765",
      "192.0.2.1:8765",
      "[2001:db8::1]:80",
      "128.0.0.1:1",
      "[::ffff:192.0.2.1]:1",
    ]) {
      expect(problems({ flags: { listen: [address] } })).toEqual(problem("command line", address))
      expect(problems({ flags: { listen: ["127.0.0.1:1", address] } })).toEqual(
        problem("command line", address),
      )
      expect(problems({ env: { IPGATE_LISTEN: address } })).toEqual(problem("IPGATE_LISTEN", address))
      expect(problems(toml(`[server]\nlisten = ["${address}"]`))).toEqual(
        problem(`${SYSTEM_FILE}:2`, address),
      )

      // Whoever has named them, wherever, has thought about it.
      for (const named of [
        { flags: { trustedProxies: ["192.0.2.10"] } },
        { env: { IPGATE_TRUSTED_PROXIES: "192.0.2.10" } },
        toml('[auth]\ntrusted_proxies = ["192.0.2.10"]'),
      ]) {
        const flags = { ...("flags" in named ? named.flags : {}), listen: [address] }
        expect(problems({ ...named, flags })).toEqual([])
      }
    }
    for (const address of [
      "127.0.0.1:1",
      "127.255.255.254:1",
      "[::1]:1",
      "localhost:1",
      "unix:/run/x",
      "[::ffff:127.0.0.1]:1",
    ]) {
      expect(problems({ flags: { listen: [address] } })).toEqual([])
    }
  })

  test("trusted proxies that are half of the internet are refused where other machines can ask", () => {
    const flags = (trusted: string, address = "0.0.0.0:8765") => ({
      flags: { listen: [address], trustedProxies: ["192.0.2.10", trusted] },
    })
    for (const wide of ["0.0.0.0/0", "128.0.0.0/1", "10.0.0.0/7", "::/0", "2000::/3", "fc00::/6"]) {
      const [problem = "", ...others] = problems(flags(wide))
      expect(problem).toStartWith(`command line: trusted_proxies: ${wide} lets strangers claim any address`)
      expect(others).toEqual([])
      expect(problems(flags(wide, "127.0.0.1:8765"))).toEqual([])
      expect(problems(flags(wide, "unix:/run/x"))).toEqual([])
    }
    for (const narrow of ["10.0.0.0/8", "172.16.0.0/12", "fc00::/7", "2600:9000::/28", "192.0.2.1"]) {
      expect(problems(flags(narrow))).toEqual([])
    }
  })
})

describe("values that make no sense", () => {
  const noFile = (value: string) =>
    `command line: the database "${value}" is no file: use file:/path/to/ipgate.db`

  test.each([
    "libsql://db.example",
    "http://127.0.0.1:8080",
    "https://db.example",
    "ws://db.example",
    "LIBSQL://db.example",
    "postgres://db.example/x",
    "file:libsql://x",
    "",
    "file:",
  ])("database %j", (db) => {
    expect(problems({ flags: { db } })).toEqual([noFile(db)])
  })

  test.each([
    ["/srv/ipgate.db", "/srv/ipgate.db"],
    ["file:/srv/ipgate.db", "/srv/ipgate.db"],
    ["file:ipgate.db", "ipgate.db"],
    ["ipgate.db", "ipgate.db"],
    ["./a:b.db", "./a:b.db"],
  ])("database %j is %s", (db, path) => {
    expect(load({ flags: { db } }).databasePath).toBe(path)
  })

  test.each([
    "CF-Connecting-IP",
    "Forwarded",
    "X-Client-IP",
    "",
    "X-Real-IP ",
    "X-Real-IP, X-Forwarded-For",
    "*",
    "Host",
  ])("header %j", (clientIpHeader) => {
    expect(problems({ flags: { clientIpHeader } })).toEqual([
      `command line: client_ip_header is "${clientIpHeader}": use X-Real-IP or X-Forwarded-For`,
    ])
  })

  test.each([
    ["10.0.0.5/8", '"10.0.0.5/8" has host bits set; did you mean 10.0.0.0/8 or 10.0.0.5?'],
    ["2001:db8::1/64", '"2001:db8::1/64" has host bits set; did you mean 2001:db8::/64 or 2001:db8::1?'],
    ["localhost", '"localhost" is not an IP address or CIDR'],
    ["UNIX", '"UNIX" is not an IP address or CIDR'],
    ["unix:/run/x", '"unix:/run/x" is not an IP address or CIDR'],
    ["*", '"*" is not an IP address or CIDR'],
    ["", '"" is not an IP address or CIDR: it is empty'],
    [
      "010.0.0.1",
      '"010.0.0.1" is not an IP address or CIDR: IPv4 has four decimal numbers from 0 to 255, without leading zeros',
    ],
  ])("trusted proxy %j", (proxy, problem) => {
    expect(problems({ flags: { trustedProxies: ["192.0.2.1", proxy] } })).toEqual([
      `command line: trusted_proxies: ${problem}`,
    ])
  })

  test("no listen address at all", () => {
    for (const sources of [
      { flags: { listen: [] } },
      { env: { IPGATE_LISTEN: " , " } },
      toml("[server]\nlisten = []"),
    ]) {
      expect(problems(sources)[0]).toEndWith(": no listen address is given")
    }
  })

  test("what is repeated of them cannot forge a line", () => {
    const found = problems({ flags: { listen: ["x\nIPGATE_LISTEN: \x1b[2Jfine"] } })
    expect(found).toEqual([
      'command line: "x\\x0aIPGATE_LISTEN: \\x1b[2Jfine" is no listen address: use 127.0.0.1:8765, [::1]:8765 or unix:/path',
    ])
  })
})

describe("every key", () => {
  /** A value that is not the default, for each. */
  const OTHER: Readonly<Record<KeyName, string | readonly string[]>> = {
    "server.listen": ["127.0.0.1:1"],
    "server.socket_mode": "0600",
    "server.socket_group": "other",
    "server.idle_timeout": "90s",
    "auth.trusted_proxies": ["192.0.2.1"],
    "auth.client_ip_header": "X-Forwarded-For",
    "auth.token_file": "/other",
    "database.url": "file:/other.db",
    "log.level": "debug",
    "log.format": "json",
    "log.refusals": "none",
    "metrics.listen": "127.0.0.1:9765",
    "client.server": "192.0.2.1:1",
  }

  /** The configuration without the state directory's own paths, to see whether anything else has changed. */
  const differs = (sources: Sources) => {
    const usual: Record<string, unknown> = load()
    return Object.entries(load(sources)).filter(([name, value]) => !Bun.deepEquals(value, usual[name]))
  }
  const textOf = (value: string | readonly string[]) => (typeof value === "string" ? value : value.join(","))

  test.each(CONFIG_KEYS.map((row) => [row.key, row] as const))(
    "%s: from the file, the environment and the command line the same, and the origin of each is told",
    (key, row) => {
      const value = OTHER[key]
      const [section, name] = key.split(".")
      const file = toml(`[${section}]\n\n${name} = ${JSON.stringify(value)}\n`)
      const env = { [row.variable]: textOf(value) }
      const flags = { [flagNameOf(row)]: value }
      expect(differs({ flags })).toEqual(differs({ ...file }))
      expect(differs({ env })).toEqual(differs({ ...file }))
      expect(differs({ flags }).length).toBeGreaterThan(0)

      const originOf = (sources: Sources) => {
        const { origins } = attempt(sources).explain()
        return origins.find((one) => one.key === key)
      }
      expect(originOf(file)).toEqual({ key, value, where: `${SYSTEM_FILE}:3` })
      expect(originOf({ ...file, env })).toEqual({ key, value, where: row.variable })
      expect(originOf({ ...file, env, flags })).toEqual({ key, value, where: "command line" })
      expect(originOf({})?.where).toBe("default")
    },
  )

  test("has a name of its own on the command line and in the environment", () => {
    for (const part of ["key", "variable", "option"] as const) {
      expect(new Set(CONFIG_KEYS.map((row) => row[part])).size).toBe(CONFIG_KEYS.length)
    }
  })

  test("the defaults of the table are what holds without it", () => {
    const flags = Object.fromEntries(
      (CONFIG_KEYS as readonly ConfigKey[]).flatMap((row) =>
        row.fallback === null ? [] : [[flagNameOf(row), row.fallback]],
      ),
    )
    expect(load({ flags })).toEqual(load())
  })
})

describe("keys with few values", () => {
  test.each<readonly [Flags, string]>([
    [{ idleTimeout: "4s" }, 'idle_timeout is "4s": use 5s to 255s'],
    [{ idleTimeout: "256s" }, 'idle_timeout is "256s": use 5s to 255s'],
    [{ idleTimeout: "soon" }, 'idle_timeout is "soon": use 5s to 255s'],
    [{ logLevel: "INFO" }, 'log.level is "INFO": use debug, info, notice, warn or error'],
    [{ logLevel: "" }, 'log.level is "": use debug'],
    [{ logFormat: "xml" }, 'log.format is "xml": use auto, journal, text or json'],
    [{ logRefusals: "all" }, 'log.refusals is "all": use summary or none'],
    [{ metricsListen: "9765" }, '"9765" is no listen address'],
  ])("%j", (flags, problem) => {
    expect(problems({ flags })).toEqual([expect.stringContaining(`command line: ${problem}`)])
  })

  test.each([
    ["5s", 5],
    ["4m15s", 255],
    ["90", 90],
  ])("idle_timeout %s", (idleTimeout, seconds) => {
    expect(load({ flags: { idleTimeout } }).idleTimeout).toBe(seconds)
  })
})

describe("where a client looks for the server", () => {
  const sockets = ["/run/ipgate/ipgate.sock"]

  test("the socket of the service if it is there, unless somebody says otherwise", () => {
    expect(load({ sockets }).server).toBe("unix:/run/ipgate/ipgate.sock")
    expect(load({ sockets: ["/run/other.sock"] }).server).toBe("127.0.0.1:8765")
    expect(load({ sockets, env: { IPGATE_SERVER: "127.0.0.1:1" } }).server).toBe("127.0.0.1:1")
    expect(load({ sockets, ...toml('[client]\nserver = "127.0.0.1:2"\n') }).server).toBe("127.0.0.1:2")
  })

  test.each<readonly [listen: string[], server: string]>([
    [["127.0.0.1:18765", "unix:/run/x"], "127.0.0.1:18765"],
    [["unix:/run/x", "127.0.0.1:18765"], "unix:/run/x"],
    [["[::1]:1"], "[::1]:1"],
    [["localhost:1"], "127.0.0.1:1"],
    [["192.0.2.1:1"], "192.0.2.1:1"],
    [["0.0.0.0:1"], "127.0.0.1:1"],
    [["[::]:1"], "[::1]:1"],
    // Any port: the kernel alone knows which.
    [["127.0.0.1:0", "unix:/run/x"], "unix:/run/x"],
    [["127.0.0.1:0"], "127.0.0.1:8765"],
  ])("where the server of this machine listens: %j", (listen, server) => {
    const trusted = '[auth]\ntrusted_proxies = ["192.0.2.10"]\n'
    const file = toml(`[server]\nlisten = ${JSON.stringify(listen)}\n${trusted}`)
    expect(load(file).server).toBe(server)
    expect(load({ ...file, sockets }).server).toBe("unix:/run/ipgate/ipgate.sock")
  })
})

describe("the token that a reload reads", () => {
  const file = toml('[auth]\ntoken_file = "/from-file"\n')
  const CREDENTIALS = { CREDENTIALS_DIRECTORY: "/run/credentials/x" }

  test.each<readonly [string, Sources, start: string | null, reload: string | null]>([
    ["the same file", file, "/from-file", "/from-file"],
    [
      "the file that the credential is a copy of",
      { ...file, env: CREDENTIALS },
      "/run/credentials/x/api-token",
      "/from-file",
    ],
    [
      "the credential, if no file is named",
      { env: CREDENTIALS },
      "/run/credentials/x/api-token",
      "/run/credentials/x/api-token",
    ],
    ["the flag before both", { ...file, env: CREDENTIALS, flags: { tokenFile: "/flag" } }, "/flag", "/flag"],
    [
      "the variable before both",
      { ...file, env: { ...CREDENTIALS, IPGATE_TOKEN_FILE: "/env" } },
      "/env",
      "/env",
    ],
    [
      "none, if the token itself is given",
      { ...file, env: { ...CREDENTIALS, IPGATE_TOKEN: "x" } },
      null,
      null,
    ],
  ])("%s", (_, sources, start, reload) => {
    const { tokenFile, tokenFileOfReload } = load(sources)
    expect([tokenFile, tokenFileOfReload]).toEqual([start, reload])
  })

  test("the token itself is never shown", () => {
    const { origins } = attempt({ env: { IPGATE_TOKEN: "a-secret" } }).explain()
    expect(origins.find(({ key }) => key === "auth.token_file")).toEqual({
      key: "auth.token_file",
      value: "***",
      where: "IPGATE_TOKEN",
    })
    expect(JSON.stringify(origins)).not.toContain("a-secret")
  })

  test("a credential is told as what it is", () => {
    const { origins } = attempt({ ...file, env: CREDENTIALS }).explain()
    expect(origins.find(({ key }) => key === "auth.token_file")).toMatchObject({
      value: "/run/credentials/x/api-token",
      where: "CREDENTIALS_DIRECTORY",
    })
  })
})

describe("the line of a problem, however the file is written", () => {
  test.each([
    ["server.listen = 5", 1],
    ["# listen = 5\n[server] # listen = 1\n\nlisten\t= 5", 4],
    ['[ "server" ]\n"listen" = 5', 2],
    ["server = { listen = 5 }", 1],
    ['[client]\nserver = "listen = 5"\n[server]\nlisten = 5', 4],
    ["[server]\r\nlisten = 5\r\n", 2],
  ])("%j", (text, line) => {
    expect(problems(toml(text))).toEqual([
      expect.stringContaining(`${SYSTEM_FILE}:${line}: server.listen must`),
    ])
  })

  test.each([
    ['[server]\nlisten = ["a"\n\n[auth]\n', 4],
    ["[server]\nlisten == 5\n", 2],
    ['[server]\nlisten = ["127.0.0.1:1"]\nlisten = []\n', 3],
    ["[server]\n[auth]\n[server]\n", 3],
    ['[auth]\ntoken_file = "a\n', 2],
  ])("no TOML: %j", (text, line) => {
    const [problem = "", ...more] = problems(toml(text))
    expect(more).toEqual([])
    expect(
      Number(/^\/etc\/ipgate\/ipgate\.toml:(\d+): column \d+ is no TOML: /.exec(problem)?.[1]),
    ).toBeLessThanOrEqual(line)
    expect(Number(/ipgate\.toml:(\d+)/.exec(problem)?.[1])).toBeGreaterThanOrEqual(2)
  })
})
