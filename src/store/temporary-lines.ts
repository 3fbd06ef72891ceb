// Many temporary entries of a bulk in little memory, in the order of the lists: an object for each of a million would
// cost half a gigabyte, and a database writes ordered keys several times faster.

import type { Family } from "../core/address.ts"
import type { Network } from "../core/network.ts"
import { RecordColumn } from "./record-column.ts"
import { END_SIZE, recordSize, type SnapshotChunk } from "./snapshot.ts"

export type TemporaryLine = {
  readonly network: Network
  readonly until: number
  readonly reason: string | null
}

/** Entries are added, sorted once, and then read. */
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

  sort(): void {
    for (const family of [4, 6] as const) this.families[family].sort()
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
  /** By the places of the records. */
  private reasons: (string | null)[] = []

  constructor(family: Family) {
    super(family, recordSize("temp", family))
  }

  add({ network, until, reason }: TemporaryLine): void {
    const start = this.append(network)
    this.view.setFloat64(start + this.size - END_SIZE, until)
    this.reasons.push(reason)
  }

  sort(): void {
    const { reasons } = this
    this.reasons = Array.from(this.sortByKey(), (place) => reasons[place] ?? null)
  }

  batches(most: number): Generator<TemporaryLine[]> {
    return this.inBatches(most, (network, place) => ({
      network,
      until: this.view.getFloat64((place + 1) * this.size - END_SIZE),
      reason: this.reasons[place] ?? null,
    }))
  }
}
