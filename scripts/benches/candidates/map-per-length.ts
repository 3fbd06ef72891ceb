// Candidate for the index: a JavaScript Map for each prefix length, keyed by a number (IPv4) or a bigint (IPv6).

import type { Address, Family } from "../../../src/core/address.ts"
import type { Network } from "../../../src/core/network.ts"

type Key = number | bigint

export class MapPerLength {
  private readonly ipv4: Array<Map<Key, number> | undefined> = []
  private readonly ipv6: Array<Map<Key, number> | undefined> = []
  private readonly inUse: Record<Family, number[]> = { 4: [], 6: [] }

  set({ address, length }: Network, value: number): void {
    const maps = address.family === 4 ? this.ipv4 : this.ipv6
    let map = maps[length]
    if (map === undefined) {
      map = new Map()
      maps[length] = map
      this.inUse[address.family] = [...this.inUse[address.family], length].sort((a, b) => b - a)
    }
    map.set(keyOf(address, length), value)
  }

  some(address: Address, accepts: (value: number) => boolean): boolean {
    const maps = address.family === 4 ? this.ipv4 : this.ipv6
    for (const length of this.inUse[address.family]) {
      const value = maps[length]?.get(keyOf(address, length))
      if (value !== undefined && accepts(value)) return true
    }
    return false
  }
}

function keyOf({ family, word0, word1, word2, word3 }: Address, length: number): Key {
  if (family === 4) return length === 0 ? 0 : word0 >>> (32 - length)
  const high = (BigInt(word0) << 32n) | BigInt(word1)
  const low = (BigInt(word2) << 32n) | BigInt(word3)
  return ((high << 64n) | low) >> BigInt(128 - length)
}
