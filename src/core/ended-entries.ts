// The entries that ended last: so that a refused client can be told from one that was let in until a moment ago.

import type { Address } from "./address.ts"
import type { ListName } from "./entry.ts"
import { Network } from "./network.ts"
import { NetworkIndex } from "./network-index.ts"

const REMEMBERED = 4096

/** `how` is why it ended; `endedAt` is milliseconds since 1970. */
export type EndedEntry = {
  readonly list: ListName
  readonly ip: string
  readonly endedAt: number
  readonly how: "expired" | "removed"
}

/** A ring of the last few thousand, searched by an index of its own. */
export class EndedEntries {
  private readonly ring: Array<{ network: Network; entry: EndedEntry } | undefined> = []
  private readonly index = new NetworkIndex()
  private next = 0

  remember(network: Network, entry: EndedEntry): void {
    const dropped = this.ring[this.next]
    if (dropped !== undefined && this.index.get(dropped.network) === this.next + 1)
      this.index.delete(dropped.network)
    this.ring[this.next] = { network, entry }
    this.index.set(network, this.next + 1)
    this.next = (this.next + 1) % REMEMBERED
  }

  /** The one that ended last before this moment, in milliseconds since 1970, of those that contained the address. */
  lastCovering(address: Address, before: number): EndedEntry | null {
    let last: EndedEntry | null = null
    for (const { value } of this.index.covering(Network.of(address))) {
      const entry = this.ring[value - 1]?.entry
      if (entry !== undefined && entry.endedAt <= before && (last === null || entry.endedAt > last.endedAt))
        last = entry
    }
    return last
  }
}
