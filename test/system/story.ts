// How a story is told: steps that are printed as they are done, and commands whose failure shows what was printed.

import type { Finished } from "../support/binary.ts"
import type { Machine } from "./machine.ts"

/** Milliseconds for something that systemd does by itself: a restart, an end. */
const PATIENCE = 30_000

export class Story {
  private machine: Machine | null = null

  /** What is told from now on happens here. */
  at(machine: Machine): void {
    this.machine = machine
  }

  /** What a story is told with, each as a function of its own. */
  verbs() {
    return {
      does: this.does.bind(this),
      tries: this.tries.bind(this),
      until: this.until.bind(this),
      property: this.property.bind(this),
      step: this.step.bind(this),
    }
  }

  /** Prints the step with its time, or, when it fails, the journal of the machine. */
  async step(name: string, what: () => Promise<void>): Promise<void> {
    const begin = performance.now()
    try {
      await what()
    } catch (cause) {
      console.error(`  ✗ ${name}\n${await this.journal()}`)
      throw cause
    }
    console.log(`  ✓ ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`)
  }

  /** Runs a line that must succeed, by default as root. The result is what it printed. */
  async does(line: string, user?: string): Promise<string> {
    const { code, stdout, stderr } = await this.tries(line, user)
    if (code !== 0) throw new Error(`${line}\nended with ${code}:\n${stdout}${stderr}`)
    return stdout
  }

  /** Runs a line that may fail. */
  tries(line: string, user?: string): Promise<Finished> {
    if (this.machine === null) throw new Error("the machine is not up yet")
    return this.machine.run(line, user === undefined ? {} : { user })
  }

  /** Waits until a line succeeds. */
  async until(line: string): Promise<void> {
    const deadline = performance.now() + PATIENCE
    for (;;) {
      const { code, stdout, stderr } = await this.tries(line)
      if (code === 0) return
      if (performance.now() > deadline)
        throw new Error(`${line}\nstill ends with ${code}:\n${stdout}${stderr}`)
      await Bun.sleep(100)
    }
  }

  /** A property of the service, as systemd says it. */
  async property(name: string): Promise<string> {
    return (await this.does(`systemctl show --value --property ${name} ipgate.service`)).trim()
  }

  private async journal(): Promise<string> {
    if (this.machine === null) return ""
    const { stdout } = await this.tries(
      "journalctl --no-pager --lines 60; systemctl status --no-pager --lines 0 ipgate.service nginx.service",
    )
    return stdout
  }
}
