// Bytes as they are read, up to a bound: a file may be a device or a pipe that never ends.

const FIRST = 64 * 1024

export class BoundedBytes {
  private buffer = new Uint8Array(FIRST)
  private used = 0

  constructor(private readonly most: number) {}

  /** False, and nothing is kept of `piece`, if that would be more than the bound. */
  add(piece: Uint8Array): boolean {
    const end = this.used + piece.length
    if (end > this.most) return false
    if (end > this.buffer.length) {
      // Moved and not copied, so that no old one is left to the garbage collector.
      const size = Math.max(end, Math.min(this.most, this.buffer.length * 2))
      this.buffer = new Uint8Array(this.buffer.buffer.transfer(size))
    }
    this.buffer.set(piece, this.used)
    this.used = end
    return true
  }

  /** Nothing can be added afterwards. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.buffer.buffer.transfer(this.used))
  }
}
