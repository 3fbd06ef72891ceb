// The proxies that the tests can run: where their programs are, how each is started, and what it does differently.

import { existsSync } from "node:fs"
import { join } from "node:path"

/** Two free ports of the loopback addresses become these in a configuration. */
export type Ports = { readonly site: string; readonly port: number }

export type ProxyProgram = {
  /** As `ipgate proxy` knows it. */
  readonly name: string
  readonly path: string
  readonly version: string
  /** Whether it can ask over a unix socket. */
  readonly unixSocket: boolean
  /** What a visitor gets while ipgate says no. */
  readonly refusal: 401 | 403
  /** What a visitor gets while ipgate is down. A proxy that has no such answer refuses as always. */
  readonly outage: number
  /** A proxy whose wait for ipgate cannot be set: a visitor of a gate that hangs just waits. */
  readonly waitsForever?: true
  /** Puts the addresses of the test in, and what a test must not touch out. */
  readonly fitted: (configuration: string, ports: Ports) => string
  /** The same for a second file that the configuration loads. */
  readonly script?: {
    readonly option: string
    readonly file: string
    readonly fitted: (text: string) => string
  }
  /** Whether it answers 404 until it has read its configuration. */
  readonly readsLate?: true
  /** The arguments, with every file in the directory. */
  readonly command: (directory: string, port: number) => readonly string[]
  /** The name of the file of the configuration. */
  readonly file: string
}

const TOOLS = join(import.meta.dir, "../../../.tools/proxies")
const SYSTEM = `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin`

/** Replaces text that must be there: a test that changes nothing would prove nothing. */
export function swapped(
  text: string,
  ...changes: ReadonlyArray<readonly [from: string, to: string]>
): string {
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`the configuration has no "${from}"`)
    text = text.replaceAll(from, to)
  }
  return text
}

function found(name: string, ...beside: readonly string[]): string[] {
  const candidates = [Bun.which(name, { PATH: SYSTEM }), ...beside.map((path) => join(TOOLS, path))]
  return candidates.filter((path) => path !== null && existsSync(path)) as string[]
}

function versionOf(path: string, args: readonly string[]): string {
  const { stdout, stderr } = Bun.spawnSync([path, ...args], { stdin: "ignore" })
  return /[0-9]+\.[0-9]+\.[0-9]+/.exec(`${stdout}${stderr}`)?.[0] ?? "?"
}

type Kind = Omit<ProxyProgram, "path" | "version"> & {
  readonly versionArgs: readonly string[]
  readonly beside: readonly string[]
}

const KINDS: readonly Kind[] = [
  {
    name: "nginx",
    versionArgs: ["-v"],
    beside: [],
    unixSocket: true,
    refusal: 401,
    outage: 500,
    file: "site.conf",
    fitted: (text, { site, port }) =>
      swapped(
        text,
        ["127.0.0.1:3000", site],
        ["listen 80;", `listen 127.0.0.1:${port};`],
        ["listen [::]:80;", `listen [::1]:${port};`],
        ["proxy_read_timeout 5s;", "proxy_read_timeout 1s;"],
        // What nginx needs for WebSockets, whether or not it asks anybody: docs/proxies.md shows these lines.
        [
          "        proxy_pass http://127",
          "        proxy_http_version 1.1;\n        proxy_set_header Upgrade $http_upgrade;\n        proxy_set_header Connection $http_connection;\n        proxy_pass http://127",
        ],
      ),
    command: (directory) => ["-p", directory, "-c", "nginx.conf", "-e", join(directory, "error.log")],
  },
  {
    name: "caddy",
    versionArgs: ["version"],
    beside: ["bin/caddy"],
    unixSocket: true,
    refusal: 401,
    outage: 502,
    file: "Caddyfile",
    fitted: (text, { site, port }) =>
      `{\n\tadmin off\n\tauto_https off\n}\n${swapped(
        text,
        ["127.0.0.1:3000", site],
        ["example.org {", `http://:${port} {\n\tbind 127.0.0.1 [::1]`],
        ["response_header_timeout 5s", "response_header_timeout 1s"],
      )}`,
    command: (directory) => ["run", "--config", join(directory, "Caddyfile"), "--adapter", "caddyfile"],
  },
  {
    name: "haproxy",
    versionArgs: ["-v"],
    beside: [],
    unixSocket: true,
    refusal: 401,
    outage: 401,
    file: "haproxy.cfg",
    fitted: (text, { site, port }) =>
      swapped(
        text,
        ["127.0.0.1:3000", site],
        ["bind 0.0.0.0:80", `bind 127.0.0.1:${port}`],
        ["bind [::]:80 v6only", `bind [::1]:${port}`],
        ["lua-load /etc/haproxy/ipgate.lua", "lua-load ipgate.lua"],
        // The places of this test are for its own user alone.
        [
          "    user haproxy                # the user that the package of HAProxy makes\n    group haproxy\n",
          "",
        ],
      ),
    script: {
      option: "--lua",
      file: "ipgate.lua",
      fitted: (text) => swapped(text, ["timeout = 1000,", "timeout = 250,"]),
    },
    command: (directory) => ["-C", directory, "-f", "haproxy.cfg", "-db"],
  },
  {
    name: "traefik",
    versionArgs: ["version"],
    beside: ["bin/traefik"],
    unixSocket: false,
    refusal: 401,
    outage: 500,
    waitsForever: true,
    readsLate: true,
    file: "ipgate.yml",
    fitted: (text, { site }) =>
      swapped(text, ["127.0.0.1:3000", site], ["Host(`example.org`)", "PathPrefix(`/`)"]),
    command: (directory, port) => [
      `--entrypoints.web.address=127.0.0.1:${port}`,
      `--entrypoints.web6.address=[::1]:${port}`,
      `--providers.file.filename=${join(directory, "ipgate.yml")}`,
      "--providers.file.watch=false",
      "--global.checknewversion=false",
    ],
  },
  {
    name: "envoy",
    versionArgs: ["--version"],
    beside: ["envoy/_bin/envoy"],
    unixSocket: true,
    refusal: 403,
    outage: 503,
    file: "envoy.yaml",
    fitted: (text, { site, port }) =>
      swapped(
        text,
        ['"127.0.0.1", port_value: 3000', `"127.0.0.1", port_value: ${site.split(":")[1]}`],
        ['"0.0.0.0", port_value: 80', `"127.0.0.1", port_value: ${port}`],
        ['"::", port_value: 80', `"::1", port_value: ${port}`],
        ["cluster: ipgate, timeout: 5s", "cluster: ipgate, timeout: 1s"],
      ),
    command: (directory) => [
      "-c",
      join(directory, "envoy.yaml"),
      "--use-dynamic-base-id",
      "--concurrency",
      "1",
      "-l",
      "error",
    ],
  },
]

/** Every program that is installed, and each version once. */
export const PROGRAMS: readonly ProxyProgram[] = KINDS.flatMap(({ versionArgs, beside, ...kind }) => {
  const all = found(kind.name, ...beside).map((path) => ({
    ...kind,
    path,
    version: versionOf(path, versionArgs),
  }))
  return all.filter(({ version }, i) => all.findIndex((other) => other.version === version) === i)
})

/** The names of those that are not installed. */
export const MISSING: readonly string[] = KINDS.map(({ name }) => name).filter(
  (name) => !PROGRAMS.some((program) => program.name === name),
)
