// Records of one size that begin with the key of a network, one behind the other in memory that grows with them.

import type { Family } from "../core/address.ts"
import type { ListName } from "../core/entry.ts"
import type { Network } from "../core/network.ts"
import { entryKey, keySize, networkAt } from "./entry-key.ts"
import { recordSize } from "./snapshot.ts"

export abstract class RecordColumn<Entry> {
  length = 0
  /** Of a record in bytes: of a key, and of what a subclass writes behind it. */
  protected readonly size: number
  protected view: DataView<ArrayBuffer>

  constructor(
    list: ListName,
    private readonly family: Family,
  ) {
    this.size = recordSize(list, family)
    this.view = new DataView(new ArrayBuffer(this.size * 64))
  }

  abstract add(entry: Entry): void

  records(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.view.buffer, 0, this.length * this.size)
  }

  /** Appends a record with this key, and returns its offset. */
  protected append(network: Network): number {
    const offset = this.length * this.size
    // Moved and not copied: no old buffer is left to the garbage collector.
    if (offset === this.view.byteLength) this.view = new DataView(this.view.buffer.transfer(offset * 2))
    new Uint8Array(this.view.buffer).set(entryKey(network), offset)
    this.length++
    return offset
  }

  /** Puts the records in the order of their keys; returns, by their new places, the places where they stood. */
  sort(): Uint32Array {
    const { family, size, length, view } = this
    const records = this.records()
    const order = new Uint32Array(length)
    for (let i = 0; i < length; i++) order[i] = i
    // Four bytes at a time, from an offset that is the same for all keys: the family byte in front is equal.
    const lengthAt = keySize(family) - 1
    order.sort((a, b) => {
      for (let at = 1; at < lengthAt; at += 4) {
        const difference = view.getUint32(a * size + at) - view.getUint32(b * size + at)
        if (difference !== 0) return difference
      }
      return view.getUint8(a * size + lengthAt) - view.getUint8(b * size + lengthAt)
    })
    const sorted = new Uint8Array(length * size)
    for (let i = 0; i < length; i++) {
      const from = (order[i] as number) * size
      sorted.set(records.subarray(from, from + size), i * size)
    }
    this.view = new DataView(sorted.buffer)
    return order
  }

  /** The entries in batches. */
  *batches(most: number): Generator<Entry[]> {
    for (let start = 0; start < this.length; start += most) {
      const batch: Entry[] = []
      for (let place = start; place < Math.min(start + most, this.length); place++) {
        const network = networkAt(this.view, place * this.size, this.family)
        if (network !== null) batch.push(this.entryAt(network, place))
      }
      yield batch
    }
  }

  /** The entry of the record in this place, which begins with the key of the network. */
  protected abstract entryAt(network: Network, place: number): Entry
}
