// The entries that ended last: so that a refused client can be told from one that was let in until a moment ago.

import type { Address } from "./address.ts"
import type { ListName } from "./entry.ts"
import { Network, type Prefix } from "./network.ts"
import { NetworkColumn } from "./network-column.ts"
import { NetworkIndex } from "./network-index.ts"

const REMEMBERED = 4096

/** `how` is why it ended; `endedAt` is milliseconds since 1970. */
export type EndedEntry = {
  readonly list: ListName
  readonly ip: string
  readonly endedAt: number
  readonly how: "expired" | "removed"
}

/**
 * A ring of the last few thousand, searched by an index of its own. In flat columns: as objects they live just long
 * enough to be taken for lasting ones, and the collections of garbage that follow are what decisions wait for.
 */
export class EndedEntries {
  private readonly networks = new NetworkColumn()
  private readonly ends = new Float64Array(REMEMBERED)
  /** By place: 1 for an entry of the permanent list, and for one that expired. */
  private readonly permanent = new Uint8Array(REMEMBERED)
  private readonly expired = new Uint8Array(REMEMBERED)
  private readonly index = new NetworkIndex()
  private next = 0

  /** The numbers of the network are copied. */
  remember(network: Prefix, { list, endedAt, how }: Omit<EndedEntry, "ip">): void {
    const place = this.next
    const dropped = this.networks.at(place)
    if (dropped !== null && this.index.get(dropped) === place + 1) this.index.delete(dropped)
    this.networks.set(place, network)
    this.ends[place] = endedAt
    this.permanent[place] = list === "perm" ? 1 : 0
    this.expired[place] = how === "expired" ? 1 : 0
    this.index.set(network, place + 1)
    this.next = (place + 1) % REMEMBERED
  }

  /** The one that ended last before this moment, in milliseconds since 1970, of those that contained the address. */
  lastCovering(address: Address, before: number): EndedEntry | null {
    let last: { readonly place: number; readonly endedAt: number } | null = null
    for (const { value } of this.index.covering(Network.of(address))) {
      const place = value - 1
      const endedAt = this.ends[place] as number
      if (endedAt <= before && (last === null || endedAt > last.endedAt)) last = { place, endedAt }
    }
    return last === null ? null : this.at(last.place)
  }

  private at(place: number): EndedEntry {
    return {
      list: this.permanent[place] === 1 ? "perm" : "temp",
      ip: String(this.networks.at(place)),
      endedAt: this.ends[place] as number,
      how: this.expired[place] === 1 ? "expired" : "removed",
    }
  }
}
