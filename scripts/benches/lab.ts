// Where the bench works: one directory, every process in it, and a clean end, by itself, by a fault or by a signal.

import { type RunOptions, type ServerProcess, Workplace } from "../../test/support/binary.ts"
import { allocatorVariables } from "./allocator-variables.ts"
import { Cores } from "./cores.ts"
import { onEndSignals } from "./on-end-signals.ts"
import type { Plan } from "./plan.ts"
import type { Programs } from "./programs.ts"
import { print } from "./report.ts"

export type Child = Bun.Subprocess<"pipe", "pipe", "pipe">

/** Milliseconds between asking a process to end and ending it. */
const PATIENCE = 3_000

/**
 * A SIGKILL leaves the servers and the directory behind. What loads a core has an end of its own, or that of its input.
 */
export class Lab {
  readonly cores: Cores
  private readonly children = new Set<Child>()
  private ending: Promise<void> | null = null
  /** For every server, the contenders among them, so that nobody has an advantage by it. */
  readonly allocator = allocatorVariables()

  private constructor(
    readonly plan: Plan,
    readonly programs: Programs,
    private readonly place: Workplace,
  ) {
    this.cores = new Cores(programs)
  }

  static async open(plan: Plan, programs: Programs): Promise<Lab> {
    const opening = Workplace.make().then((place) => new Lab(plan, programs, place))
    onEndSignals((code, signal) => {
      print(`${signal}: what the bench has started is ended`)
      void opening.then((lab) => lab.end(code))
    })
    const lab = await opening
    lab.cores.moveHere()
    return lab
  }

  get directory(): string {
    return this.place.directory
  }

  get tokenFile(): string {
    return this.place.tokenFile
  }

  path(name: string): string {
    return this.place.path(name)
  }

  async write(name: string, content: string): Promise<string> {
    await Bun.write(this.path(name), content)
    return this.path(name)
  }

  /** The built server over a database of this directory, on the server's core. */
  async serve(database: string, options: RunOptions = {}): Promise<ServerProcess> {
    const { prefix = this.cores.server } = options
    this.mustBeOpen()
    try {
      return await this.place.serve([], {
        ...options,
        prefix,
        env: { ...this.allocator, IPGATE_DB: `file:${this.path(database)}` },
      })
    } catch (error) {
      // The prefix may be what failed, and its last word is all that was said.
      const { message } = error as Error
      throw new Error(`"${[...prefix, "ipgate"].join(" ")}" does not start over ${database}: ${message}`)
    }
  }

  /** The environment in which commands find a server and never the state of this machine. */
  environment(server: string): Record<string, string> {
    return { ...this.place.env, IPGATE_SERVER: server.replace("http://", "") }
  }

  start(command: readonly string[], env?: Record<string, string>): Child {
    this.mustBeOpen()
    const child = Bun.spawn([...command], {
      cwd: this.directory,
      env: env ?? { ...process.env, ...this.allocator },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    })
    this.children.add(child)
    void child.exited.then(() => this.children.delete(child))
    return child
  }

  /** Ends every process that is left, by its id, and removes the directory. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.end()
  }

  /** Whoever comes second waits for the first; so nobody goes on before the process has exited with `code`. */
  private end(code?: number): Promise<void> {
    this.ending ??= this.close().finally(() => {
      if (code !== undefined) process.exit(code)
    })
    return this.ending
  }

  private async close(): Promise<void> {
    await Promise.all(
      [...this.children].map(async (child) => {
        child.kill("SIGTERM")
        const patience = setTimeout(() => child.kill("SIGKILL"), PATIENCE)
        await child.exited
        clearTimeout(patience)
      }),
    )
    await this.place[Symbol.asyncDispose]()
  }

  /** What is started while everything ends would stay. */
  private mustBeOpen(): void {
    if (this.ending !== null) throw new Error("the bench is ending")
  }
}
