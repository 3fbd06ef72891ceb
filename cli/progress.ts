// A line on a terminal that says how far a long command is. Never on a pipe, and never in what a program reads.

import type { GlobalOptions, ProcessEnv } from "./command-env.ts"

const INTERVAL = 1_000

export class Progress {
  private readonly visible: boolean

  constructor(
    private readonly process: ProcessEnv,
    { quiet, json }: GlobalOptions,
  ) {
    this.visible = process.isTerminal && !quiet && !json
  }

  /** Shows `text` in place of what was shown before. */
  show(text: string): void {
    if (this.visible) this.process.writeError(`\r\x1b[K${text}`)
  }

  clear(): void {
    if (this.visible) this.process.writeError("\r\x1b[K")
  }

  /** Shows `text` and the seconds that have passed until `work` is done. */
  async during<T>(work: Promise<T>, text: string): Promise<T> {
    const start = this.process.clock.mono()
    this.show(`${text}…`)
    const timer = setInterval(
      () => this.show(`${text}… ${Math.round((this.process.clock.mono() - start) / 1000)} s`),
      INTERVAL,
    )
    try {
      return await work
    } finally {
      clearInterval(timer)
      this.clear()
    }
  }
}
