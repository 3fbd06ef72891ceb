// A proxy as a process, with the configuration that `ipgate proxy` prints for an installation.

import { mkdirSync, readFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import type { Workplace } from "../../support/binary.ts"
import { freePort } from "../../support/free-port.ts"
import type { ProxyProgram } from "./proxy-programs.ts"
import { type Place, visit } from "./visitor.ts"

export type ProxyOptions = {
  readonly place: Workplace
  /** Where ipgate listens: `HOST:PORT` or `unix:PATH`. */
  readonly gate: string
  readonly site: string
  readonly header?: "X-Real-IP" | "X-Forwarded-For"
  /** Breaks what a test wants broken, in the configuration and in its script. */
  readonly edit?: (text: string) => string
}

export type RunningProxy = AsyncDisposable & {
  readonly ipv4: Place
  readonly ipv6: Place
  readonly log: () => string
}

export async function startProxy(program: ProxyProgram, options: ProxyOptions): Promise<RunningProxy> {
  const { place, gate, site, header = "X-Real-IP", edit = (text) => text } = options
  const print = async (...more: string[]) => {
    const args = ["proxy", program.name, "--listen", gate, "--client-ip-header", header, ...more]
    const { code, stdout, stderr } = await place.ipgate(args)
    if (code !== 0) throw new Error(`ipgate ${args.join(" ")}: ${stderr}`)
    return stdout
  }
  const configuration = await print()
  // No proxy takes port 0 and tells which it got, so another process can take the port between the question and the start.
  for (let attempt = 1; ; attempt++) {
    const port = await freePort("::1")
    const directory = place.path(`${program.name}-${port}`)
    mkdirSync(directory)
    await Bun.write(join(directory, program.file), edit(program.fitted(configuration, { site, port })))
    if (program.script !== undefined) {
      const { option, file, fitted } = program.script
      await Bun.write(join(directory, file), edit(fitted(await print(option))))
    }
    if (program.name === "nginx") await Bun.write(join(directory, "nginx.conf"), aroundSite(directory))
    const log = join(directory, "output.log")
    const child = Bun.spawn([program.path, ...program.command(directory, port)], {
      cwd: directory,
      env: { PATH: process.env.PATH ?? "", HOME: directory, TMPDIR: directory },
      stdio: ["ignore", Bun.file(log), Bun.file(log)],
    })
    const stop = async () => {
      // nginx has workers, which only its master ends.
      child.kill(program.name === "nginx" ? "SIGTERM" : "SIGKILL")
      await child.exited
    }
    const ipv4 = { host: "127.0.0.1", port }
    const ipv6 = { host: "::1", port }
    const ready = async () =>
      (await accepts(ipv4)) &&
      (await accepts(ipv6)) &&
      (program.readsLate === undefined || (await visit(ipv4, { path: "/ready" })).status !== 404)
    while (child.exitCode === null && !(await ready())) await Bun.sleep(20)
    if (child.exitCode === null) {
      return { ipv4, ipv6, log: () => readFileSync(log, "utf8"), [Symbol.asyncDispose]: stop }
    }
    if (attempt === 3) throw new Error(`${program.name} does not start:\n${readFileSync(log, "utf8")}`)
  }
}

// What Debian's nginx.conf has around a file of conf.d, with every path in the directory.
function aroundSite(directory: string): string {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
  return `daemon off;
worker_processes 1;
pid ${directory}/nginx.pid;
error_log stderr;
${process.getuid?.() === 0 ? "user root;" : ""}
events {}
http {
  access_log off;
  ${paths.map((name) => `${name}_temp_path ${directory}/${name};`).join("\n  ")}
  include ${directory}/site.conf;
}
`
}

function accepts({ host, port }: Place): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    socket.on("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.on("error", () => resolve(false))
  })
}
