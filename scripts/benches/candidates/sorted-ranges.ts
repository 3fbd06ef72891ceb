// Candidate for the index: sorted ranges that do not overlap, searched by halves. It only knows whether, and not which.

import type { Address, Family } from "../../../src/core/address.ts"
import type { Network } from "../../../src/core/network.ts"

/**
 * Built at once from all networks: a later change would move half of the array, and where networks overlap one could
 * not be taken away again without asking the others. An answer for each network would need more than this.
 */
export class SortedRanges {
  private readonly ipv4: Ranges
  private readonly ipv6: Ranges

  constructor(networks: readonly Network[]) {
    const of = (family: Family) => networks.filter((network) => network.family === family)
    this.ipv4 = new Ranges(1, of(4))
    this.ipv6 = new Ranges(4, of(6))
  }

  get bytes(): number {
    return this.ipv4.bytes + this.ipv6.bytes
  }

  some(address: Address, accepts: (value: number) => boolean): boolean {
    return (address.family === 4 ? this.ipv4 : this.ipv6).contains(address) && accepts(1)
  }
}

class Ranges {
  /** Words of the first addresses, and of the last ones. */
  private readonly first: Uint32Array
  private readonly last: Uint32Array

  constructor(
    private readonly words: 1 | 4,
    networks: readonly Network[],
  ) {
    const kept: Network[] = []
    for (const network of networks.toSorted(compare)) {
      const previous = kept.at(-1)
      if (previous === undefined || !previous.contains(network)) kept.push(network)
    }
    this.first = new Uint32Array(kept.length * words)
    this.last = new Uint32Array(kept.length * words)
    kept.forEach(({ address, length }, i) => {
      wordsOf(address, words).forEach((word, at) => {
        const bits = Math.min(32, Math.max(0, length - at * 32))
        this.first[i * words + at] = word
        this.last[i * words + at] = bits === 32 ? word : (word | (0xffffffff >>> bits)) >>> 0
      })
    })
  }

  get bytes(): number {
    return this.first.byteLength + this.last.byteLength
  }

  contains(address: Address): boolean {
    let low = 0
    let high = this.first.length / this.words - 1
    while (low <= high) {
      const middle = (low + high) >>> 1
      if (this.order(this.first, middle, address) > 0) high = middle - 1
      else if (this.order(this.last, middle, address) < 0) low = middle + 1
      else return true
    }
    return false
  }

  /** Below, at or above 0: the end of a range against the address. */
  private order(ends: Uint32Array, i: number, { word0, word1, word2, word3 }: Address): number {
    if (this.words === 1) return (ends[i] as number) - word0
    const at = i * 4
    return (
      (ends[at] as number) - word0 ||
      (ends[at + 1] as number) - word1 ||
      (ends[at + 2] as number) - word2 ||
      (ends[at + 3] as number) - word3
    )
  }
}

/** By the first address, and where that is the same the widest first. */
function compare({ address: a, length }: Network, { address: b, length: other }: Network): number {
  return a.word0 - b.word0 || a.word1 - b.word1 || a.word2 - b.word2 || a.word3 - b.word3 || length - other
}

function wordsOf({ word0, word1, word2, word3 }: Address, words: 1 | 4): number[] {
  return words === 1 ? [word0] : [word0, word1, word2, word3]
}
