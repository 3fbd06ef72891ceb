// The signals that ask the bench to end, each time they come.

import { readFileSync } from "node:fs"
import { constants } from "node:os"

const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const

/**
 * `end` is told the exit code, at the first signal and at every further one: whoever presses Ctrl-C twice must not end
 * the process in the middle of its cleaning. A hangup that is ignored from the start, as by nohup, stays ignored.
 */
export function onEndSignals(end: (code: number, signal: string) => void): void {
  for (const signal of SIGNALS) {
    if (signal === "SIGHUP" && isHangupIgnored()) continue
    process.on(signal, () => end(128 + constants.signals[signal], signal))
  }
}

function isHangupIgnored(): boolean {
  const [, mask = "0"] = /^SigIgn:\s+([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? []
  return (BigInt(`0x${mask}`) & (1n << BigInt(constants.signals.SIGHUP - 1))) !== 0n
}
