// Lines in one growing buffer: a million strings would take ten times the memory.

export class LineBuffer {
  private readonly encoder = new TextEncoder()
  private buffer = new Uint8Array(64 * 1024)
  private used = 0

  add(line: string): void {
    // A UTF-16 unit is at most three bytes of UTF-8. The buffer is moved and not copied, so that no old one is left to
    // the garbage collector, which would take its time.
    if (this.used + line.length * 3 + 1 > this.buffer.length) {
      this.buffer = new Uint8Array(this.buffer.buffer.transfer(this.buffer.length * 2 + line.length * 3))
    }
    this.used += this.encoder.encodeInto(line, this.buffer.subarray(this.used)).written
    this.buffer[this.used++] = 10
  }

  /** Nothing can be added afterwards. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.buffer.buffer.transfer(this.used))
  }
}
