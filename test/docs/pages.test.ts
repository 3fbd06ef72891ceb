// What README.md and its references say about names, numbers and files, compared with the program: in both directions where that is possible.

import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { Option } from "commander"
import type { ProcessEnv } from "../../cli/command-env.ts"
import { EXIT } from "../../cli/exit.ts"
import { buildProgram } from "../../cli/program.ts"
import { PROXIES } from "../../cli/proxy/proxies.ts"
import { layoutOf } from "../../cli/watch/layout.ts"
import { MOST_ENTRIES } from "../../cli/watch/load.ts"
import { helpLines } from "../../cli/watch/status-line.ts"
import { loadConfig } from "../../src/config/config.ts"
import { CONFIG_KEYS } from "../../src/config/keys.ts"
import type { Environment } from "../../src/config/settings.ts"
import { AUDIT_ACTIONS, AUDIT_LOG_ROWS } from "../../src/core/audit.ts"
import { parseDuration } from "../../src/core/duration.ts"
import { LONGEST_REASON, LONGEST_TTL_SECONDS } from "../../src/core/entry.ts"
import { DEFAULT_LIMIT, LARGEST_LIMIT } from "../../src/core/page.ts"
import { TOKEN_SCOPES } from "../../src/core/token.ts"
import { CLIENT_IP_HEADERS } from "../../src/http/client-address.ts"
import { LARGEST_BODY } from "../../src/http/request-body.ts"
import { SHORTEST_TOKEN } from "../../src/token-file.ts"
import { LARGEST_IMPORT } from "../../src/wire/largest-import.ts"
import * as wire from "../../src/wire/paths.ts"
import { runServer } from "../support/running-server.ts"
import { anchorsOf, blocksOf, codeIn, linksOf, prose, rowsUnder, textsOf } from "./markdown.ts"
import { allPages, PAGES, readPage } from "./pages.ts"

const ROOT = join(import.meta.dir, "../..")
const readme = readPage("README.md")
const pages = allPages()
/** Every code span outside of the blocks. */
const spans = codeIn(prose(pages))

/** Blocks that no test of this folder runs, by their first line, each with the reason. */
const NOT_RUN_HERE: Readonly<Record<string, string>> = {
  "(echo; head -c 32 /dev/urandom": "needs root and a systemd; test/system changes the token by it",
  "./scripts/start":
    "start.test.ts runs the first; the second is what runs this very test, in CI and everywhere",
  "sudo install": "needs root, and changes the machine",
  "sudo apt-get install -y nginx":
    "needs root, port 80 and the network; test/e2e walks this story behind a real nginx",
  "sudo apt-get install -y ./ipgate": "test/system follows it on a machine of its own, with systemd",
  "ipgate status": "test/system goes on with it there",
  "sudo editor": "needs a person; test/system edits and reloads",
  "sudo apt-get remove": "test/system ends with it",
  "ipgate doctor --via": "help-examples.test.ts runs it, behind a real nginx",
  "systemctl stop ipgate":
    "needs a systemd; test/e2e/backup.test.ts runs what is between its first and its last line",
  "install -o root": "needs root and the package; test/system moves to another machine by it",
}

/** Environment that the runtime or a library reads, and not the configuration. */
const NOT_CONFIGURATION = ["NO_COLOR", "TMPDIR", "BUN_BE_BUN", "BUN_OPTIONS"]

/** What systemd sets for the processes that it starts. */
const OF_SYSTEMD = [
  "NOTIFY_SOCKET",
  "WATCHDOG_USEC",
  "WATCHDOG_PID",
  "JOURNAL_STREAM",
  "LISTEN_FDS",
  "LISTEN_PID",
]

/** Capitals in code spans that are no variables. */
const PLAIN_WORDS = ["NETWORK", "SETENV"]

const { program } = buildProgram({} as ProcessEnv)

describe("blocks", () => {
  test("are of a kind that a test knows", () => {
    const languages = new Set(blocksOf(pages).map(({ language }) => language))
    expect([...languages].toSorted()).toEqual(["console", "nginx", "sh", "text", "toml"])
  })

  test("that are not run are those of the list, and each stands there with its reason", () => {
    const notRun = textsOf(pages, "sh")
    const reasons = Object.keys(NOT_RUN_HERE)
    expect(notRun.map((text) => reasons.find((beginning) => text.startsWith(beginning)) ?? text)).toEqual(
      reasons,
    )
  })

  test("name scripts and files that exist", () => {
    const paths = textsOf(pages, "sh").flatMap(
      (text) => text.match(/(?<=^|\s)(?:\.\/scripts|docs)\/\S+/gm) ?? [],
    )
    expect(paths.length).toBeGreaterThan(3)
    for (const path of paths) expect(existsSync(join(ROOT, path)), path).toBe(true)
  })

  test("of nginx are docs/nginx.conf to the letter", () => {
    expect(textsOf(readme, "nginx")).toEqual([readPage("docs/nginx.conf")])
  })

  test("the two commands come first", () => {
    const [first] = textsOf(readme, "sh")
    const commands = (first ?? "").split("\n").map((line) => line.split(" ")[0])
    expect(commands.filter(Boolean)).toEqual(["./scripts/start", "./scripts/test"])
    expect(blocksOf(readme).find(({ language }) => language !== "text")?.language).toBe("sh")
  })

  test("to the first protected page has ten lines", () => {
    const [, , walk] = textsOf(readme, "sh")
    expect((walk ?? "").trimEnd().split("\n")).toHaveLength(10)
  })
})

describe("configuration", () => {
  const rows = rowsUnder(pages, "key in the file")
  const documented = (column: number) => rows.flatMap((cells) => codeIn(cells[column] ?? ""))
  const keys = CONFIG_KEYS.map(({ key }) => key as string)

  test("every key of the file is in the table, and every key in the table is one", () => {
    expect(documented(2).toSorted()).toEqual(keys.toSorted())
  })

  test("the example file has every key, and is accepted", () => {
    const [example = ""] = textsOf(pages, "toml")
    const sections = Object.entries(Bun.TOML.parse(example)) as Array<[string, object]>
    const named = sections.flatMap(([section, members]) =>
      Object.keys(members).map((key) => `${section}.${key}`),
    )
    expect(named.toSorted()).toEqual(keys.toSorted())
    const config = loadConfig({
      flags: {},
      env: {},
      userId: 1000,
      read: () => example,
      isSocket: () => false,
    })
    expect(config.tokenFile).toBe("/etc/ipgate/api-token")
    expect(config.databasePath).toBe("/var/lib/ipgate/ipgate.db")
    expect(config.listen).toHaveLength(2)
    expect([config.socketMode, config.socketGroup]).toEqual([0o660, "ipgate"])
  })

  test("every variable that is read is documented, and every documented one is read", () => {
    const asked = new Set<string>()
    const env = new Proxy<Environment>({}, { get: (_, name) => void asked.add(String(name)) })
    loadConfig({ flags: {}, env, userId: 1000, read: () => null, isSocket: () => false })
    const tables = rowsUnder(pages, "environment").flatMap((cells) => codeIn(cells.slice(0, 2).join(" ")))
    const variables = spans.filter((text) => /^[A-Z]{2,}(_[A-Z]+)*$/.test(text))
    expect(asked.size).toBeGreaterThan(10)
    expect(missing(asked, tables)).toEqual([])
    expect(missing(variables, [...asked, ...NOT_CONFIGURATION, ...OF_SYSTEMD, ...PLAIN_WORDS])).toEqual([])
  })

  test("every flag stands beside its variable and its key, and does what the variable does", () => {
    const pairs = rows.filter((cells) => cells[0] !== "" && cells[1] !== "")
    expect(pairs).toHaveLength(CONFIG_KEYS.length + 1)
    for (const cells of pairs) {
      const [flag = "", variable = ""] = cells.flatMap((cell) => codeIn(cell))
      expect(variable).toBe(`IPGATE_${flag.slice(2).replaceAll("-", "_").toUpperCase()}`)
    }
  })

  test("the defaults are those of an empty configuration", () => {
    const config = loadConfig({
      flags: {},
      env: { HOME: "/home/admin" },
      userId: 1000,
      read: () => null,
      isSocket: () => false,
    })
    const defaults = new Map(rows.map((cells) => [codeIn(cells[0] ?? "")[0], cells[3] ?? ""]))
    expect(codeIn(defaults.get("--server") ?? "").at(-1)).toBe("server.listen")
    expect([config.server]).toEqual(codeIn(defaults.get("--listen") ?? ""))
    expect(defaults.get("--client-ip-header")).toBe(`\`${config.clientIpHeader}\``)
    expect(codeIn(defaults.get("--socket-mode") ?? "")).toEqual([`0${config.socketMode.toString(8)}`])
    expect(config.socketGroup).toBeNull()
    expect(codeIn(defaults.get("--trusted-proxies") ?? "")).toEqual([
      ...config.trustedProxies.networks.map(String),
      "unix",
    ])
    expect(config.trustedProxies.unixSocket).toBe(true)
    expect(config.databasePath).toBe("/home/admin/.local/state/ipgate/ipgate.db")
    expect(
      loadConfig({ flags: {}, env: {}, userId: 0, read: () => null, isSocket: () => false }).stateDirectory,
    ).toBe("/var/lib/ipgate")
    expect(missing(CLIENT_IP_HEADERS, spans)).toEqual([])
  })
})

describe("the command line", () => {
  const below = program.commands.flatMap(({ commands }) => commands)
  const options = [program, ...program.commands, ...below].flatMap((command) => [
    ...command.options,
    new Option("-h, --help"),
  ])

  test("every command has a section", () => {
    const headings = [...prose(readPage("docs/commands.md")).matchAll(/^## (.+)$/gm)].map(
      ([, heading]) => heading,
    )
    for (const command of program.commands) expect(headings).toContain(command.name())
  })

  test("every command that the page names exists", () => {
    const named = spans.flatMap((text) => /^ipgate ([a-z]+)/.exec(text)?.[1] ?? [])
    expect(named.length).toBeGreaterThan(5)
    expect(
      missing(
        named,
        program.commands.map((command) => command.name()),
      ),
    ).toEqual([])
  })

  test("every option is in a table, with its short form", () => {
    const cells = [...rowsUnder(pages, "option"), ...rowsUnder(pages, "environment")].map(
      ([first]) => first ?? "",
    )
    const documented = cells.flatMap((cell) => codeIn(cell))
    const names = options.flatMap(({ long, short }) => [long, short]).filter((name) => name !== undefined)
    expect(missing(names, documented)).toEqual([])
  })

  test("every option that the page names exists", () => {
    const known = options.flatMap(({ long, short }) => [long, short])
    const named = spans
      .filter((text) => /^(--?[a-z]|ipgate )/.test(text))
      .flatMap((text) => text.match(/(?<=^|\s)--?[a-z][a-z-]*/gi) ?? [])
    expect(named.length).toBeGreaterThan(20)
    expect(missing(named, known)).toEqual([])
  })

  test("every field of the JSON in the consoles is explained", () => {
    const fields = textsOf(pages, "console")
      .flatMap((text) => text.match(/^[[{].*[\]}]$/gm) ?? [])
      .flatMap((line) => [...line.matchAll(/"([a-z_]+)":/g)].map(([, field]) => field as string))
    expect(new Set(fields).size).toBeGreaterThan(20)
    expect(
      missing(
        new Set(fields),
        spans.flatMap((span) => span.match(/[a-z_]+/g) ?? []),
      ),
    ).toEqual([])
  })

  test("every exit code is in the table, and no other", () => {
    const codes = rowsUnder(pages, "code").map(([code]) => Number(code))
    expect(codes).toEqual(Object.values(EXIT).toSorted((a, b) => a - b))
  })

  test("every duration in the table means what the table says", () => {
    for (const [texts = "", meaning = ""] of rowsUnder(pages, "you write")) {
      for (const text of codeIn(texts)) {
        const seconds = /^(\d+) seconds/.exec(meaning)?.[1]
        expect(parseDuration(text), text).toBe(seconds === undefined ? null : Number(seconds))
      }
    }
    expect(rowsUnder(pages, "you write")).toHaveLength(8)
  })
})

describe("watch", () => {
  const help = helpLines({ columns: 100, rows: 40 }).map((spans) => spans.map(({ text }) => text).join(""))
  const keys = rowsUnder(pages, "key").flatMap(([cell]) => codeIn(cell ?? ""))

  test("every key in the table is one that the screen explains, and no other is left out", () => {
    const inHelp = help.slice(1).flatMap((line) => line.split(/ {2,}/).flatMap(keysIn))
    expect(inHelp.length).toBeGreaterThan(15)
    // The key that shows the help is the only one that the help need not tell.
    expect([...keys].toSorted()).toEqual([...new Set([...inHelp, "?"])].toSorted())
  })

  test("the limits are those of the screen", () => {
    expect(prose(pages)).toContain(`at most ${MOST_ENTRIES.toLocaleString("en-US")} temporary entries`)
    const [, columns, rows] = /needs (\d+) columns and (\d+) rows/.exec(prose(pages)) ?? []
    const smallest = { columns: Number(columns), rows: Number(rows) }
    expect(layoutOf(smallest, 1)).not.toBeNull()
    expect(layoutOf({ ...smallest, columns: smallest.columns - 1 }, 1)).toBeNull()
    expect(layoutOf({ ...smallest, rows: smallest.rows - 1 }, 1)).toBeNull()
  })
})

describe("the proxies and the doctor", () => {
  test("every proxy that has a configuration is named, and has a section of its own", () => {
    const sections = anchorsOf(readPage("docs/proxies.md"))
    for (const { name } of PROXIES) {
      expect(spans).toContain(name)
      expect(sections).toContain(name)
    }
  })

  test("every finding is in the table, and no other", () => {
    const documented = rowsUnder(pages, "finding").flatMap(([cell]) => codeIn(cell ?? ""))
    expect(documented.toSorted()).toEqual(findingsOfSource().toSorted())
  })
})

describe("the figures of the bench", () => {
  test("have their place", () => {
    expect(prose(readme)).toMatch(/^<!-- bench:start -->\n[\s\S]+\n<!-- bench:end -->$/m)
  })
})

describe("the API", () => {
  const requests = rowsUnder(pages, "request").flatMap(([request]) => codeIn(request ?? ""))
  const constants = Object.entries(wire).flatMap(([name, value]) =>
    typeof value === "string" ? [{ name, value }] : [],
  )

  test("the table has every path, and no other", () => {
    const paths = constants.filter(({ name }) => name.endsWith("_PATH")).map(({ value }) => value)
    const entries = [
      ...[wire.PERMANENT_PATH, wire.TEMPORARY_PATH].map((base) => `${base}/{ip}`),
      `${wire.TOKENS_PATH}/{name}`,
    ]
    const documented = new Set(requests.map((request) => request.split(" ").at(-1) as string))
    expect([...documented].toSorted()).toEqual([...paths, ...entries, `${wire.AUTHZ_PATH}/…`].toSorted())
  })

  test("the table has every method that is answered, and no other", async () => {
    const server = await runServer()
    await server.api("POST", "/api/tokens", { name: "ci", scope: "read" })
    try {
      const documented = new Map<string, string[]>()
      for (const request of requests) {
        const [method, path] = request.split(" ")
        if (path === undefined || method === undefined) continue
        documented.set(path, [...(documented.get(path) ?? []), method])
      }
      for (const [path, methods] of documented) {
        for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
          const target = path.replace("{ip}", "203.0.113.7").replace("{name}", "ci")
          const { status } = await server.api(method, target)
          expect({ request: `${method} ${path}`, known: status !== 405 && status !== 404 }).toEqual({
            request: `${method} ${path}`,
            known: methods.includes(method),
          })
        }
      }
    } finally {
      await server.stop()
    }
  })

  test("every scope of a token is explained, and no other", () => {
    expect(rowsUnder(pages, "scope").flatMap(([scope]) => codeIn(scope ?? ""))).toEqual([...TOKEN_SCOPES])
  })

  test("every header of an answer, and every action of the log, is named", () => {
    const named = spans.flatMap((code) => code.split(/: | /))
    const headers = constants.filter(({ name }) => name.endsWith("_HEADER")).map(({ value }) => value)
    expect(headers.length).toBeGreaterThan(1)
    expect(missing([...headers, ...AUDIT_ACTIONS], named)).toEqual([])
  })

  test("the limits are those of the program", () => {
    const text = prose(pages)
    expect(text).toContain(`1 to ${LARGEST_LIMIT}, ${DEFAULT_LIMIT} if you leave it out`)
    expect(text).toContain(`from 1 to ${LONGEST_TTL_SECONDS}`)
    expect(text).toContain(`up to ${LONGEST_REASON} characters`)
    expect(text).toContain(`${LARGEST_BODY / 1024} KiB`)
    expect(text).toContain(`${LARGEST_IMPORT / 1024 / 1024} MiB`)
    expect(text).toContain(`at least ${SHORTEST_TOKEN} printable characters`)
    expect(text).toContain(`newest ${AUDIT_LOG_ROWS.toLocaleString("en-US")} records`)
  })
})

describe("links", () => {
  const linked = [
    ...PAGES,
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "src/README.md",
    "docs/proxies.md",
  ]

  test.each(linked)("of %s lead somewhere", (page) => {
    for (const link of linksOf(readPage(page))) {
      if (/^https?:/.test(link)) continue
      const [path = "", anchor] = link.split("#")
      const target = path === "" ? page : normalize(join(dirname(page), path))
      expect(existsSync(join(ROOT, target)), link).toBe(true)
      if (anchor !== undefined) expect(anchorsOf(readPage(target))).toContain(anchor)
    }
  })

  test.each([...PAGES, "CONTRIBUTING.md", "SECURITY.md"])("and the files that %s names exist", (page) => {
    const paths = codeIn(prose(readPage(page))).filter((text) =>
      /^(?:\.\/)?(?:src|cli|test|scripts|docs)\/[\w./-]+$/.test(text),
    )
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  test("the pages are found from the README", () => {
    const found = linksOf(readme)
    for (const page of linked) if (page !== "README.md") expect(found).toContain(page)
  })

  test("every reference leads back to the README", () => {
    for (const page of PAGES)
      if (page !== "README.md") expect(linksOf(readPage(page))).toContain("../README.md")
  })
})

function missing(wanted: Iterable<string>, found: Iterable<string | undefined>): string[] {
  const there = new Set(found)
  return [...wanted].filter((one) => !there.has(one))
}

/** The keys that a piece of the screen's help begins with: single characters and names, separated by one space. */
function keysIn(piece: string): string[] {
  const words = piece.trim().split(" ")
  const end = words.findIndex((word) => !KEY.test(word))
  return end === -1 ? words : []
}

const KEY = /^(?:[a-zG/?]|up|down|Home|End|PgUp|PgDn|Enter|Esc|(?:Shift-)?Tab|Ctrl-[A-Z])$/

/** The codes as the source has them: a type, of which nothing is left when it runs. */
function findingsOfSource(): string[] {
  const [, type = ""] = readPage("cli/doctor/finding.ts").split("export type FindingCode =")
  return [...(type.split("\n\n")[0] ?? "").matchAll(/\| "([a-z-]+)"/g)].map(([, code]) => code as string)
}
