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
    const { view, size, length } = this
    const records = this.records()
    const order = new Uint32Array(length)
    for (let i = 0; i < length; i++) order[i] = i
    // Four bytes at a time, from an offset that is the same for all keys: the family byte in front is equal.
    const words = (size - 2) / 4
    order.sort((a, b) => {
      for (let word = 0; word < words; word++) {
        const difference = view.getUint32(a * size + 1 + word * 4) - view.getUint32(b * size + 1 + word * 4)
        if (difference !== 0) return difference
      }
      return view.getUint8(a * size + size - 1) - view.getUint8(b * size + size - 1)
    })
    const sorted = new Uint8Array(length * size)
    for (let i = 0; i < length; i++) {
      const from = (order[i] as number) * size
      sorted.set(records.subarray(from, from + size), i * size)
    }
    this.view = new DataView(sorted.buffer)
  }

  batches(most: number): Generator<Network[]> {
    return this.inBatches(most, (network) => network)
  }
}
