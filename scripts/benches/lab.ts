// Where the bench works: one directory, every process in it, and a clean end however the bench ends.

import { createServer } from "node:net"
import { type RunOptions, type ServerProcess, Workplace } from "../../test/support/binary.ts"
import { allocatorVariables } from "./allocator-variables.ts"
import { Cores } from "./cores.ts"
import { fate, mortal } from "./fate.ts"
import type { Plan } from "./plan.ts"
import type { Programs } from "./programs.ts"

export type Child = Bun.Subprocess<"pipe", "pipe", "pipe">

export class Lab {
  readonly cores: Cores
  private readonly children = new Set<Child>()
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
    const lab = new Lab(plan, programs, await Workplace.make())
    lab.cores.moveHere()
    for (const [signal, number] of [
      ["SIGINT", 2],
      ["SIGTERM", 15],
    ] as const) {
      process.once(signal, () => {
        void lab[Symbol.asyncDispose]().finally(() => process.exit(128 + number))
      })
    }
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
  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of [...this.children]) {
      child.kill("SIGTERM")
      const patience = setTimeout(() => child.kill("SIGKILL"), 3_000)
      await child.exited
      clearTimeout(patience)
    }
    await this.place[Symbol.asyncDispose]()
  }
}

/** Lines that a child prints, one by one. */
export class Lines {
  private readonly chunks: AsyncIterator<Uint8Array>
  private readonly decoder = new TextDecoder()
  private rest = ""

  constructor(
    private readonly child: Child,
    private readonly name: string,
  ) {
    this.chunks = child.stdout[Symbol.asyncIterator]()
  }

  async next(): Promise<string> {
    for (;;) {
      const end = this.rest.indexOf("\n")
      if (end !== -1) {
        const line = this.rest.slice(0, end)
        this.rest = this.rest.slice(end + 1)
        return line
      }
      const { done, value } = await this.chunks.next()
      if (done) {
        throw new Error(`${this.name} has not answered: ${await fate(mortal(this.child))}`)
      }
      this.rest += this.decoder.decode(value, { stream: true })
    }
  }
}

/** Somebody else may take the port before it is used: whoever listens on it has to say so. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(0, "127.0.0.1", resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== "object" || address === null) throw new Error("no port")
  return address.port
}
