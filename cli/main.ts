// The edge of the process: arguments, environment and streams go in, an exit code comes out.

import { readFileSync } from "node:fs"
import { systemClock } from "../src/core/clock.ts"
import { run } from "./program.ts"

const code = await run(process.argv.slice(2), {
  environment: process.env,
  userId: process.getuid?.() ?? -1,
  clock: systemClock,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  isTerminal: process.stdout.isTTY === true,
  columns: process.stdout.columns ?? 80,
  readInput: () => Bun.stdin.text(),
  readBytes: async (path) => {
    try {
      return await (path === "-" ? Bun.stdin : Bun.file(path)).bytes()
    } catch {
      return null
    }
  },
  readFile: (path) => {
    try {
      return readFileSync(path, "utf8")
    } catch {
      return null
    }
  },
  sleep: (milliseconds) => Bun.sleep(milliseconds),
  untilSignal: (handle) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => handle(signal))
  },
  exitNow: (code) => process.exit(code),
})
process.exit(code)
