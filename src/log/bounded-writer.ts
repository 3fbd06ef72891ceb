// A writer that never waits for its reader: what does not fit is counted and left out.

/** Characters that may wait for a slow reader. */
const LONGEST_BACKLOG = 1024 * 1024

/** Writes without blocking, and calls `done` when the text has gone out or cannot go out. */
export type WriteAsync = (text: string, done: () => void) => void

/**
 * Takes lines and passes them on while at most a mebibyte waits. When the reader is back, `lostLine` says how many
 * lines it has missed.
 */
export function boundedWriter(
  write: WriteAsync,
  lostLine: (lines: number) => string,
): { write: (line: string) => void; drained: () => Promise<void> } {
  let waiting = 0
  let lost = 0
  let whenEmpty: Array<() => void> = []

  const pass = (line: string) => {
    waiting += line.length
    let called = false
    const done = () => {
      if (called) return
      called = true
      waiting -= line.length
      if (lost > 0 && waiting < LONGEST_BACKLOG / 2) {
        const lines = lost
        lost = 0
        pass(lostLine(lines))
      }
      if (waiting > 0) return
      for (const tell of whenEmpty) tell()
      whenEmpty = []
    }
    try {
      write(line, done)
    } catch {
      // A reader that is gone, or a disk that is full: nothing that the gate could do about, or should stop for.
      done()
    }
  }
  return {
    write: (line) => {
      if (waiting + line.length > LONGEST_BACKLOG) lost++
      else pass(line)
    },
    /** Fulfilled when nothing waits any more. */
    drained: () =>
      waiting === 0 ? Promise.resolve() : new Promise((resolve) => whenEmpty.push(() => resolve())),
  }
}

/** The same writer, for one that would not keep the order by itself: each text waits for the one before it. */
export function inTurn(write: WriteAsync): WriteAsync {
  let last = Promise.resolve()
  return (text, done) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = last
    last = promise
    const finish = () => {
      done()
      resolve()
    }
    void before.then(() => write(text, finish))
  }
}
