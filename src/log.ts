// The server's own log: one line an event, to the writer that it is given. Text of others is escaped.

import type { Clock } from "./core/clock.ts"
import { printable } from "./core/printable.ts"

export type LogFields = Readonly<Record<string, unknown>>

export interface Log {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** Lines such as `2026-11-21T13:05:02.000Z warn message key=value`. */
export function lineLog(write: (line: string) => void, clock: Clock): Log {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}) => {
      const parts = [new Date(clock.wall()).toISOString(), level, message]
      for (const [name, value] of Object.entries(fields)) {
        if (value !== undefined) parts.push(`${name}=${shown(value)}`)
      }
      write(`${printable(parts.join(" "))}\n`)
    }
  return { info: at("info"), warn: at("warn"), error: at("error") }
}

// Whatever it is: the log is written where something has gone wrong already, and must not fail in its turn.
function shown(value: unknown): string {
  try {
    return JSON.stringify(value instanceof Error ? (value.stack ?? value.message) : value) ?? String(value)
  } catch {
    return typeof value === "bigint" ? String(value) : '"(cannot be shown)"'
  }
}
