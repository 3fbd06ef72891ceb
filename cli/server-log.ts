// The log of `serve`: in the form that its reader takes, and never waited for.

import type { Config } from "../src/config/config.ts"
import { boundedWriter } from "../src/log/bounded-writer.ts"
import { LevelledLog } from "../src/log/log.ts"
import { LOG_FORMATS } from "../src/log/log-formats.ts"
import { writtenTogether } from "../src/log/written-together.ts"
import type { ProcessEnv } from "./command-env.ts"

/** Milliseconds that a stopping server gives the reader of its last lines. */
const LAST_LINES = 1_000

export function serverLog(
  { logTo, logFormat, clock, sleep }: ProcessEnv,
  { logFormat: wanted, logLevel }: Pick<Config, "logFormat" | "logLevel">,
): { log: LevelledLog; flush: () => Promise<unknown> } {
  const format = wanted === "auto" ? logFormat() : wanted
  const lost = (lines: number) => {
    const message = `the reader of the log was too slow: ${lines} lines are lost`
    const fields = { event: "log.lost", lines }
    return `${LOG_FORMATS[format]({ at: clock.wall(), level: "warn", message, fields })}\n`
  }
  const { write, drained } = boundedWriter(writtenTogether(logTo), lost)
  return {
    log: new LevelledLog({ format, level: logLevel, write, clock }),
    flush: () => Promise.race([drained(), sleep(LAST_LINES)]),
  }
}
