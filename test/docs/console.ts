// The console of an administrator: a home directory, a shell that stays open, a server in another terminal, sites behind nginx.

import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { formatListenAddress } from "../../src/listen-address.ts"
import { AS_ORDINARY_USER, builtBinary } from "../support/binary.ts"
import { NGINX, type Nginx, startNginx } from "../support/nginx.ts"

/** What the pages show in place of the directories and the server's address of a run. */
const SHOWN = { home: "/home/admin", sockets: "/run/ipgate", server: "127.0.0.1:8765" } as const

/** The path of curl, which the pages use; without it the tests that need it are left out, and that is said once. */
export const CURL = Bun.which("curl")
if (CURL === null) {
  console.error(
    "curl is missing, so the consoles of README.md and docs were left out. Install it with: apt-get install curl",
  )
}
if (NGINX === null) {
  console.error(
    "nginx is missing, so what the pages prove behind it was left out. Install it with: apt-get install nginx",
  )
}

/** setpriv is told to become this user. */
const NOBODY = 65534

const END = "<end of a command>"

export type Ran = { readonly output: string; readonly exitCode: number }

/**
 * Runs commands as the pages write them, with the built binary as `ipgate`, as a user without rights whose home is
 * new. A page says `127.0.0.1:8765`, `/home/admin` and `/run/ipgate`; here the port is a free one and the directories
 * are temporary, so they are replaced on the way in and on the way out.
 */
export class Console {
  readonly home: string
  private readonly directory: string
  private readonly sockets: string
  private readonly env: Readonly<Record<string, string>>
  private readonly shell: Bun.Subprocess<"pipe", "pipe", "inherit">
  private readonly shellOutput: Output
  private server: { process: Bun.Subprocess; output: Output; address: string } | null = null
  private page: Bun.Server<undefined> | null = null
  private readonly sites: Array<{ shown: string; real: string; nginx: Nginx }> = []

  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), "ipgate-docs-"))
    chmodSync(this.directory, 0o755)
    this.home = join(this.directory, "home")
    this.sockets = join(this.directory, "run")
    const bin = join(this.directory, "bin")
    const tmp = join(this.directory, "tmp")
    const config = join(this.directory, "ipgate.toml")
    for (const path of [this.home, this.sockets, bin, tmp]) {
      mkdirSync(path)
      own(path)
    }
    // A copy, because an ordinary user may not be able to reach the directory of the project.
    copyFileSync(builtBinary(), join(bin, "ipgate"))
    chmodSync(join(bin, "ipgate"), 0o755)
    writeFileSync(config, "")
    this.env = {
      PATH: `${bin}:${process.env.PATH ?? ""}`,
      HOME: this.home,
      TMPDIR: tmp,
      TZ: "UTC",
      LC_ALL: "C.UTF-8",
      // Keeps the configuration of the machine out.
      IPGATE_CONFIG: config,
    }
    this.shell = Bun.spawn([...AS_ORDINARY_USER, "bash", "--norc", "--noprofile"], {
      cwd: this.home,
      env: this.env,
      stdin: "pipe",
      stdout: "pipe",
    })
    this.shellOutput = new Output(this.shell.stdout)
    this.shell.stdin.write("exec 2>&1\n")
  }

  /** Makes a file in the home directory. */
  write(name: string, content: string): void {
    const path = join(this.home, name)
    writeFileSync(path, content)
    own(path)
  }

  /** Runs a command in the shell, where variables and `$?` last from one to the next. */
  async run(command: string): Promise<Ran> {
    this.shell.stdin.write(
      `{ ${this.toReal(command)}\n} </dev/null; s=$?; printf '\\n%s %d\\n' '${END}' $s; (exit $s)\n`,
    )
    await this.shell.stdin.flush()
    const text = await this.shellOutput.take(new RegExp(`\n${END} (\\d+)\n`))
    const [output = "", code] = text.split(`\n${END} `)
    return { output: this.toShown(output).replace(/\n$/, ""), exitCode: Number(code) }
  }

  /** Starts a server in another terminal, and returns what it says until it listens. Commands find it from now on. */
  async serve(command: string): Promise<string> {
    const process = Bun.spawn([...AS_ORDINARY_USER, "bash", "-c", `exec ${this.toReal(command)}`], {
      cwd: this.home,
      // For the server alone: every other command sees an installation in which nothing is set.
      env: {
        ...this.env,
        IPGATE_LISTEN: "127.0.0.1:0",
        IPGATE_LOG_FORMAT: "text",
        IPGATE_LOG_REFUSALS: "none",
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
    const output = new Output(process.stderr)
    const said = await output.take(/ listening on .*\n/)
    const address = / listening on (\S+?)[, ]/.exec(said)?.[1]
    if (address === undefined) throw new Error(`${command} ended with ${await process.exited}:\n${said}`)
    this.server = { process, output, address }
    await this.run(`export IPGATE_SERVER=${address}`)
    return this.toShown(said.trimEnd())
  }

  /** Puts a page behind nginx with docs/nginx.conf, under the URL that is shown, in front of the server that runs. */
  async publish(shown: string, edit: (configuration: string) => string = (text) => text): Promise<void> {
    if (this.server === null) throw new Error("no server runs")
    this.page ??= Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("the page\n") })
    const nginx = await startNginx({
      directory: this.directory,
      gate: this.server.address,
      site: `127.0.0.1:${this.page.port}`,
      edit,
    })
    this.sites.push({ shown, real: `http://${formatListenAddress(nginx.ipv4)}/`, nginx })
  }

  /** Ends the server with a signal, and returns its last words and its exit code. */
  async endServer(signal: "SIGINT" | "SIGTERM"): Promise<Ran> {
    if (this.server === null) throw new Error("no server runs")
    const { process, output } = this.server
    process.kill(signal)
    const said = await output.rest()
    const exitCode = await process.exited
    // The other terminal shows a line for each change before it; here only the end is of interest.
    const shown = this.toShown(said.trimEnd()).replace(/^[\s\S]*\n(?=\S+ info stopping on )/, "")
    this.server = null
    return { output: shown, exitCode }
  }

  /** Ends what still runs, by its id, and removes the directory. */
  async close(): Promise<void> {
    for (const { nginx } of this.sites) await nginx[Symbol.asyncDispose]()
    await this.page?.stop(true)
    if (this.server !== null) await this.endServer("SIGTERM")
    this.shell.stdin.end()
    await this.shell.exited
    rmSync(this.directory, { recursive: true, force: true })
  }

  private toReal(text: string): string {
    const here = this.sites.reduce(
      (text, { shown, real }) => text.replaceAll(shown, real),
      text.replaceAll(SHOWN.home, this.home).replaceAll(SHOWN.sockets, this.sockets),
    )
    return this.server === null ? here : here.replaceAll(SHOWN.server, this.server.address)
  }

  private toShown(text: string): string {
    // A terminal does not show the carriage returns of HTTP.
    const there = this.sites.reduce(
      (text, { shown, real }) => text.replaceAll(real, shown),
      text.replaceAll("\r", "").replaceAll(this.home, SHOWN.home).replaceAll(this.sockets, SHOWN.sockets),
    )
    return this.server === null ? there : there.replaceAll(this.server.address, SHOWN.server)
  }
}

/** Gives a file to the user who runs the commands. */
function own(path: string): void {
  if (AS_ORDINARY_USER.length > 0) chownSync(path, NOBODY, NOBODY)
}

/** What a process writes, taken piece by piece. */
class Output {
  private text = ""
  private ended = false
  private more = Promise.withResolvers<void>()

  constructor(stream: ReadableStream<Uint8Array>) {
    void this.collect(stream)
  }

  /** Everything up to and with the first match of `end`; if the stream ends without one, everything. */
  async take(end: RegExp): Promise<string> {
    for (;;) {
      const match = end.exec(this.text)
      if (match !== null || this.ended) {
        const length = match === null ? this.text.length : match.index + match[0].length
        const taken = this.text.slice(0, length)
        this.text = this.text.slice(length)
        return taken
      }
      await this.more.promise
    }
  }

  /** Everything until the stream ends. */
  rest(): Promise<string> {
    return this.take(/(?!)/)
  }

  private async collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const bytes of stream) {
      this.text += decoder.decode(bytes, { stream: true })
      this.wake()
    }
    this.ended = true
    this.wake()
  }

  private wake(): void {
    const { resolve } = this.more
    this.more = Promise.withResolvers()
    resolve()
  }
}
