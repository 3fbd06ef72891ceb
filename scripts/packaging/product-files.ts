// What a package and a tarball hold beside the executable: completions, manual pages, examples and licences.

import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { licences } from "./licences.ts"
import { run } from "./run.ts"

/** A file of the project, or one that the command line itself writes. The name of a `doc` is its path here. */
export type ProductFile = {
  /** Its folder here and in the tarball, and what tells its place in a package. */
  readonly kind: "completions" | "man" | "examples" | "doc"
  readonly name: string
  readonly content: string
}

const SHELLS = [
  ["bash", "ipgate.bash"],
  ["zsh", "_ipgate"],
  ["fish", "ipgate.fish"],
] as const

const EXAMPLES = [
  ["nginx", "nginx.conf"],
  ["caddy", "Caddyfile"],
  ["haproxy", "haproxy.cfg"],
  // Traefik takes a traefik.yml where it starts for its static configuration.
  ["traefik", "traefik-ipgate.yml"],
  ["envoy", "envoy.yaml"],
] as const

/** In the folders where their links to each other lead. */
const DOCUMENTS = [
  ...["README.md", "CHANGELOG.md", "SECURITY.md"],
  ...["docs/commands.md", "docs/api.md", "docs/configuration.md", "docs/proxies.md", "docs/watch.svg"],
  ...["docs/nginx.conf", "docs/prometheus-alerts.yml", "docs/grafana-dashboard.json"],
]

/** Writes what is written by a program into `scratch`, which must be there. */
export async function productFiles(root: string, scratch: string): Promise<ProductFile[]> {
  const ipgate = (...args: readonly string[]) =>
    run([process.execPath, "cli/main.ts", ...args], { cwd: root, env: neutral(scratch) })
  const pages = join(scratch, "man")
  mkdirSync(pages)
  await ipgate("manpage", "--dir", pages)
  const copied = (path: string) => Bun.file(join(root, path)).text()
  return Promise.all([
    ...SHELLS.map(async ([shell, name]) => file("completions", name, await ipgate("completion", shell))),
    ...readdirSync(pages)
      .toSorted()
      .map(async (name) => file("man", name, await Bun.file(join(pages, name)).text())),
    ...EXAMPLES.map(async ([proxy, name]) => file("examples", name, await ipgate("proxy", proxy))),
    // As haproxy.cfg calls it.
    file("examples", "ipgate.lua", await ipgate("proxy", "haproxy", "--lua")),
    ...DOCUMENTS.map(async (path) => file("doc", path, await copied(path))),
    file("doc", "LICENSES", await licences(root, { forDebian: false })),
    file("doc", "copyright", await licences(root, { forDebian: true })),
  ])
}

function file(kind: ProductFile["kind"], name: string, content: string): ProductFile {
  return { kind, name, content }
}

/** No configuration of the machine that makes a release may show in it. */
function neutral(scratch: string): Record<string, string> {
  return { IPGATE_CONFIG: "/dev/null", IPGATE_SERVER: "127.0.0.1:8765", HOME: scratch, NO_COLOR: "1" }
}
