// Builds dist/ipgate: one executable with the server, the command line, the database thread and libSQL's native addon.

import type { BunPlugin } from "bun"

const TARGETS = ["bun-linux-x64", "bun-linux-arm64", "bun-linux-x64-musl", "bun-linux-arm64-musl"] as const
type Target = (typeof TARGETS)[number]

const [target = `bun-linux-${process.arch}`, outfile = "dist/ipgate"] = process.argv.slice(2)
if (!isTarget(target)) {
  console.error(`build: unknown target ${target}: use ${TARGETS.join(", ")}`)
  process.exit(2)
}

const result = await Bun.build({
  // A worker is an entry point of its own; its name here is the one that thread-store.ts starts it by.
  entrypoints: ["./cli/main.ts", "./src/store/worker.ts"],
  plugins: [embedAddon(target), leaveOutDevtools(), lazyStreams()],
  format: "esm",
  minify: true,
  // What a command loads later stands in a file of its own, so that a short one does not carry the server and the screen.
  splitting: true,
  bytecode: true,
  define: { "process.env.NODE_ENV": '"production"' },
  compile: {
    target,
    outfile,
    // A file of the current directory must never decide what this program does.
    autoloadDotenv: false,
    autoloadBunfig: false,
    execArgv: ["--disallow-code-generation-from-strings=strict"],
  },
})
for (const log of result.logs) console.error(log)
if (!result.success) process.exit(1)
console.log(`built ${outfile} for ${target}`)

function isTarget(text: string): text is Target {
  return (TARGETS as readonly string[]).includes(text)
}

/**
 * libSQL asks for its native addon by a name that it computes, which the bundler cannot follow: the binary would work
 * beside node_modules and nowhere else. So that call becomes one literal `require` for the target.
 */
function embedAddon(target: Target): BunPlugin {
  const addon = target.replace(/^bun-/, "@libsql/") + (target.endsWith("-musl") ? "" : "-gnu")
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
