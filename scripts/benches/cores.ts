// Who runs where: the server on one core, everything that asks it on another.

import { readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import type { Programs } from "./programs.ts"

const SERVER_CORE = 0
const LOAD_CORE = 1

export class Cores {
  readonly pinned: boolean
  /** Those that the bench had when it began. */
  private readonly allowed = allowedCores()
  private readonly canGoFirst: boolean

  constructor(private readonly programs: Programs) {
    this.pinned = programs.taskset !== null && availableParallelism() > 1
    // Only root may; elsewhere the prober takes its turn like everybody.
    this.canGoFirst =
      programs.chrt !== null &&
      Bun.spawnSync([programs.chrt, "-f", "1", "true"], { stdio: ["ignore", "ignore", "ignore"] })
        .exitCode === 0
  }

  /** A command that runs the rest of its arguments on the server's core; empty if nothing can be pinned. */
  get server(): string[] {
    return this.on(SERVER_CORE)
  }

  get load(): string[] {
    return this.on(LOAD_CORE)
  }

  /** On the core of the load, and before everything else there whenever it has something to do. */
  get prober(): string[] {
    const { chrt } = this.programs
    return [...(this.canGoFirst && chrt !== null ? [chrt, "-f", "1"] : []), ...this.load]
  }

  /** Where the prober runs, in a sentence. */
  get proberText(): string {
    const where = this.pinned ? "on the core of the load" : "on any core"
    return `The prober runs ${where}, and ${this.canGoFirst ? "goes first there" : "takes its turn there like everybody"}.`
  }

  /** Moves the bench itself to the core of the load, and with it all that it starts without a word about cores. */
  moveHere(): void {
    this.move(String(LOAD_CORE))
  }

  /** The bench, and what it starts, on all cores again: a prefix would cost each of them the start of another program. */
  moveEverywhere(): void {
    this.move(this.allowed)
  }

  private move(cores: string): void {
    const { taskset } = this.programs
    if (!this.pinned || taskset === null) return
    const { exitCode, stderr } = Bun.spawnSync([taskset, "-a", "-p", "-c", cores, String(process.pid)])
    if (exitCode !== 0) throw new Error(`the bench cannot move to the cores ${cores}: ${stderr.toString()}`)
  }

  private on(core: number): string[] {
    const { taskset } = this.programs
    return this.pinned && taskset !== null ? [taskset, "-c", String(core)] : []
  }
}

/** Such as `0-3,6`. */
export function allowedCores(): string {
  return /^Cpus_allowed_list:\s+(\S+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? ""
}
