// Small arrays of one size in flat memory, which the garbage collector never walks and which growing never moves.

/** Places of the first piece, as a power of two. */
const FIRST_BITS = 12

/**
 * Gives out places, each for `stride` signed 32-bit integers, and takes them back. They lie in pieces, each as large as
 * all before it together: so there are few pieces, and to find one costs next to nothing. Place 0 is never given out.
 */
export class FlatPool {
  private readonly pieces: Int32Array[] = []
  /** The next place that was never given out, and the first of those that have come back. */
  private next = 1
  private free = 0

  constructor(
    private readonly stride: number,
    /** How many places there can be. */
    private readonly most: number,
  ) {}

  /** Bytes of the pieces, filled or not. */
  get bytes(): number {
    return this.pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** The piece that holds a place, at `offsetOf` the place. */
  pieceWith(place: number): Int32Array {
    return this.pieces[pieceOf(place)] as Int32Array
  }

  offsetOf(place: number): number {
    const piece = pieceOf(place)
    return (piece === 0 ? place : place ^ (1 << (FIRST_BITS + piece - 1))) * this.stride
  }

  /** A place filled with zeros. Throws `RangeError` if there is none left. */
  take(): number {
    const place = this.free
    if (place !== 0) {
      const piece = this.pieceWith(place)
      const at = this.offsetOf(place)
      this.free = piece[at] as number
      piece[at] = 0
      return place
    }
    if (this.next >= this.most) throw new RangeError(`there are only ${this.most} places`)
    if (pieceOf(this.next) === this.pieces.length) {
      const bits = FIRST_BITS + Math.max(0, this.pieces.length - 1)
      this.pieces.push(new Int32Array((1 << bits) * this.stride))
    }
    return this.next++
  }

  giveBack(place: number): void {
    const piece = this.pieceWith(place)
    const at = this.offsetOf(place)
    piece.fill(0, at, at + this.stride)
    piece[at] = this.free
    this.free = place
  }
}

function pieceOf(place: number): number {
  return 32 - Math.clz32(place >>> FIRST_BITS)
}
