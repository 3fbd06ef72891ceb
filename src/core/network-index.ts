// The index: which of the stored networks contain an address. It cannot fail, and it knows nothing of lists or time.

import type { Address, Family } from "./address.ts"
import type { Network } from "./network.ts"
import { ABSENT, PrefixTable } from "./prefix-table.ts"

/**
 * Networks of both families, each with a value: a signed 32-bit integer other than 0. A question costs one look-up
 * for each prefix length in use, whatever the number of networks. The families never meet: `::/0` contains no IPv4
 * address, and a mapped address has become IPv4 before it comes here.
 */
export class NetworkIndex {
  private readonly ipv4 = new FamilyIndex(4)
  private readonly ipv6 = new FamilyIndex(6)

  /** The value of exactly this network, or 0. */
  get(network: Network): number {
    return this.of(network.family).get(network)
  }

  set(network: Network, value: number): void {
    this.of(network.family).set(network, value)
  }

  delete(network: Network): void {
    this.of(network.family).delete(network)
  }

  /** True if `accepts` is true for the value of any network that contains the address. */
  some(address: Address, accepts: (value: number) => boolean): boolean {
    return this.of(address.family).some(address, accepts)
  }

  /** The values of all networks that contain all of `network`, the narrowest first. */
  covering(network: Network): Array<{ length: number; value: number }> {
    return this.of(network.family).covering(network)
  }

  /** Bytes of memory in the tables. */
  get bytes(): number {
    return this.ipv4.bytes + this.ipv6.bytes
  }

  private of(family: Family): FamilyIndex {
    return family === 4 ? this.ipv4 : this.ipv6
  }
}

class FamilyIndex {
  private readonly table: PrefixTable
  /** How many networks there are of each prefix length. */
  private readonly counts: number[]
  /** The lengths in use, the longest first. */
  private lengths: number[] = []

  constructor(family: Family) {
    this.table = new PrefixTable(family === 4 ? 1 : 4)
    this.counts = new Array(family === 4 ? 33 : 129).fill(0)
  }

  get bytes(): number {
    return this.table.bytes
  }

  get(network: Network): number {
    return this.look(network.address, network.length)
  }

  set(network: Network, value: number): void {
    const { address, length } = network
    if (this.look(address, length) === ABSENT) this.count(length, 1)
    this.table.set(address.word0 | 0, address.word1 | 0, address.word2 | 0, address.word3 | 0, length, value)
  }

  delete(network: Network): void {
    const { address, length } = network
    if (this.look(address, length) === ABSENT) return
    this.count(length, -1)
    this.table.delete(address.word0 | 0, address.word1 | 0, address.word2 | 0, address.word3 | 0, length)
  }

  some(address: Address, accepts: (value: number) => boolean): boolean {
    const { lengths } = this
    for (let i = 0; i < lengths.length; i++) {
      const value = this.look(address, lengths[i] as number)
      if (value !== ABSENT && accepts(value)) return true
    }
    return false
  }

  covering(network: Network): Array<{ length: number; value: number }> {
    return this.lengths
      .filter((length) => length <= network.length)
      .map((length) => ({ length, value: this.look(network.address, length) }))
      .filter(({ value }) => value !== ABSENT)
  }

  private look(address: Address, length: number): number {
    return this.table.get(
      maskWord(address.word0, length),
      maskWord(address.word1, length - 32),
      maskWord(address.word2, length - 64),
      maskWord(address.word3, length - 96),
      length,
    )
  }

  private count(length: number, step: 1 | -1): void {
    const before = this.counts[length] as number
    this.counts[length] = before + step
    if (before !== 0 && before + step !== 0) return
    this.lengths = this.counts.flatMap((count, used) => (count > 0 ? [used] : [])).reverse()
  }
}

// Signed, as the table holds its words. A shift takes its count modulo 32, so the two ends need a branch of their own.
function maskWord(word: number, bits: number): number {
  if (bits >= 32) return word | 0
  return bits <= 0 ? 0 : word & (-1 << (32 - bits))
}
