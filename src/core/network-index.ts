// The index: which of the stored networks contain an address. It cannot fail, and it knows nothing of lists or time.

import type { Address, Family } from "./address.ts"
import { maskWord } from "./mask-word.ts"
import type { Network, Prefix } from "./network.ts"
import { ABSENT, PrefixTable } from "./prefix-table.ts"
import { PrefixTrie } from "./prefix-trie.ts"
import type { Words } from "./trie-nodes.ts"

/**
 * Networks of both families, each with a value: a signed 32-bit integer other than 0. A question costs a few look-ups,
 * whatever the number of networks and of prefix lengths in use. The families never meet: `::/0` contains no IPv4
 * address, and a mapped address has become IPv4 before it comes here.
 */
export class NetworkIndex {
  private readonly ipv4 = new FamilyIndex(4)
  private readonly ipv6 = new FamilyIndex(6)

  /** The value of exactly this network, or 0. */
  get(network: Prefix): number {
    return this.of(network.family).get(network, network.length)
  }

  set(network: Prefix, value: number): void {
    this.of(network.family).set(network, value)
  }

  delete(network: Prefix): void {
    this.of(network.family).delete(network)
  }

  /** True if `accepts` is true for the value of any network that contains the address. In no particular order. */
  some(address: Address, accepts: (value: number) => boolean): boolean {
    return this.of(address.family).some(address, accepts)
  }

  /** The values of all networks that contain all of `network`, the narrowest first. */
  covering({ address, length }: Network): Array<{ length: number; value: number }> {
    const index = this.of(address.family)
    const found: Array<{ length: number; value: number }> = []
    for (let shorter = length; shorter >= 0; shorter--) {
      const value = index.get(address, shorter)
      if (value !== ABSENT) found.push({ length: shorter, value })
    }
    return found
  }

  /** Bytes of memory, filled or not. */
  get bytes(): number {
    return this.ipv4.bytes + this.ipv6.bytes
  }

  private of(family: Family): FamilyIndex {
    return family === 4 ? this.ipv4 : this.ipv6
  }
}

/**
 * The prefix lengths that most networks of large lists have. Each that is in use costs a look-up in a hash table, which
 * touches less memory than the way through a trie; all the others together cost that one way.
 */
const COMMON: Readonly<Record<Family, readonly number[]>> = {
  4: [32, 24],
  6: [128, 64, 48],
}

class FamilyIndex {
  private readonly common: readonly number[]
  /** The networks of common lengths, and the other ones. */
  private readonly table: PrefixTable
  private readonly trie: PrefixTrie
  /** How many networks there are of each common length. */
  private readonly counts: number[]
  /** The common lengths in use, the longest first. */
  private inUse: readonly number[] = []

  constructor(family: Family) {
    const words = family === 4 ? 1 : 4
    this.common = COMMON[family]
    this.counts = this.common.map(() => 0)
    this.table = new PrefixTable(words)
    this.trie = new PrefixTrie(words)
  }

  get bytes(): number {
    return this.table.bytes + this.trie.bytes
  }

  get(words: Words, length: number): number {
    return this.common.includes(length) ? look(this.table, words, length) : this.trie.get(words, length)
  }

  set(prefix: Prefix, value: number): void {
    const { length, word0, word1, word2, word3 } = prefix
    const place = this.common.indexOf(length)
    if (place === -1) {
      this.trie.set(prefix, length, value)
      return
    }
    const before = this.table.set(word0 | 0, word1 | 0, word2 | 0, word3 | 0, length, value)
    if (before === ABSENT) this.count(place, 1)
  }

  delete(prefix: Prefix): void {
    const { length, word0, word1, word2, word3 } = prefix
    const place = this.common.indexOf(length)
    if (place === -1) {
      this.trie.delete(prefix, length)
      return
    }
    const before = this.table.delete(word0 | 0, word1 | 0, word2 | 0, word3 | 0, length)
    if (before !== ABSENT) this.count(place, -1)
  }

  some(address: Address, accepts: (value: number) => boolean): boolean {
    const { table, inUse, trie } = this
    // The trie first: it is empty or small where most networks have common lengths, and says no to most addresses soon.
    if (trie.some(address, accepts)) return true
    for (let i = 0; i < inUse.length; i++) {
      const value = look(table, address, inUse[i] as number)
      if (value !== ABSENT && accepts(value)) return true
    }
    return false
  }

  private count(place: number, step: 1 | -1): void {
    const before = this.counts[place] as number
    this.counts[place] = before + step
    if (before === 0 || before + step === 0) {
      this.inUse = this.common.filter((_, i) => (this.counts[i] as number) > 0)
    }
  }
}

/** The table holds its words signed. */
function look(table: PrefixTable, { word0, word1, word2, word3 }: Words, length: number): number {
  return table.get(
    maskWord(word0, length),
    maskWord(word1, length - 32),
    maskWord(word2, length - 64),
    maskWord(word3, length - 96),
    length,
  )
}
