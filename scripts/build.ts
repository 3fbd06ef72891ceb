// Builds dist/ipgate: one executable with the server, the command line, the database thread and libSQL's native addon.

import type { BunPlugin } from "bun"

export const TARGETS = [
  "bun-linux-x64",
  "bun-linux-arm64",
  "bun-linux-x64-musl",
  "bun-linux-arm64-musl",
] as const
export type Target = (typeof TARGETS)[number]

/** What to build, and what it needs that this machine has for no other kind of machine but its own. */
export type Build = {
  readonly target: Target
  readonly outfile: string
  /** The Bun that becomes part of the executable; default: this one, or one that Bun fetches for another target. */
  readonly runtime?: string
  /** The folder of libSQL's addon for the target; default: the one in node_modules. */
  readonly addon?: string
}

/** Builds the executable. Throws with the messages of the bundler. */
export async function buildExecutable({ target, outfile, runtime, addon }: Build): Promise<void> {
  const result = await Bun.build({
    ...bundle(target, addon),
    bytecode: true,
    compile: {
      target,
      outfile,
      ...(runtime === undefined ? {} : { executablePath: runtime }),
      // A file of the current directory must never decide what this program does.
      autoloadDotenv: false,
      autoloadBunfig: false,
      execArgv: ["--disallow-code-generation-from-strings=strict"],
    },
    throw: false,
  })
  if (!result.success) throw new Error(`${outfile} cannot be built:\n${result.logs.join("\n")}`)
}

/** What the executable is made from, and how it is put together. */
export function bundle(target: Target, addon = addonPackage(target)) {
  return {
    // A worker is an entry point of its own; its name here is the one that thread-store.ts starts it by.
    entrypoints: ["./cli/main.ts", "./src/store/worker.ts"],
    plugins: [embedAddon(addon), leaveOutDevtools(), lightCommander()],
    format: "esm",
    minify: true,
    // What a command loads later stands in a file of its own, so that a short one does not carry the server and the screen.
    splitting: true,
    define: { "process.env.NODE_ENV": '"production"' },
  } satisfies Partial<Bun.BuildConfig>
}

/** The npm package that holds libSQL's addon for a target. */
export function addonPackage(target: Target): string {
  return target.replace(/^bun-/, "@libsql/") + (target.endsWith("-musl") ? "" : "-gnu")
}

function isTarget(text: string): text is Target {
  return (TARGETS as readonly string[]).includes(text)
}

/**
 * libSQL asks for its native addon by a name that it computes, which the bundler cannot follow: the binary would work
 * beside node_modules and nowhere else. So that call becomes one literal `require` for the target.
 */
function embedAddon(addon: string): BunPlugin {
  return {
    name: "embed-addon",
    setup(build) {
      build.onLoad({ filter: /[\\/]node_modules[\\/]libsql[\\/]index\.js$/ }, async ({ path }) => {
        const source = await Bun.file(path).text()
        const contents = source.replace("} = requireNative();", `} = require(${JSON.stringify(addon)});`)
        if (contents === source) throw new Error("libsql/index.js has changed: requireNative() was not found")
        return { contents, loader: "js" }
      })
    },
  }
}

/** Ink names an optional development tool that is not installed, which would end the build. */
function leaveOutDevtools(): BunPlugin {
  return {
    name: "leave-out-devtools",
    setup(build) {
      build.onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: "left-out" }))
      build.onLoad({ filter: /.*/, namespace: "left-out" }, () => ({
        contents: "export default {}",
        loader: "js",
      }))
    },
  }
}

/**
 * What Commander imports and could do without, with what stands in its place. The runtime builds each of these modules
 * when it is imported, for `node:process` with the three standard streams, and a short command would take a third longer
 * for it. A plugin's `onResolve` is not asked about the runtime's own modules, so the text is changed.
 */
const COMMANDER_IMPORTS: ReadonlyArray<readonly [statement: string, inItsPlace: string]> = [
  ["import process from 'node:process';", ""],
  // It starts commands that are programs of their own, which none of ours is.
  ["import childProcess from 'node:child_process';", "const childProcess = null;"],
  [
    "import { stripVTControlCharacters } from 'node:util';",
    "const stripVTControlCharacters = Bun.stripANSI;",
  ],
]

function lightCommander(): BunPlugin {
  return {
    name: "light-commander",
    setup(build) {
      build.onLoad({ filter: /[\\/]node_modules[\\/]commander[\\/]lib[\\/].*\.js$/ }, async ({ path }) => {
        let contents = await Bun.file(path).text()
        for (const [statement, inItsPlace] of COMMANDER_IMPORTS)
          contents = contents.replace(statement, inItsPlace)
        const [left] = /^import .*'node:(process|child_process|util)'/m.exec(contents) ?? []
        if (left !== undefined) throw new Error(`${path} has changed: ${left}`)
        return { contents, loader: "js" }
      })
    },
  }
}

if (import.meta.main) {
  const [target = `bun-linux-${process.arch}`, outfile = "dist/ipgate"] = process.argv.slice(2)
  if (!isTarget(target)) {
    console.error(`build: unknown target ${target}: use ${TARGETS.join(", ")}`)
    process.exit(2)
  }
  await buildExecutable({ target, outfile })
  console.log(`built ${outfile} for ${target}`)
}
