// Records of one size that begin with the key of a network, one behind the other in memory that grows with them.

import type { Family } from "../core/address.ts"
import type { Network } from "../core/network.ts"
import { entryKey, networkAt } from "./entry-key.ts"

export class RecordColumn {
  length = 0
  protected view: DataView<ArrayBuffer>

  /** `size` is that of a record in bytes: of a key, and of what a subclass writes behind it. */
  constructor(
    private readonly family: Family,
    protected readonly size: number,
  ) {
    this.view = new DataView(new ArrayBuffer(size * 64))
  }

  records(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.view.buffer, 0, this.length * this.size)
  }

  /** Appends a record with this key, and returns its offset. */
  protected append(network: Network): number {
    const offset = this.length * this.size
    if (offset === this.view.byteLength) {
      const wider = new Uint8Array(this.view.byteLength * 2)
      wider.set(this.records())
      this.view = new DataView(wider.buffer)
    }
    new Uint8Array(this.view.buffer).set(entryKey(network), offset)
    this.length++
    return offset
  }

  /** What `read` makes of the records, by their networks and their places. */
  protected *inBatches<T>(most: number, read: (network: Network, place: number) => T): Generator<T[]> {
    for (let start = 0; start < this.length; start += most) {
      const batch: T[] = []
      for (let place = start; place < Math.min(start + most, this.length); place++) {
        const network = networkAt(this.view, place * this.size, this.family)
        if (network !== null) batch.push(read(network, place))
      }
      yield batch
    }
  }
}
