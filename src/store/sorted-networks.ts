// Many networks in little memory, in the order of the lists: a database writes ordered keys several times faster.

import type { Family } from "../core/address.ts"
import type { Network } from "../core/network.ts"
import { keySize } from "./entry-key.ts"
import { RecordColumn } from "./record-column.ts"
import type { SnapshotChunk } from "./snapshot.ts"

/** Networks are added, sorted once, and then read. */
export class SortedNetworks {
  private readonly families: Readonly<Record<Family, KeyColumn>> = {
    4: new KeyColumn(4),
    6: new KeyColumn(6),
  }

  get length(): number {
    return this.families[4].length + this.families[6].length
  }

  add(network: Network): void {
    this.families[network.family].add(network)
  }

  sort(): void {
    for (const family of [4, 6] as const) this.families[family].sort()
  }

  /** The networks in batches of one family each. */
  *batches(size: number): Generator<Network[]> {
    for (const family of [4, 6] as const) yield* this.families[family].batches(size)
  }

  /** The same as records of the permanent list. */
  chunks(): SnapshotChunk[] {
    return ([4, 6] as const).map((family) => ({
      list: "perm",
      family,
      records: this.families[family].records(),
    }))
  }
}

class KeyColumn extends RecordColumn {
  constructor(family: Family) {
    super(family, keySize(family))
  }

  add(network: Network): void {
    this.append(network)
  }

  sort(): void {
    this.sortByKey()
  }

  batches(most: number): Generator<Network[]> {
    return this.inBatches(most, (network) => network)
  }
}
