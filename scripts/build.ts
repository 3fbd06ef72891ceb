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
    // A worker is an entry point of its own; its name here is the one that thread-store.ts starts it by.
    entrypoints: ["./cli/main.ts", "./src/store/worker.ts"],
    plugins: [embedAddon(addon ?? addonPackage(target)), leaveOutDevtools(), lazyStreams()],
    format: "esm",
    minify: true,
    // What a command loads later stands in a file of its own, so that a short one does not carry the server and the screen.
    splitting: true,
    bytecode: true,
    define: { "process.env.NODE_ENV": '"production"' },
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
 * Commander imports `node:process`, and to make that module Bun asks `process` for each of its properties, the three
 * standard streams included: that takes longer than everything else that a short command does. The global has them
 * too, and makes them when they are asked for.
 */
function lazyStreams(): BunPlugin {
  return {
    name: "lazy-streams",
    setup(build) {
      build.onResolve({ filter: /^node:process$/ }, ({ path, importer }) =>
        /[\\/]node_modules[\\/]commander[\\/]/.test(importer) ? { path, namespace: "global" } : undefined,
      )
      build.onLoad({ filter: /.*/, namespace: "global" }, () => ({
        contents: "export default globalThis.process",
        loader: "js",
      }))
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
