// A real nginx with docs/nginx.conf, in which only addresses and what a test edits are other than an administrator's.

import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { ListenAddress } from "../../src/listen-address.ts"
import { freePort } from "./free-port.ts"

const PUBLISHED = join(import.meta.dir, "../../docs/nginx.conf")

/** The program, or `null` if it is not installed. It is in a directory that ordinary users do not have on their path. */
export const NGINX: string | null = Bun.which("nginx", {
  PATH: `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin`,
})

export type NginxOptions = {
  /** A directory for its files; it is not removed. */
  readonly directory: string
  /** Where ipgate is: `HOST:PORT` or `unix:PATH`. */
  readonly gate: string
  /** Where the site is: `HOST:PORT`. */
  readonly site: string
  /** Last changes to the configuration. */
  readonly edit?: (configuration: string) => string
}

export type Nginx = AsyncDisposable & {
  /** Its listener on 127.0.0.1. */
  readonly ipv4: ListenAddress
  /** Its listener on ::1. */
  readonly ipv6: ListenAddress
}

/** Replaces text that must be there: a test that edits nothing would prove nothing. */
export function replaced(configuration: string, text: string, by: string): string {
  if (!configuration.includes(text)) throw new Error(`docs/nginx.conf has no "${text}"`)
  return configuration.replaceAll(text, by)
}

export async function startNginx({
  directory,
  gate,
  site,
  edit = (text) => text,
}: NginxOptions): Promise<Nginx> {
  if (NGINX === null) throw new Error("nginx is not installed")
  // nginx takes no port 0, so another process can take the port between the question and the start.
  for (let attempt = 1; ; attempt++) {
    const port = await freePort("::1")
    let configuration = readFileSync(PUBLISHED, "utf8")
    configuration = replaced(configuration, "127.0.0.1:8765", gate)
    configuration = replaced(configuration, "127.0.0.1:3000", site)
    configuration = replaced(configuration, "listen 80;", `listen 127.0.0.1:${port};`)
    configuration = replaced(configuration, "listen [::]:80;", `listen [::1]:${port};`)
    const prefix = join(directory, `nginx-${port}`)
    mkdirSync(prefix)
    await Bun.write(join(prefix, "site.conf"), edit(configuration))
    await Bun.write(join(prefix, "nginx.conf"), surroundings(prefix))

    const errorLog = () => readFileSync(join(prefix, "error.log"), "utf8")
    const child = Bun.spawn(
      [NGINX, "-p", prefix, "-c", join(prefix, "nginx.conf"), "-e", join(prefix, "error.log")],
      {
        stdio: ["ignore", "ignore", "ignore"],
      },
    )
    // The file with its id is written when every address is bound.
    while (child.exitCode === null && !existsSync(join(prefix, "nginx.pid"))) await Bun.sleep(5)
    if (child.exitCode === null) {
      return {
        ipv4: { kind: "tcp", hostname: "127.0.0.1", port },
        ipv6: { kind: "tcp", hostname: "::1", port },
        [Symbol.asyncDispose]: async () => {
          child.kill("SIGTERM")
          await child.exited
        },
      }
    }
    if (attempt === 5 || !errorLog().includes("Address already in use")) {
      throw new Error(`nginx does not start:\n${errorLog()}`)
    }
  }
}

// What Debian's nginx.conf has around a file of conf.d, with every path below the prefix. As root the workers stay
// root, because nothing in the test's directory is theirs.
function surroundings(prefix: string): string {
  return `daemon off;
worker_processes 1;
pid ${prefix}/nginx.pid;
${process.getuid?.() === 0 ? "user root;" : ""}
events {}
http {
  access_log off;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${prefix}/${name};`).join("\n  ")}
  include ${prefix}/site.conf;
}
`
}
