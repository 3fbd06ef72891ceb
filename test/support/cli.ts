// The command line as tests run it: the real `run` in a process that is not real, with a gate behind it on-line or off-line.

import { afterAll, afterEach, beforeAll, beforeEach, describe } from "bun:test"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { ProcessEnv } from "../../cli/command-env.ts"
import { run } from "../../cli/program.ts"
import type { Environment } from "../../src/config/settings.ts"
import { FakeClock } from "./fake-clock.ts"
import { type RunningServer, runServer, TOKEN } from "./running-server.ts"
import { copyDatabase } from "./temp-store.ts"

/** What one run left behind. */
export type CliRun = {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** What one run finds, where it differs from the machine that it runs on. A variable that is `undefined` is not set. */
export type CliSettings = Partial<Omit<ProcessEnv, "environment" | "readInput">> & {
  readonly environment?: Environment
  /** Standard input. */
  readonly input?: string
  /** What the clocks on the wall show; default UTC. */
  readonly timeZone?: string
}

// These tests are not about what outlives a crash, so where there is a directory in memory no disk makes them wait.
const TEMPORARY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir()

/**
 * A machine for commands: a directory that is home, the clock, the environment. Commands see the files in that
 * directory and no other, so that the tests do not depend on what is in /etc and /var/lib of the real machine.
 */
export class CliMachine {
  readonly home = mkdtempSync(join(TEMPORARY, "ipgate-test-"))
  readonly clock: FakeClock
  environment: Environment

  constructor({
    clock = new FakeClock(),
    environment = {},
  }: { clock?: FakeClock; environment?: Environment } = {}) {
    this.clock = clock
    this.environment = {
      HOME: this.home,
      XDG_STATE_HOME: this.path("state"),
      XDG_CONFIG_HOME: this.path("config"),
      ...environment,
    }
  }

  /** A path below home. */
  path(...names: readonly string[]): string {
    return join(this.home, ...names)
  }

  /** Makes a file below home with its directories, and returns its path. */
  file(name: string, content: string, mode = 0o600): string {
    const path = this.path(name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    chmodSync(path, mode)
    return path
  }

  /** A text is split at its spaces; a list is taken as it is. */
  async run(
    command: string | readonly string[],
    { environment, input = "", timeZone = "UTC", ...settings }: CliSettings = {},
  ): Promise<CliRun> {
    let out = ""
    let err = ""
    const usualZone = process.env.TZ
    process.env.TZ = timeZone
    const code = await run(argumentsOf(command), {
      environment: { ...this.environment, ...environment },
      userId: 1000,
      processId: 4711,
      processors: 2,
      clock: this.clock,
      write: (text) => {
        out += text
      },
      writeError: (text) => {
        err += text
      },
      logTo: (text, done) => {
        err += text
        done()
      },
      logFormat: () => "text",
      isTerminal: false,
      columns: 80,
      readInput: async () => input,
      readBytes: async (path, most) => {
        const text = path === "-" ? input : this.read(path)
        if (text === null) return null
        const bytes = new TextEncoder().encode(text)
        return bytes.length > most ? "too large" : bytes
      },
      readFile: (path) => this.read(path),
      isPipe: () => false,
      isSocket: () => false,
      sleep: async (milliseconds) => this.clock.advance(milliseconds),
      untilSignal: () => {},
      beforeKilled: () => {},
      untilUnwritable: () => {},
      untilFault: () => {},
      exitNow: (code) => {
        throw new Error(`exitNow(${code})`)
      },
      ...settings,
    })
    process.env.TZ = usualZone ?? "UTC"
    return { code, out, err }
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true })
  }

  private read(path: string): string | null {
    if (!path.startsWith(`${this.home}/`)) return null
    try {
      return readFileSync(path, "utf8")
    } catch {
      return null
    }
  }
}

function argumentsOf(command: string | readonly string[]): readonly string[] {
  return typeof command === "string" ? command.split(" ").filter((word) => word !== "") : command
}

export const GATES = ["on-line", "off-line"] as const

export type GateKind = (typeof GATES)[number]

export type WorldOptions = {
  /** Where the wall clock stands, in milliseconds since 1970. */
  readonly wall?: number
  /** A closed database to begin with; it is copied. Default: an empty one. */
  readonly database?: string
  /** What there is before the first test. */
  readonly prepare?: (world: World) => Promise<unknown>
}

/** A machine and its database: commands go to it through a server, or directly. */
export class World {
  private constructor(
    readonly kind: GateKind,
    readonly machine: CliMachine,
    private readonly server: RunningServer | null,
    private databasePath: string,
  ) {}

  static async open(kind: GateKind, { wall, database, prepare }: WorldOptions = {}): Promise<World> {
    const clock = new FakeClock(wall)
    const machine = new CliMachine({ clock })
    const databasePath = machine.path("0.db")
    if (database !== undefined) copyDatabase(database, databasePath)
    const server =
      kind === "off-line"
        ? null
        : await runServer({
            clock,
            directory: machine.home,
            databasePath,
            watched: database === undefined,
          })
    const world = new World(kind, machine, server, databasePath)
    // A server has made its database by now, and says so in its log; off-line the first command makes it, and says so.
    if (server === null && database === undefined) await world.do("list --quiet")
    await prepare?.(world)
    return world
  }

  get clock(): FakeClock {
    return this.machine.clock
  }

  /** Who did it, as the audit log has it. */
  get client(): string | null {
    return this.server === null ? null : "127.0.0.1"
  }

  /** What `GET /auth` answers for this client; only a server can be asked. */
  async decision(clientText: string): Promise<number> {
    if (this.server === null) throw new Error("there is no server to ask")
    return this.server.decision(clientText)
  }

  /** Runs one command on this database. */
  async run(command: string | readonly string[], settings: CliSettings = {}): Promise<CliRun> {
    if (this.server !== null) {
      const environment = { IPGATE_SERVER: this.server.url, IPGATE_TOKEN: TOKEN, ...settings.environment }
      return this.machine.run(command, { ...settings, environment })
    }
    const environment = { IPGATE_DB: `file:${this.databasePath}`, ...settings.environment }
    const result = await this.machine.run(["--offline", ...argumentsOf(command)], {
      ...settings,
      environment,
    })
    this.takeNextCopy()
    return result
  }

  /** Runs a command that must succeed. */
  async do(command: string | readonly string[], settings: CliSettings = {}): Promise<CliRun> {
    const result = await this.run(command, settings)
    if (result.code !== 0) throw new Error(`${command}: exit ${result.code}: ${result.err}`)
    return result
  }

  /** The JSON that a command prints. */
  async json(command: string | readonly string[], settings: CliSettings = {}): Promise<unknown> {
    const { out } = await this.run([...argumentsOf(command), "--json"], settings)
    return JSON.parse(out)
  }

  /** Both lists and the whole log, to compare before and after. */
  async state(): Promise<{ lists: unknown; log: unknown }> {
    return { lists: await this.json("list"), log: await this.json("logs --since 1970-01-01") }
  }

  /** The addresses on both lists, in the order that `list` gives. */
  async addresses(command: string | readonly string[] = "list"): Promise<string[]> {
    return ((await this.json(command)) as Array<{ ip: string }>).map(({ ip }) => ip)
  }

  /** The log, newest first, as `action ip`. */
  async actions(): Promise<string[]> {
    const rows = (await this.json("logs --since 1970-01-01")) as Array<{ action: string; ip: string }>
    return rows.map(({ action, ip }) => `${action} ${ip}`)
  }

  async close(): Promise<void> {
    await this.server?.stop()
    this.machine.remove()
  }

  // The driver keeps the lock of a file until its process ends, which here is the end of the tests, so the next command
  // gets what this one has written in a file of its own.
  private takeNextCopy(): void {
    const next = this.machine.path(`${Number(/(\d+)\.db$/.exec(this.databasePath)?.[1]) + 1}.db`)
    try {
      copyDatabase(this.databasePath, next)
    } catch (error) {
      // A command that was refused before it opened the database has made none.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return
      throw error
    }
    this.databasePath = next
  }
}

/** Declares the same tests on-line and off-line, each test with a world of its own. */
export function throughBothGates(define: (world: () => World) => void, options: WorldOptions = {}): void {
  describe.each(GATES)("%s", (kind) => {
    let world: World
    beforeEach(async () => {
      world = await World.open(kind, options)
    })
    afterEach(() => world.close())
    define(() => world)
  })
}

/** The same with one world for all tests of a gate: for tests that only read, or change nothing in the end. */
export function throughBothGatesOnce(define: (world: () => World) => void, options: WorldOptions = {}): void {
  describe.each(GATES)("%s", (kind) => {
    let world: World
    beforeAll(async () => {
      world = await World.open(kind, options)
    })
    afterAll(() => world.close())
    define(() => world)
  })
}
