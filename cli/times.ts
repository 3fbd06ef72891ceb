// Times and lifetimes on the command line, in both directions.

import { explainDay } from "../src/core/calendar-day.ts"
import { parseDuration, roughDuration } from "../src/core/duration.ts"
import { isTtl, LONGEST_TTL_SECONDS } from "../src/core/entry.ts"
import { quoted } from "../src/core/printable.ts"
import { UsageError } from "./exit.ts"

const DURATION_HINT = "use 90s, 30m, 8h, 1h30m, 7d or 2w; a bare number is seconds"
const MOMENT_HINT = "use 2026-11-21T18:00:00Z, 2026-11-21 18:00 or 18:00"

/** Seconds of a `--ttl`. */
export function readTtl(text: string): number {
  const seconds = parseDuration(text)
  if (seconds === null) throw new UsageError(`${quoted(text)} is no duration`, DURATION_HINT)
  return inRange(seconds)
}

/** Seconds from `now` until a moment: `2026-11-21T18:00:00Z`, `2026-11-21 18:00` (local time), or `18:00` today. */
export function readUntil(text: string, now: number, option = "--until"): number {
  const moment = readMoment(text, now)
  if (moment <= now) throw new UsageError(`${option} ${text} is in the past`)
  return inRange(Math.ceil((moment - now) / 1000))
}

/** The moment, in milliseconds, of a `--since`: a time, or a duration that counts back from `now`. */
export function readSince(text: string, now: number): number {
  const seconds = parseDuration(text)
  return seconds === null
    ? readMoment(text, now, `${MOMENT_HINT}; or 4h, for the last four hours`)
    : now - seconds * 1000
}

/** Seconds of another duration, such as `--wait`. */
export function readDuration(text: string): number {
  const seconds = parseDuration(text)
  if (seconds === null) throw new UsageError(`${quoted(text)} is no duration`, DURATION_HINT)
  return seconds
}

/** `2026-11-21T21:05:02Z` */
export function shortTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z")
}

/** What is left until a moment: `7h41m`. */
export function remaining(until: number, now: number): string {
  return roughDuration(Math.max(0, Math.ceil((until - now) / 1000)))
}

/** How long a moment is past: `41m ago`. */
export function ago(moment: number, now: number): string {
  return `${roughDuration(Math.max(0, Math.floor((now - moment) / 1000)))} ago`
}

function readMoment(text: string, now: number, hint = MOMENT_HINT): number {
  const time = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text)
  if (time !== null) return new Date(now).setHours(Number(time[1]), Number(time[2]), 0, 0)
  const moment = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text)
    ? Date.parse(text.length === 10 ? `${text}T00:00` : text.replace(" ", "T"))
    : Number.NaN
  if (Number.isNaN(moment) || explainDay(text) !== null) {
    throw new UsageError(`${quoted(text)} is no time`, hint)
  }
  return moment
}

function inRange(seconds: number): number {
  if (!isTtl(seconds)) throw new UsageError(`a lifetime is 1 s to ten years (${LONGEST_TTL_SECONDS} s)`)
  return seconds
}
