// Who was just refused: a bounded memory of addresses, so that an administrator can let one in.

import { Address } from "./address.ts"
import type { Clock } from "./clock.ts"
import { TabulationHash } from "./tabulation-hash.ts"

/** Addresses that are remembered, in sets of so many that may take each other's place. */
const SETS = 1024
const WAYS = 4

/** `firstAt` and `lastAt` are milliseconds since 1970. */
export type RefusedClient = {
  readonly address: Address
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
}

/**
 * The last few thousand addresses that were refused. Every address has four places where it can stand; a new one
 * takes the place of the one that was refused longest ago. So a flood of strangers costs neither memory nor more than
 * a few comparisons each: about 200 KB, whatever comes.
 */
export class RefusedClients {
  private readonly hash = new TabulationHash(4)
  private readonly families = new Uint8Array(SETS * WAYS)
  private readonly words = new Uint32Array(SETS * WAYS * 4)
  private readonly counts = new Float64Array(SETS * WAYS)
  private readonly firstAt = new Float64Array(SETS * WAYS)
  private readonly lastAt = new Float64Array(SETS * WAYS)

  constructor(private readonly clock: Clock) {}

  see(address: Address): void {
    const now = this.clock.wall()
    const place = this.placeOf(address)
    if (this.holds(place, address)) {
      this.counts[place] = (this.counts[place] as number) + 1
    } else {
      this.families[place] = address.family
      this.words[place * 4] = address.word0
      this.words[place * 4 + 1] = address.word1
      this.words[place * 4 + 2] = address.word2
      this.words[place * 4 + 3] = address.word3
      this.counts[place] = 1
      this.firstAt[place] = now
    }
    this.lastAt[place] = now
  }

  /** All that are remembered, the last refused first. */
  list(): RefusedClient[] {
    const found: RefusedClient[] = []
    for (let place = 0; place < this.families.length; place++) {
      if (this.families[place] === 0) continue
      found.push({
        address: this.addressAt(place),
        count: this.counts[place] as number,
        firstAt: this.firstAt[place] as number,
        lastAt: this.lastAt[place] as number,
      })
    }
    return found.sort((a, b) => b.lastAt - a.lastAt || b.count - a.count)
  }

  /** The place that holds the address, or the one that it may take. */
  private placeOf(address: Address): number {
    const { family, word0, word1, word2, word3 } = address
    const first = ((this.hash.of(word0, word1, word2, word3, family) >>> 0) % SETS) * WAYS
    let oldest = first
    for (let place = first; place < first + WAYS; place++) {
      if (this.holds(place, address)) return place
      if ((this.lastAt[place] as number) < (this.lastAt[oldest] as number)) oldest = place
    }
    return oldest
  }

  private holds(place: number, { family, word0, word1, word2, word3 }: Address): boolean {
    return (
      this.words[place * 4] === word0 &&
      this.families[place] === family &&
      this.words[place * 4 + 1] === word1 &&
      this.words[place * 4 + 2] === word2 &&
      this.words[place * 4 + 3] === word3
    )
  }

  private addressAt(place: number): Address {
    const word = (i: number) => this.words[place * 4 + i] as number
    return this.families[place] === 4
      ? Address.ipv4(word(0))
      : Address.ipv6(word(0), word(1), word(2), word(3))
  }
}
