// Standard output or standard error, by Bun's own writer: the stream that Node has for it takes a short command longer to
// load than everything else that it does, and its text is lost where the process ends before a slow reader has come.

type Sink = Pick<Bun.FileSink, "write" | "flush" | "end">

/** Writes at once, without waiting for the reader; `end` waits until the reader has everything. */
export class OutputStream {
  private sink: Sink | null = null
  private fault: unknown = null
  private onFault: () => void = () => {}
  /** Fulfilled when the reader has what was written last. */
  private written: Promise<unknown> = Promise.resolve()

  /** `open` is called when there is something to write. */
  constructor(private readonly open: () => Sink) {}

  write(text: string): void {
    if (this.fault !== null) return
    try {
      this.sink ??= this.open()
      // Promises, if the reader is slow or the text is long: what is left is kept, and goes first.
      const steps = [this.sink.write(text), this.sink.flush()]
      this.written = Promise.all(steps).catch((cause) => this.fail(cause))
    } catch (cause) {
      this.fail(cause)
    }
  }

  /**
   * Fulfilled when everything is written, with the reason why something could not be, or `null`. A reader that has
   * gone away has what it wanted, and is no fault.
   */
  async end(): Promise<string | null> {
    try {
      await this.written
      if (this.fault === null) await this.sink?.end()
    } catch (cause) {
      this.fail(cause)
    }
    const code = (this.fault as { code?: unknown } | null)?.code
    if (this.fault === null || code === "EPIPE") return null
    return this.fault instanceof Error ? this.fault.message : String(this.fault)
  }

  /** Calls `handle` when it turns out that nothing more can be written. */
  untilFault(handle: () => void): void {
    this.onFault = handle
    if (this.fault !== null) handle()
  }

  private fail(cause: unknown): void {
    const isFirst = this.fault === null
    this.fault ??= cause
    if (isFirst) this.onFault()
  }
}
