// The built binary as a process: its commands, its server on a free port, and a directory that holds all they write.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ListenAddress, parseListenAddress } from "../../src/listen-address.ts"
import { watchAnswers } from "../contract/watched.ts"
import type { AuditRow } from "./running-server.ts"

const ROOT = join(import.meta.dir, "../..")
const BUILT = join(ROOT, "dist/ipgate")

/** The token of every workplace. */
export const TOKEN = "a-token-for-tests-of-48-characters-0123456789ab!"

/** Milliseconds after which a command that should end, such as a server that should not start, is ended. */
const COMMAND_DEADLINE = 20_000

/** A command that runs the rest of its arguments as a user without rights; empty if the tests have none anyway. */
export const AS_ORDINARY_USER: readonly string[] =
  process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []

export type Finished = { readonly code: number; readonly stdout: string; readonly stderr: string }

export type RunOptions = {
  /** Default: dist/ipgate itself. */
  readonly binary?: string
  /** Default: the directory of the workplace. */
  readonly cwd?: string
  /** Added to the environment of the workplace; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** A command that runs the rest of its arguments by `exec`. */
  readonly prefix?: readonly string[]
  readonly input?: string
}

export type ServerProcess = {
  readonly pid: number
  readonly addresses: readonly ListenAddress[]
  /** `http://HOST:PORT` of the first TCP address. */
  readonly url: string
  /** The exit code, or 128 and the number of the signal that ended the process. */
  readonly exited: Promise<number>
  /** Everything on standard error so far. */
  log(): string
  /** Fulfilled when the log has the text. */
  logged(text: string): Promise<void>
  signal(name: NodeJS.Signals): void
  /** SIGTERM, and the exit code. */
  stop(): Promise<number>
  /** SIGKILL, and the end of the process. */
  kill(): Promise<void>
  /** A command that finds this server by its environment. */
  ipgate(...args: readonly string[]): Promise<Finished>
  /** A request with the token. */
  api(method: string, path: string, body?: unknown): Promise<Response>
  /** The JSON of a GET with the token. */
  read<T>(path: string): Promise<T>
  /** The audit log, newest first. */
  audit(): Promise<AuditRow[]>
  /** The status of `GET /auth` for this `X-Real-IP`. */
  decision(clientText: string): Promise<number>
}

/** Where one test works. Nothing outside of it is read or written, also as root. Use it with `using`. */
export class Workplace {
  readonly directory = mkdtempSync(join(tmpdir(), "ipgate-e2e-"))
  readonly database = this.path("ipgate.db")
  readonly tokenFile = this.path("api-token")
  /** Of every process; the variables named IPGATE_ keep root's off the state of the system. */
  readonly env: Readonly<Record<string, string>> = {
    PATH: process.env.PATH ?? "",
    HOME: this.path("home"),
    TMPDIR: this.path("tmp"),
    IPGATE_DB: `file:${this.database}`,
    IPGATE_TOKEN_FILE: this.tokenFile,
    IPGATE_CONFIG: this.path("ipgate.toml"),
    IPGATE_LOG_FORMAT: "text",
  }
  private readonly processes: Bun.Subprocess[] = []

  private constructor() {
    builtBinary()
    // Other users pass through, as they would through any directory of a system.
    chmodSync(this.directory, 0o755)
    for (const name of ["home", "tmp"]) {
      mkdirSync(this.path(name))
      chmodSync(this.path(name), 0o1777)
    }
  }

  static async make(): Promise<Workplace> {
    const place = new Workplace()
    await place.write("ipgate.toml", "")
    await place.write("api-token", `${TOKEN}\n`, 0o600)
    return place
  }

  path(name: string): string {
    return join(this.directory, name)
  }

  /** Copies the binary into a new folder that is empty but for it. */
  copyBinary(name = "alone"): { folder: string; binary: string } {
    const folder = this.path(name)
    mkdirSync(folder)
    const binary = join(folder, "ipgate")
    copyFileSync(BUILT, binary)
    return { folder, binary }
  }

  /** Writes a file, and makes the directories above it. */
  async write(name: string, content: string, mode = 0o644): Promise<string> {
    await Bun.write(this.path(name), content)
    chmodSync(this.path(name), mode)
    return this.path(name)
  }

  ipgate(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return this.run([options.binary ?? BUILT, ...args], options)
  }

  /** Runs a command to its end, and ends it if it does not come to one: the exit code is 137 then. */
  async run(command: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const child = this.spawn(command, options)
    const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_DEADLINE)
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    clearTimeout(timer)
    return { code: await child.exited, stdout, stderr }
  }

  /** Starts `ipgate serve`, on a free port unless `args` name an address. Rejects if it ends before it listens. */
  async serve(args: readonly string[] = [], options: RunOptions = {}): Promise<ServerProcess> {
    const listen = args.includes("--listen") ? [] : ["--listen", "127.0.0.1:0"]
    const child = this.spawn([options.binary ?? BUILT, "serve", ...listen, ...args], options)
    const log = new Output(child.stderr)
    await log.until("listening on ")
    const line = / listening on (.*) permanent=[0-9]+ temporary=[0-9]+\n/.exec(log.text)?.[1]
    if (line === undefined) throw new Error(`ipgate serve ended with ${await child.exited}:\n${log.text}`)
    return this.running(
      child,
      log,
      line.split(", ").flatMap((text) => parseListenAddress(text) ?? []),
    )
  }

  /** Ends every process that is left, by its id, and removes the directory. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.processes) {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL")
      await child.exited
    }
    rmSync(this.directory, { recursive: true, force: true })
  }

  private spawn(command: readonly string[], { cwd, env, prefix = [], input }: RunOptions) {
    const child = Bun.spawn([...prefix, ...command], {
      cwd: cwd ?? this.directory,
      env: { ...this.env, ...env },
      stdin: input === undefined ? "ignore" : new Blob([input]),
      stdout: "pipe",
      stderr: "pipe",
    })
    this.processes.push(child)
    return child
  }

  private running(child: Bun.Subprocess, log: Output, addresses: readonly ListenAddress[]): ServerProcess {
    void child.exited.then(watchAnswers(addresses))
    const tcp = addresses.find((address) => address.kind === "tcp")
    const first = addresses[0]
    const url = tcp === undefined ? "http://localhost" : `http://${tcp.hostname}:${tcp.port}`
    const unix = tcp === undefined && first?.kind === "unix" ? { unix: first.path } : {}
    const server = tcp === undefined ? `unix:${unix.unix}` : `${tcp.hostname}:${tcp.port}`

    const api = (method: string, path: string, body?: unknown) =>
      fetch(url + path, {
        method,
        ...unix,
        headers: { Authorization: `Bearer ${TOKEN}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const read = async <T>(path: string): Promise<T> => {
      const answer = await api("GET", path)
      if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`)
      return (await answer.json()) as T
    }
    return {
      pid: child.pid,
      addresses,
      url,
      exited: child.exited,
      log: () => log.text,
      logged: async (text) => {
        if (!(await log.until(text))) throw new Error(`the log ended without "${text}":\n${log.text}`)
      },
      signal: (name) => child.kill(name),
      stop: () => {
        child.kill("SIGTERM")
        return child.exited
      },
      kill: async () => {
        child.kill("SIGKILL")
        await child.exited
      },
      ipgate: (...args) => this.ipgate(args, { env: { IPGATE_SERVER: server } }),
      api,
      read,
      audit: () => read<AuditRow[]>("/api/logs?limit=1000"),
      decision: async (clientText) => {
        const answer = await fetch(`${url}/auth`, { ...unix, headers: { "X-Real-IP": clientText } })
        return answer.status
      },
    }
  }
}

/** What a process writes, as it comes. */
class Output {
  text = ""
  private ended = false
  private more = Promise.withResolvers<void>()

  constructor(stream: ReadableStream<Uint8Array>) {
    void this.collect(stream)
  }

  /** True when the text has come, false when the stream ends without it. */
  async until(text: string): Promise<boolean> {
    for (;;) {
      const at = this.text.indexOf(text)
      if (at !== -1 && this.text.includes("\n", at)) return true
      if (this.ended) return false
      await this.more.promise
    }
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

let isFresh = false

/**
 * The path of dist/ipgate, which is built first if it is absent or a source is younger: a test of a stale binary would
 * prove nothing.
 */
export function builtBinary(): string {
  if (isFresh) return BUILT
  if (!existsSync(BUILT) || statSync(BUILT).mtimeMs < newestSource()) build()
  isFresh = true
  return BUILT
}

function newestSource(): number {
  const sources = ["src", "cli"].flatMap((name) =>
    readdirSync(join(ROOT, name), { recursive: true, encoding: "utf8" }).map((path) => join(name, path)),
  )
  const times = [...sources, "scripts/build.ts", "bun.lock"].map((path) => statSync(join(ROOT, path)).mtimeMs)
  return Math.max(...times)
}

// Built beside its place and then renamed, so that another test run at the same time never starts half a file.
function build(): void {
  mkdirSync(join(ROOT, "dist"), { recursive: true })
  const directory = mkdtempSync(join(ROOT, "dist/building-"))
  try {
    const outfile = join(directory, "ipgate")
    const command = [process.execPath, "scripts/build.ts", `bun-linux-${process.arch}`, outfile]
    const { exitCode, stderr } = Bun.spawnSync(command, { cwd: ROOT })
    if (exitCode !== 0) throw new Error(`dist/ipgate cannot be built (bun run build):\n${stderr.toString()}`)
    renameSync(outfile, BUILT)
  } finally {
    rmSync(directory, { recursive: true })
  }
}
