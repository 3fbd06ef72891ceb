// The server's own log: one line an event, in the form that its reader takes, to the writer that it is given.

import type { Clock } from "../core/clock.ts"
import { LOG_FORMATS, type LogFormat } from "./log-formats.ts"
import { LOG_LEVELS, type LogLevel } from "./log-levels.ts"

/** `event` is the name of the event for programs: `list.add`, `config.reload`. A field that is `undefined` is left out. */
export type LogFields = Readonly<Record<string, unknown>>

type Write = (message: string, fields?: LogFields) => void

/** Never throws. A token or an Authorization header never goes into it. */
export interface Log {
  readonly debug: Write
  readonly info: Write
  /** What an administrator looks for later: a change of the lists. */
  readonly notice: Write
  readonly warn: Write
  readonly error: Write
}

export type LogOptions = {
  readonly format: LogFormat
  readonly level: LogLevel
  /** Takes a whole line with its line feed. */
  readonly write: (line: string) => void
  readonly clock: Clock
}

/** A log whose level can be changed while it is in use. */
export class LevelledLog implements Log {
  readonly debug = this.writer("debug")
  readonly info = this.writer("info")
  readonly notice = this.writer("notice")
  readonly warn = this.writer("warn")
  readonly error = this.writer("error")
  private least: number

  constructor(private readonly options: LogOptions) {
    this.least = LOG_LEVELS.indexOf(options.level)
  }

  /** Lines below this level are left out from now on. */
  setLevel(level: LogLevel): void {
    this.least = LOG_LEVELS.indexOf(level)
  }

  private writer(level: LogLevel): Write {
    const rank = LOG_LEVELS.indexOf(level)
    return (message, fields = {}) => {
      if (rank < this.least) return
      const { format, write, clock } = this.options
      write(`${LOG_FORMATS[format]({ at: clock.wall(), level, message, fields })}\n`)
    }
  }
}
