// The edge of the process: arguments, environment and streams go in, an exit code comes out.

import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync, write } from "node:fs"
import { BoundedBytes } from "../src/core/bounded-bytes.ts"
import { systemClock } from "../src/core/clock.ts"
import { inTurn, type WriteAsync } from "../src/log/bounded-writer.ts"
import { formatFor } from "../src/log/log-stream.ts"
import { throughSink } from "../src/log/through-sink.ts"
import { EXIT } from "./exit.ts"
import { OutputStream } from "./output-stream.ts"
import { run } from "./program.ts"

// This program talks to its own server only. A proxy of the environment would get the token.
process.env.NO_PROXY = "*"
process.env.no_proxy = "*"

const ENDING_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const

// Bun writes to a terminal on this thread, and one that has been stopped (Ctrl-S) would stop the server.
const writeToTerminal = inTurn((text, done) => write(2, text, () => done()))
// One for the log and for what a command says there: two would not keep the order before a slow reader.
let errorSink: Bun.FileSink | null = null
const standardError = () => {
  errorSink ??= Bun.stderr.writer()
  return errorSink
}
const writeToReader = throughSink(standardError)
let writeLog: WriteAsync | null = null

const out = new OutputStream(() => Bun.stdout.writer())
const errors = new OutputStream(standardError)
let code = await run(process.argv.slice(2), {
  environment: process.env,
  userId: process.getuid?.() ?? -1,
  processId: process.pid,
  get processors() {
    return navigator.hardwareConcurrency
  },
  clock: systemClock,
  write: (text) => out.write(text),
  untilUnwritable: (handle) => out.untilFault(handle),
  writeError: (text) => errors.write(text),
  logTo: (text, done) => {
    writeLog ??= errorsGoToTerminal() ? writeToTerminal : writeToReader
    writeLog(text, done)
  },
  logFormat: () =>
    formatFor({
      isTerminal: errorsGoToTerminal(),
      journalStream: process.env.JOURNAL_STREAM,
      file: orNull(() => fstatSync(2, { bigint: true })),
    }),
  // Asked for by few: Node's stream for the output takes long to load.
  get isTerminal() {
    return process.stdout.isTTY === true
  },
  get columns() {
    return process.stdout.columns ?? 80
  },
  readInput: () => Bun.stdin.text(),
  readBytes: async (path, most) => {
    const held = new BoundedBytes(most)
    try {
      for await (const piece of path === "-" ? Bun.stdin.stream() : piecesOf(path)) {
        if (!held.add(piece)) return "too large"
      }
    } catch {
      return null
    }
    return held.bytes()
  },
  readFile: (path) => orNull(() => readFileSync(path, "utf8")),
  isPipe: (path) => orNull(() => statSync(path).isFIFO()) ?? false,
  isSocket: (path) => orNull(() => statSync(path).isSocket()) ?? false,
  sleep: (milliseconds) => Bun.sleep(milliseconds),
  untilSignal: (handle) => {
    for (const signal of ENDING_SIGNALS) process.on(signal, () => handle(signal))
  },
  beforeKilled: (tell) => {
    for (const signal of ENDING_SIGNALS) {
      // Without its listener the second one does what the first would have done.
      process.once(signal, () => {
        tell(signal)
        process.kill(process.pid, signal)
      })
    }
  },
  exitNow: (code) => process.exit(code),
  untilFault,
  openTerminal: () => {
    const { stdin, stdout } = process
    if (!stdin.isTTY || !stdout.isTTY || process.env.TERM === "dumb") return null
    // Ink takes DEV=true as a wish for its development tools, which are not here.
    delete process.env.DEV
    return { stdin, stdout, untilCrash: untilFault }
  },
})
// A pipe takes the rest when its reader is ready for it, and exit() alone would not wait for that.
const fault = await out.end()
if (fault !== null) {
  errors.write(`ipgate: the output could not be written: ${fault}\n`)
  if (code === EXIT.done) code = EXIT.failed
}
await errors.end()
process.exit(code)

/** Of anything that has a name: the runtime's stream of a file knows no devices, and nothing of what is in /proc. */
function* piecesOf(path: string): Generator<Uint8Array> {
  const file = openSync(path, "r")
  try {
    const buffer = new Uint8Array(1024 * 1024)
    for (let size = readSync(file, buffer); size > 0; size = readSync(file, buffer)) {
      yield buffer.subarray(0, size)
    }
  } finally {
    closeSync(file)
  }
}

/** Of what is no device this is known without Node's streams, which a server would carry with it for good. */
function errorsGoToTerminal(): boolean {
  const isDevice = orNull(() => fstatSync(2).isCharacterDevice()) ?? false
  return isDevice && process.stderr.isTTY === true
}

function untilFault(handle: (error: unknown) => void): void {
  process.on("uncaughtException", handle)
  process.on("unhandledRejection", handle)
}

function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
