// Candidate for the index: the product's own hash table, asked once for each prefix length in use.

import type { Address, Family } from "../../../src/core/address.ts"
import { maskWord } from "../../../src/core/mask-word.ts"
import type { Network } from "../../../src/core/network.ts"
import { ABSENT, PrefixTable } from "../../../src/core/prefix-table.ts"

export class TablePerLength {
  private readonly tables: Readonly<Record<Family, PrefixTable>> = {
    4: new PrefixTable(1),
    6: new PrefixTable(4),
  }
  private readonly inUse: Record<Family, number[]> = { 4: [], 6: [] }

  get bytes(): number {
    return this.tables[4].bytes + this.tables[6].bytes
  }

  set({ address, length }: Network, value: number): void {
    const { family, word0, word1, word2, word3 } = address
    const lengths = this.inUse[family]
    if (!lengths.includes(length)) this.inUse[family] = [...lengths, length].sort((a, b) => b - a)
    this.tables[family].set(word0 | 0, word1 | 0, word2 | 0, word3 | 0, length, value)
  }

  some({ family, word0, word1, word2, word3 }: Address, accepts: (value: number) => boolean): boolean {
    const table = this.tables[family]
    for (const length of this.inUse[family]) {
      const value = table.get(
        maskWord(word0, length),
        maskWord(word1, length - 32),
        maskWord(word2, length - 64),
        maskWord(word3, length - 96),
        length,
      )
      if (value !== ABSENT && accepts(value)) return true
    }
    return false
  }
}
