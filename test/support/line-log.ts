// A log for tests: in the form for people, to whatever the test collects it with.

import type { Clock } from "../../src/core/clock.ts"
import { LevelledLog } from "../../src/log/log.ts"

/** Lines such as `2026-11-21T13:05:02.000Z warn message key=value`. */
export function lineLog(write: (line: string) => void, clock: Clock): LevelledLog {
  return new LevelledLog({ format: "text", level: "info", write, clock })
}
