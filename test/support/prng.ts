// Random numbers that can be had again: the seed is in the message of a failure, and TEST_SEED brings it back.

export class Prng {
  constructor(private state: number) {}

  /** 32 random bits as an unsigned integer (mulberry32). */
  word(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor((this.word() / 2 ** 32) * limit)
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }

  /** A string of `count` zeros and ones. */
  bits(count: number): string {
    let bits = ""
    while (bits.length < count) bits += this.word().toString(2).padStart(32, "0")
    return bits.slice(0, count)
  }

  /** A copy in random order. */
  shuffled<Item>(items: readonly Item[]): Item[] {
    const copy = [...items]
    for (let last = copy.length - 1; last > 0; last--) {
      const other = this.below(last + 1)
      const item = copy[last] as Item
      copy[last] = copy[other] as Item
      copy[other] = item
    }
    return copy
  }
}

/** A test body that gets random numbers, with another seed in each run. */
export function seeded(body: (random: Prng) => void): () => void {
  return () => {
    const { TEST_SEED } = process.env
    const seed = Number(TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
    try {
      body(new Prng(seed))
    } catch (cause) {
      const what = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`with TEST_SEED=${seed}: ${what}`, { cause })
    }
  }
}
