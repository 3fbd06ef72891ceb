// Text for a pipe, a socket or a file, by Bun's own writer. Node's stream for standard error would go on top of it, makes
// the same system calls, and is some four thousand objects that every full collection of garbage goes through.

import type { WriteAsync } from "./bounded-writer.ts"

type Sink = Pick<Bun.FileSink, "write" | "flush">

/**
 * Passes each text to a sink, which keeps the rest for a reader that is slow. Throws what the sink throws: a reader that
 * is gone, a disk that is full. The next text is tried all the same. `open` is called for the first one.
 */
export function throughSink(open: () => Sink): WriteAsync {
  let sink: Sink | null = null
  return (text, done) => {
    sink ??= open()
    const written = sink.write(text)
    const flushed = sink.flush()
    if (typeof written === "number" && typeof flushed === "number") done()
    else void Promise.all([written, flushed]).then(done, done)
  }
}
