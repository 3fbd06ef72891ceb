// How much a line of the log matters, from least to most.

export const LOG_LEVELS = ["debug", "info", "notice", "warn", "error"] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** The priority of syslog(3) for each level. */
export const PRIORITIES: Readonly<Record<LogLevel, number>> = {
  debug: 7,
  info: 6,
  notice: 5,
  warn: 4,
  error: 3,
}
