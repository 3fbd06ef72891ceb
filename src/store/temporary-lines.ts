// Many temporary entries of a bulk in little memory: an object for each of a million would cost half a gigabyte.

import type { Family } from "../core/address.ts"
import type { Network } from "../core/network.ts"
import { entryKey, networkAt } from "./entry-key.ts"
import { recordSize, type SnapshotChunk } from "./snapshot.ts"

export type TemporaryLine = {
  readonly network: Network
  readonly until: number
  readonly reason: string | null
}

/** Entries are added, and then read in the order of their families. */
export class TemporaryLines {
  private readonly families: Readonly<Record<Family, LineColumn>> = {
    4: new LineColumn(4),
    6: new LineColumn(6),
  }

  get length(): number {
    return this.families[4].length + this.families[6].length
  }

  add(line: TemporaryLine): void {
    this.families[line.network.family].add(line)
  }

  /** The entries in batches of one family each. */
  *batches(size: number): Generator<TemporaryLine[]> {
    for (const family of [4, 6] as const) yield* this.families[family].batches(size)
  }

  /** The same as records of the temporary list. */
  chunks(): SnapshotChunk[] {
    return ([4, 6] as const).map((family) => ({
      list: "temp",
      family,
      records: this.families[family].records(),
    }))
  }
}

class LineColumn {
  length = 0
  private readonly size: number
  private view: DataView<ArrayBuffer>
  private readonly reasons: (string | null)[] = []

  constructor(private readonly family: Family) {
    this.size = recordSize("temp", family)
    this.view = new DataView(new ArrayBuffer(this.size * 64))
  }

  add({ network, until, reason }: TemporaryLine): void {
    const start = this.length * this.size
    if (start === this.view.byteLength) {
      const wider = new Uint8Array(this.view.byteLength * 2)
      wider.set(this.records())
      this.view = new DataView(wider.buffer)
    }
    new Uint8Array(this.view.buffer).set(entryKey(network), start)
    this.view.setBigInt64(start + this.size - 8, BigInt(until))
    this.reasons.push(reason)
    this.length++
  }

  *batches(batch: number): Generator<TemporaryLine[]> {
    for (let start = 0; start < this.length; start += batch) {
      const lines: TemporaryLine[] = []
      for (let i = start; i < Math.min(start + batch, this.length); i++) {
        const network = networkAt(this.view, i * this.size, this.family)
        const until = Number(this.view.getBigInt64((i + 1) * this.size - 8))
        if (network !== null) lines.push({ network, until, reason: this.reasons[i] ?? null })
      }
      yield lines
    }
  }

  records(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.view.buffer, 0, this.length * this.size)
  }
}
