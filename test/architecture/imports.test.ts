// Which file may import which: each rule with its reason, so that whoever breaks one learns what would be lost.

import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type Import, importsOf, loadedWith, ROOT, sourceFiles } from "./source-files.ts"

const files = sourceFiles("src", "cli")
const imports = files.flatMap(importsOf)

type Rule = {
  /** Files whose path begins like this, and like no longer one that has a rule. */
  readonly of: string
  /** What they may import beside each other: a file, a folder with a slash at its end, or a package. */
  readonly may: readonly string[]
  readonly because: string
}

const COMMANDS_MAY = [
  "src/core/",
  "src/wire/",
  "src/config/",
  "src/log/",
  "src/group-id.ts",
  "src/listen-address.ts",
  "src/token-file.ts",
  "src/version.ts",
  "src/app/remote.ts",
  "src/gate/keep-following.ts",
  "commander",
]

const RULES: readonly Rule[] = [
  {
    of: "src/core/",
    may: [],
    because: "meaning must not depend on transport, storage, or the system",
  },
  {
    of: "src/wire/",
    may: ["src/core/"],
    because: "the server and the client must speak the same words, and neither may bring its own",
  },
  {
    of: "src/openapi/",
    may: ["src/core/", "src/wire/"],
    because: "it describes the words of the wire, and whoever prints it needs no server",
  },
  {
    of: "src/store/",
    may: ["src/core/", "src/linux/give-way.ts", "libsql", "node:fs", "node:fs/promises", "node:path"],
    because: "SQL stays in one place, and that place knows nothing of HTTP",
  },
  {
    of: "src/gate/",
    may: [
      "src/core/",
      "src/wire/",
      "src/store/store.ts",
      "src/store/read-backup.ts",
      "src/store/commit-queue.ts",
      "src/store/snapshot.ts",
      "src/store/token-store.ts",
    ],
    because: "the ways to the lists meet here, over the interface of the store and never over a database",
  },
  {
    of: "src/http/",
    may: [
      "src/core/",
      "src/wire/",
      "src/openapi/",
      "src/log/log.ts",
      "src/group-id.ts",
      "src/listen-address.ts",
      "src/token-secret.ts",
      "node:fs",
      "node:path",
    ],
    because:
      "handlers see a Gate and an Allowlist; a handler that could reach the store would be a second write path. node:crypto brings Node's streams, which every full collection of garbage would go through",
  },
  {
    of: "src/metrics/",
    may: [
      "src/core/",
      "src/http/auth.ts",
      "src/http/guard.ts",
      "src/http/metrics-routes.ts",
      "src/meter.ts",
      "node:fs",
      "node:fs/promises",
      "@prometheus-io/client",
    ],
    because: "what is measured is plain numbers: whoever keeps them knows nothing of who reads them",
  },
  {
    of: "src/log/",
    may: ["src/core/"],
    because: "whatever goes wrong elsewhere must still be told, so the log needs nothing that can go wrong",
  },
  {
    of: "src/config/",
    may: [
      "src/core/",
      "src/http/client-address.ts",
      "src/listen-address.ts",
      "src/log/log-formats.ts",
      "src/log/log-levels.ts",
      "src/nearest-name.ts",
      "smol-toml",
    ],
    because: "every command reads it: it knows the names of what it configures, and loads none of it",
  },
  {
    of: "src/systemd/",
    may: ["bun:ffi"],
    because: "the service manager is told how the server is, and has no part in it",
  },
  {
    of: "src/linux/",
    may: ["bun:ffi", "node:os"],
    because: "it asks the kernel for what no JavaScript can ask for, and everything works without",
  },
  {
    of: "src/app/",
    may: ["src/"],
    because:
      "these are the only places that see everything, and so they must not be needed by anything in src",
  },
  {
    of: "cli/",
    may: [
      ...COMMANDS_MAY,
      "src/app/reload-record.ts",
      "src/app/running-server.ts",
      "src/nearest-name.ts",
      "src/systemd/service-manager.ts",
      "node:fs",
      "node:path",
    ],
    because: "a command sees a Gate: the same one on-line and off-line, without HTTP and without SQL",
  },
  {
    of: "cli/doctor/",
    may: ["cli/", ...COMMANDS_MAY, "node:dns/promises", "node:fs", "node:net", "node:path", "node:tls"],
    because: "it looks at an installation from outside, as a visitor of the proxy does",
  },
  {
    of: "cli/manual/",
    may: ["src/config/keys.ts", "commander", "CHANGELOG.md"],
    because:
      "it is made from the definitions of the commands and the changelog, so it is the same whenever it is made",
  },
  {
    of: "cli/watch/",
    may: ["cli/", ...COMMANDS_MAY, "ink", "react"],
    because: "it is a command that draws: what it knows and does comes through the same Gate",
  },
]

const LOADED_LATER: ReadonlyArray<readonly [from: string, to: RegExp, because: string]> = [
  ["cli/connect.ts", /^src\/app\/local\.ts$/, "only --offline needs the database"],
  ["cli/commands/serve.ts", /^src\/app\/server\.ts$/, "only serve needs the server"],
  [
    "src/app/server.ts",
    /^src\/metrics\/metrics\.ts$/,
    "only a server that is asked for metrics needs their library",
  ],
  [
    "cli/commands/serve.ts",
    /^src\/systemd\/sd-notify\.ts$/,
    "only a server that systemd has started calls its library",
  ],
  ["cli/commands/serve.ts", /^src\/linux\//, "only a server has threads that wait for each other"],
  [
    "src/store/load-driver.ts",
    /^src\/store\/libsql-store\.ts$/,
    "a driver that cannot be unpacked is then an error that says what to do, and not the end of the thread",
  ],
  ["cli/program.ts", /^cli\/completion\/answer\.ts$/, "only a shell that completes a line needs it"],
  ["cli/commands/manpage.ts", /^cli\/manual\//, "a package is made rarely, and the changelog is in it"],
  ["cli/commands/watch.ts", /^cli\/watch\//, "only the screen needs Ink and React"],
  ["cli/commands/openapi.ts", /^src\/openapi\/document\.ts$/, "no other command describes the API"],
  ["cli/commands/doctor.ts", /^cli\/doctor\//, "no other command needs sockets, TLS and DNS"],
]

/** The only files that may import a package, or a file, each with the reason. */
const RESERVED: ReadonlyArray<readonly [what: string, by: RegExp, because: string]> = [
  ["@prometheus-io/client", /^src\/metrics\//, "another way to tell metrics is then a change of one folder"],
  ["commander", /^cli\//, "the server has no command line"],
  ["libsql", /^src\/store\/connection\.ts$/, "another driver is then a change of one file"],
  [
    "src/store/libsql-store.ts",
    /^src\/store\/load-driver\.ts$/,
    "loading it can fail, and one place knows what to say then",
  ],
  [
    "src/store/load-driver.ts",
    /^src\/(store\/worker|app\/local)\.ts$/,
    "a call blocks its thread: the server has one for it, and --offline has no other work",
  ],
  [
    "src/store/schema.ts",
    /^src\/store\/(libsql-store|database-file|ownership|own-schema)\.ts$/,
    "the schema is made and changed in one place",
  ],
  ["src/app/server.ts", /^cli\/commands\/serve\.ts$/, "there is one way to start a server"],
  ["smol-toml", /^src\/config\/config-file\.ts$/, "the file is read in one place"],
  [
    "bun:ffi",
    /^src\/(systemd\/sd-notify|linux\/sched-setattr)\.ts$/,
    "it can call anything, so nobody else may",
  ],
  ["src/app/local.ts", /^cli\/connect\.ts$/, "one place decides between on-line and off-line"],
  ["src/app/remote.ts", /^cli\/connect\.ts$/, "one place decides between on-line and off-line"],
]

/** What may not even be loaded by the way: imports of imports count. */
const NOT_LOADED: ReadonlyArray<readonly [entry: string, pattern: RegExp, because: string]> = [
  [
    "cli/main.ts",
    /libsql|^src\/store\/|^src\/gate\/local-gate|^src\/app\/(server|local)|^src\/(http\/server|openapi\/)|^(ink|react|bun:ffi)$/,
    "a client command starts faster without, and works where the driver cannot be unpacked (noexec /tmp)",
  ],
  [
    "cli/main.ts",
    /^node:(?!(fs|path)$)/,
    "each takes a client command milliseconds: test/architecture/bundle.test.ts",
  ],
  ["src/app/server.ts", /prometheus/, "a server without metrics neither loads nor needs their library"],
  [
    "src/app/server.ts",
    /libsql/,
    "the main thread of the server holds no database code: no call to the database can stall /auth",
  ],
  ["src/store/thread-store.ts", /libsql|statements|schema/, "it only passes messages"],
  ["src/store/protocol.ts", /libsql|statements|schema/, "both threads load it"],
  [
    "src/http/auth.ts",
    /libsql|^src\/(store|gate|app)\/|^node:/,
    "a decision reads memory, and can wait for nothing",
  ],
]

function ruleOf(path: string): Rule | undefined {
  return RULES.filter(({ of }) => path.startsWith(of)).sort((a, b) => b.of.length - a.of.length)[0]
}

const SCREEN = /^(ink|react)$/

const listed = (list: readonly Import[]) => list.map(({ from, to }) => `${from} imports ${to}`)

describe("a folder imports only what it may", () => {
  test.each(RULES)("$of: $because", ({ of, may }) => {
    const own = imports.filter(({ from, kind }) => ruleOf(from)?.of === of && kind !== "dynamic")
    expect(own).not.toBeEmpty()
    const allowed = ({ to }: Import) =>
      to.startsWith(of) || may.some((name) => (name.endsWith("/") ? to.startsWith(name) : to === name))
    expect(listed(own.filter((one) => !allowed(one)))).toEqual([])
  })

  test("every folder has a rule", () => {
    const folders = new Set(files.map(({ path }) => /^(?:src\/[^/]+|cli)\//.exec(path)?.[0]))
    for (const folder of folders)
      expect([folder, RULES.some(({ of }) => of === folder) || folder === undefined]).toEqual([folder, true])
    expect(RULES.filter(({ of }) => !files.some(({ path }) => path.startsWith(of)))).toEqual([])
  })

  test("the files beside the folders import each other, core, and the system", () => {
    const own = imports.filter(({ from }) => /^src\/[^/]+$/.test(from))
    const allowed = /^(src\/[^/]+\.ts|src\/core\/.*|package\.json|node:(fs|path))$/
    expect(listed(own.filter(({ to }) => !allowed.test(to)))).toEqual([])
  })

  test("nothing in src needs the compositions, and nothing in src needs the command line", () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        (to.startsWith("src/app/") && from.startsWith("src/") && !from.startsWith("src/app/")) ||
        (to.startsWith("cli/") && !from.startsWith("cli/")),
    )
    expect(listed(wrong)).toEqual([])
  })
})

describe("the table of the map", () => {
  const map = readFileSync(join(ROOT, "src/README.md"), "utf8")
  const rows = [...map.matchAll(/^\| (`.*?`) *\|[^|]*\|([^|]*)\|/gm)].map(([, of = "", cell = ""]) => ({
    of: namesIn(of),
    cell: namesIn(cell),
  }))

  /** What stands in backticks and is a folder or a file: `store`, `app/remote.ts`, `../cli`. */
  function namesIn(cell: string): string[] {
    return [...cell.matchAll(/`((?:\.\.\/)?[a-z-]+(?:\/[a-z-]+)*(?:\.ts)?)`/g)].map(([, name = ""]) => name)
  }

  /** The folder of src that holds a file, or the file if it lies beside the folders; `../cli` for the commands. */
  const placeOf = (path: string) =>
    /^(\.\.\/)?cli\b/.test(path) ? "../cli" : (path.replace(/^src\//, "").split("/")[0] as string)
  const sorted = (names: readonly string[]) => [...new Set(names)].sort()

  test("has every folder and file of src, and the commands", () => {
    expect(sorted(rows.flatMap(({ of }) => of))).toEqual(sorted(files.map(({ path }) => placeOf(path))))
  })

  test.each(rows)("says what $of imports: $cell", ({ of, cell }) => {
    const own = imports.filter(({ from, to }) => of.includes(placeOf(from)) && to.startsWith("src/"))
    const others = own.map(({ to }) => placeOf(to)).filter((place) => !of.includes(place))
    if (!cell.includes("src")) expect(sorted(others)).toEqual(sorted(cell.map(placeOf)))
  })
})

describe("what is heavy is loaded when it is needed", () => {
  test("and only this is", () => {
    const dynamic = imports.filter(({ kind }) => kind === "dynamic")
    const allowed = ({ from, to }: Import) => LOADED_LATER.some(([by, what]) => from === by && what.test(to))
    expect(listed(dynamic.filter((one) => !allowed(one)))).toEqual([])
  })

  test.each(LOADED_LATER.filter(([from]) => files.some(({ path }) => path === from)))(
    "by %s, %p: %s",
    (from, what) => {
      const kinds = imports.filter((one) => one.from === from && what.test(one.to)).map(({ kind }) => kind)
      expect(kinds).toContain("dynamic")
      expect(kinds).not.toContain("static")
    },
  )

  test.each(NOT_LOADED)("%s is not loaded with %p: %s", (entry, pattern) => {
    const loaded = loadedWith(entry, imports)
    expect(loaded.length).toBeGreaterThan(1)
    expect(loaded.filter((file) => pattern.test(file))).toEqual([])
  })

  test("the thread of the database is started in one place", () => {
    expect(listed(imports.filter(({ kind }) => kind === "thread"))).toEqual([
      "src/store/thread-store.ts imports src/store/worker.ts",
    ])
  })
})

describe("what only some may import", () => {
  test.each(RESERVED)("%s, by %p: %s", (what, by) => {
    const users = imports.filter(({ to }) => to === what)
    expect(users).not.toBeEmpty()
    expect(listed(users.filter(({ from }) => !by.test(from)))).toEqual([])
  })
})

test("only the screen may import Ink and React: `ipgate allow` must not load them", () => {
  const users = imports.filter(({ to }) => SCREEN.test(to))
  expect(listed(users.filter(({ from }) => !from.startsWith("cli/watch/")))).toEqual([])
})

test("the only packages are those that the project has", () => {
  const packages = new Set(
    imports
      .map(({ to }) => to)
      .filter((to) => !/^(src|cli)\/|^(package\.json|CHANGELOG\.md)$|^node:/.test(to)),
  )
  const known = ["@prometheus-io/client", "bun:ffi", "commander", "ink", "libsql", "react", "smol-toml"]
  expect([...packages].filter((name) => !known.includes(name))).toEqual([])
})

test("an import names its file: relative, and with its extension", () => {
  const known = new Set([...files.map(({ path }) => path), "package.json", "CHANGELOG.md"])
  const wrong = imports.filter(({ specifier, to }) =>
    specifier.startsWith(".") ? !known.has(to) : /^[~#@]\/|^(src|cli)\/|^\//.test(specifier),
  )
  expect(listed(wrong)).toEqual([])
})

test("no file imports itself by a detour", () => {
  const circles = files
    .map(({ path }) => path)
    .filter((path) =>
      imports.some(
        ({ from, to, kind }) =>
          from === path &&
          (kind === "static" || kind === "type") &&
          loadedWith(to, imports, ["static", "type"]).includes(path),
      ),
    )
  expect(circles).toEqual([])
})

test("no file is left that nothing imports", () => {
  const used = new Set(loadedWith("cli/main.ts", imports, ["static", "type", "dynamic", "thread"]))
  expect(files.map(({ path }) => path).filter((path) => !used.has(path))).toEqual([])
})

// The rules above read the text with patterns of their own: what those miss would break no rule.
test("the imports that Bun sees are all among those that were looked at", () => {
  const transpiler = new Bun.Transpiler({ loader: "tsx" })
  for (const file of files) {
    const seen = new Set(importsOf(file).map(({ specifier }) => specifier))
    const missed = transpiler
      .scanImports(file.text)
      // What JSX becomes is written in no file.
      .filter(({ path, kind }) => !seen.has(path) && !(kind === "require-call" && path.startsWith("react")))
    expect([file.path, missed]).toEqual([file.path, []])
  }
  expect(imports.length).toBeGreaterThan(150)
})
