// Many temporary entries of a bulk in little memory: an object for each of a million would cost half a gigabyte.

import type { Family } from "../core/address.ts"
import type { Network } from "../core/network.ts"
import { RecordColumn } from "./record-column.ts"
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

class LineColumn extends RecordColumn {
  private readonly reasons: (string | null)[] = []

  constructor(family: Family) {
    super(family, recordSize("temp", family))
  }

  add({ network, until, reason }: TemporaryLine): void {
    const start = this.append(network)
    this.view.setBigInt64(start + this.size - 8, BigInt(until))
    this.reasons.push(reason)
  }

  batches(most: number): Generator<TemporaryLine[]> {
    return this.inBatches(most, (network, place) => ({
      network,
      until: Number(this.view.getBigInt64((place + 1) * this.size - 8)),
      reason: this.reasons[place] ?? null,
    }))
  }
}
