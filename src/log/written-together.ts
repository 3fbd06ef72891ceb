// Lines that are told in one go leave in one write: a system call costs more than the line that it takes away.

import type { WriteAsync } from "./bounded-writer.ts"

/** Collects texts until whoever writes them lets go of the processor, and passes them on as one, in their order. */
export function writtenTogether(write: WriteAsync): WriteAsync {
  let texts = ""
  let waiting: Array<() => void> = []
  const pass = () => {
    const text = texts
    const dones = waiting
    texts = ""
    waiting = []
    const done = () => {
      for (const one of dones) one()
    }
    try {
      write(text, done)
    } catch {
      // A reader that is gone: as for a single line, there is nothing to wait for.
      done()
    }
  }
  return (text, done) => {
    if (waiting.length === 0) queueMicrotask(pass)
    texts += text
    waiting.push(done)
  }
}
