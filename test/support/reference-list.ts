// The slow twin of the index: what contains an address is found by a walk over every row of its family.

import type { Address } from "../../src/core/address.ts"
import type { Network } from "../../src/core/network.ts"

export type ReferenceRow<Value> = { readonly network: Network; readonly value: Value }

/**
 * Networks with values. A network contains an address if the bits of the address start with the bits of the network,
 * so prefixes are strings of zeros and ones here.
 */
export class ReferenceList<Value> {
  private readonly rows = {
    4: new Map<string, ReferenceRow<Value>>(),
    6: new Map<string, ReferenceRow<Value>>(),
  }

  get size(): number {
    return this.rows[4].size + this.rows[6].size
  }

  get(network: Network): Value | undefined {
    return this.rows[network.family].get(prefixOf(network))?.value
  }

  set(network: Network, value: Value): void {
    this.rows[network.family].set(prefixOf(network), { network, value })
  }

  delete(network: Network): void {
    this.rows[network.family].delete(prefixOf(network))
  }

  /** The rows that contain all of `network`, the narrowest first. */
  covering(network: Network): Array<ReferenceRow<Value>> {
    const asked = prefixOf(network)
    const found: Array<ReferenceRow<Value>> = []
    this.rows[network.family].forEach((row, prefix) => {
      if (asked.startsWith(prefix)) found.push(row)
    })
    return found.sort((a, b) => b.network.length - a.network.length)
  }

  all(): Array<ReferenceRow<Value>> {
    return [...this.rows[4].values(), ...this.rows[6].values()]
  }
}

/** All bits of an address, the first one first. */
export function bitsOf({ family, word0, word1, word2, word3 }: Address): string {
  const words = family === 4 ? [word0] : [word0, word1, word2, word3]
  return words.map((word) => word.toString(2).padStart(32, "0")).join("")
}

function prefixOf({ address, length }: Network): string {
  return bitsOf(address).slice(0, length)
}
