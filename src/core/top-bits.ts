// What the first 16 bits of an address say about the networks around it: two flat columns, one place for each value.

/** A network of this length or a shorter one is told exactly; of longer ones there is only the number. */
export const TOP_BITS = 16

const PLACES = 1 << TOP_BITS

/** Counts networks of one family. Length 0 is not for it: that network contains everything. */
export class TopBits {
  /** Bit `length - 1` says that a network of this length contains the place. */
  private readonly shorts = new Uint16Array(PLACES)
  /** How many networks longer than 16 bits there are below the place. */
  private readonly longs = new Uint32Array(PLACES)

  get bytes(): number {
    return this.shorts.byteLength + this.longs.byteLength
  }

  /** Of the network that begins with this word. Each is added once before it is removed. */
  add(word0: number, length: number): void {
    const place = word0 >>> (32 - TOP_BITS)
    if (length > TOP_BITS) this.longs[place] = (this.longs[place] as number) + 1
    else this.mark(place, length, true)
  }

  remove(word0: number, length: number): void {
    const place = word0 >>> (32 - TOP_BITS)
    if (length > TOP_BITS) this.longs[place] = (this.longs[place] as number) - 1
    else this.mark(place, length, false)
  }

  /** The lengths of 1 to 16 bits, as a bit for each, at which a network contains the address. */
  shortsAt(word0: number): number {
    return this.shorts[word0 >>> (32 - TOP_BITS)] as number
  }

  /** True if a network longer than 16 bits may contain the address. */
  hasLongsAt(word0: number): boolean {
    return this.longs[word0 >>> (32 - TOP_BITS)] !== 0
  }

  private mark(first: number, length: number, isThere: boolean): void {
    const bit = 1 << (length - 1)
    const end = first + (1 << (TOP_BITS - length))
    for (let place = first; place < end; place++) {
      const before = this.shorts[place] as number
      this.shorts[place] = isThere ? before | bit : before & ~bit
    }
  }
}
