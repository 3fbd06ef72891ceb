// The forms of a line: for the journal, for a terminal, and for programs. Text of others is escaped in each.

import { printable, printableJson } from "../core/printable.ts"
import { type LogLevel, PRIORITIES } from "./log-levels.ts"

export type LogRecord = {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export const LOG_FORMAT_NAMES = ["journal", "text", "json"] as const

export type LogFormat = (typeof LOG_FORMAT_NAMES)[number]

/** One line without its line feed, whatever the record holds. */
export const LOG_FORMATS: Readonly<Record<LogFormat, (record: LogRecord) => string>> = {
  // sd-daemon(3): the journal reads the priority from the line, and has the time itself.
  journal: ({ level, message, fields }) => `<${PRIORITIES[level]}>${worded([message], fields)}`,
  text: ({ at, level, message, fields }) =>
    worded([new Date(at).toISOString(), " ", level, " ", message], fields),
  // Told as one value: text by text, a line would cost three times as much.
  json: ({ at, level, message, fields }) => {
    const line: Record<string, unknown> = {
      time: new Date(at).toISOString(),
      level,
      msg: message,
      event: fields.event,
    }
    for (const name in fields) line[name] = plain(fields[name])
    return printableJson(JSON.stringify(line))
  },
}

/** The words, and after them ` name=value` for each field. Put together once: each `+` would leave a text behind. */
function worded(words: string[], fields: LogRecord["fields"]): string {
  for (const name in fields) if (isTold(name, fields)) words.push(" ", name, "=", shown(fields[name]))
  return printable(words.join(""))
}

/** The name of an event has its own place for programs; people have the message. */
function isTold(name: string, fields: LogRecord["fields"]): boolean {
  return name !== "event" && fields[name] !== undefined
}

/** The value as it is, if JSON has it, and else what can be shown of it. */
function plain(value: unknown): unknown {
  const isPlain = typeof value === "string" || typeof value === "number" || value === undefined
  return isPlain ? value : JSON.parse(shown(value))
}

// Whatever it is: the log is written where something has gone wrong already, and must not fail in its turn.
function shown(value: unknown): string {
  try {
    const json = JSON.stringify(value instanceof Error ? (value.stack ?? value.message) : value)
    return json ?? JSON.stringify(String(value))
  } catch {
    return typeof value === "bigint" ? String(value) : '"(cannot be shown)"'
  }
}
