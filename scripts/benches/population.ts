// Networks by the million, and addresses of which it is known, without asking an index, whether one contains them.

import { Address, type Family } from "../../src/core/address.ts"
import { Network } from "../../src/core/network.ts"
import { Prng } from "../../test/support/prng.ts"

/**
 * The address space is cut into levels of so many bits. A network whose length ends in a level has the level's first
 * bit set, and the first bit of each level between the top and that one clear. So an address with all of those bits
 * clear is in no network, however close it lies to one.
 */
const LEVEL: Readonly<Record<Family, number>> = { 4: 8, 6: 16 }
const LONGEST: Readonly<Record<Family, number>> = { 4: 32, 6: 128 }

/** IPv4 networks lie in 16.0.0.0 to 63.255.255.255. */
const OCTETS = { first: 16, count: 48 }
/** IPv6 networks lie in 2a00::/12, in this many blocks of /32: clustered, as real allocations are. */
const BLOCKS = { first: 0x2a00, count: 16, each: 1_000 }
const TRIES = 4

export class Population {
  readonly networks: Network[] = []
  /** Those near which a stranger can be found. */
  private readonly deep: Network[] = []
  /** Lengths of which hardly any prefix is left. */
  private readonly full = new Set<number>()
  private readonly random: Prng
  /** The address that is being made. */
  private readonly words = new Uint32Array(4)

  /** `lengths` are the prefix lengths that take turns; where one has no room left the next longer one steps in. */
  constructor(
    readonly family: Family,
    lengths: readonly number[],
    count: number,
    seed = 1,
  ) {
    this.random = new Prng(seed)
    const taken = new Set<number | string>()
    const shortestFirst = [...new Set(lengths)].sort((a, b) => a - b)
    // Fewer networks than lengths: then the lengths are spread over all that there are.
    const step = Math.max(1, Math.floor(lengths.length / count))
    for (let i = 0; this.networks.length < count; i++) {
      const network = this.draw(lengths[(i * step) % lengths.length] as number, shortestFirst, taken)
      if (network === null) continue
      this.networks.push(network)
      if (network.length > LEVEL[family]) this.deep.push(network)
    }
  }

  /** An address in one of the networks: another network for each `i`. */
  hit(i: number): Address {
    const { address, length } = this.networks[i % this.networks.length] as Network
    this.randomWords()
    this.copyBits(address, length)
    return this.address()
  }

  /** An address far from every network. */
  far(): Address {
    this.randomWords()
    const [word = 0] = this.words
    this.words[0] = this.family === 4 ? 0x40000000 | (word >>> 2) : 0x30000000 | (word >>> 4)
    return this.address()
  }

  /** An address in no network, though it shares all levels above with one. */
  miss(i: number): Address {
    const { address, length } = this.deep[i % this.deep.length] as Network
    const step = LEVEL[this.family]
    const base = Math.floor((length - 1) / step) * step
    this.randomWords()
    this.copyBits(address, base)
    for (let guard = base; guard < LONGEST[this.family]; guard += step) this.setBit(guard, 0)
    return this.address()
  }

  private draw(wanted: number, lengths: readonly number[], taken: Set<number | string>): Network | null {
    for (const length of lengths) {
      if (length < wanted || this.full.has(length)) continue
      for (let attempt = 0; attempt < TRIES; attempt++) {
        this.drawWords(length)
        const network = Network.from(this.address().masked(length), length)
        if (network === null) continue
        const { word0, word1, word2, word3 } = network.address
        const key = this.family === 4 ? word0 * 64 + length : `${word0}.${word1}.${word2}.${word3}/${length}`
        if (taken.has(key)) continue
        taken.add(key)
        return network
      }
      this.full.add(length)
    }
    return null
  }

  private drawWords(length: number): void {
    const { words, random } = this
    const step = LEVEL[this.family]
    if (length <= step) {
      // One of each: a second short network would leave no room for strangers.
      words.fill(0)
      words[0] = 0x80000000
      return
    }
    this.randomWords()
    if (this.family === 4) {
      words[0] = ((OCTETS.first + random.below(OCTETS.count)) << 24) | ((words[0] as number) & 0xffffff)
    } else {
      const block = length > 32 ? random.below(BLOCKS.each) : random.below(1 << 15)
      words[0] = ((BLOCKS.first + random.below(BLOCKS.count)) << 16) | block
    }
    const base = Math.floor((length - 1) / step) * step
    for (let guard = step; guard < base; guard += step) this.setBit(guard, 0)
    this.setBit(base, 1)
  }

  private randomWords(): void {
    const count = this.family === 4 ? 1 : 4
    for (let word = 0; word < count; word++) this.words[word] = this.random.word()
  }

  private address(): Address {
    const { words } = this
    if (this.family === 4) return Address.ipv4(words[0] as number)
    return Address.ipv6(words[0] as number, words[1] as number, words[2] as number, words[3] as number)
  }

  private setBit(bit: number, value: 0 | 1): void {
    const mask = 0x80000000 >>> (bit & 31)
    const word = this.words[bit >>> 5] as number
    this.words[bit >>> 5] = value === 1 ? word | mask : word & ~mask
  }

  private copyBits({ word0, word1, word2, word3 }: Address, count: number): void {
    const { words } = this
    words[0] = merged(word0, words[0] as number, count)
    words[1] = merged(word1, words[1] as number, count - 32)
    words[2] = merged(word2, words[2] as number, count - 64)
    words[3] = merged(word3, words[3] as number, count - 96)
  }
}

/** The first `bits` bits of one word, and the rest of another. */
function merged(word: number, rest: number, bits: number): number {
  if (bits <= 0) return rest
  const mask = bits >= 32 ? -1 : -1 << (32 - bits)
  return (word & mask) | (rest & ~mask)
}

/** Numbers below `count` in an order without a pattern. */
export function shuffled(count: number, seed = 7): Uint32Array {
  const random = new Prng(seed)
  const order = Uint32Array.from({ length: count }, (_, i) => i)
  for (let last = count - 1; last > 0; last--) {
    const other = random.below(last + 1)
    const item = order[last] as number
    order[last] = order[other] as number
    order[other] = item
  }
  return order
}
