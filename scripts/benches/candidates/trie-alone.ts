// Candidate for the index: the product's own trie for every prefix length, without the hash table for common ones.

import type { Address, Family } from "../../../src/core/address.ts"
import type { Network } from "../../../src/core/network.ts"
import { PrefixTrie } from "../../../src/core/prefix-trie.ts"

export class TrieAlone {
  private readonly tries: Readonly<Record<Family, PrefixTrie>> = {
    4: new PrefixTrie(1),
    6: new PrefixTrie(4),
  }

  get bytes(): number {
    return this.tries[4].bytes + this.tries[6].bytes
  }

  set({ address, length }: Network, value: number): void {
    this.tries[address.family].set(address, length, value)
  }

  some(address: Address, accepts: (value: number) => boolean): boolean {
    return this.tries[address.family].some(address, accepts)
  }
}
