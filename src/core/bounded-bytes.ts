// Bytes as they come, up to a bound: nobody says how many there will be, and they may never end.

/** Bytes that are made ready at first; they double when they are full. */
const FIRST = 16 * 1024

/** Each piece is copied as it comes: kept one by one, pieces of a byte would each cost a hundred times as much. */
export class BoundedBytes {
  private buffer: Uint8Array<ArrayBuffer>
  private used = 0

  constructor(private readonly most: number) {
    this.buffer = new Uint8Array(Math.min(most, FIRST))
  }

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

  /** All of them, with nothing else in their buffer. Nothing can be added afterwards. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.buffer.buffer.transfer(this.used))
  }
}
