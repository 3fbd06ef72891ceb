// The temporary entries of a bulk: their networks, their ends and their reasons.

import type { Family } from "../core/address.ts"
import type { Network } from "../core/network.ts"
import { RecordColumn } from "./record-column.ts"
import { END_SIZE } from "./snapshot.ts"
import { SortedRecords } from "./sorted-records.ts"

export type TemporaryLine = {
  readonly network: Network
  readonly until: number
  readonly reason: string | null
}

export class TemporaryLines extends SortedRecords<TemporaryLine> {
  constructor() {
    super("temp", (family) => new LineColumn(family))
  }

  add(line: TemporaryLine): void {
    this.addTo(line.network.family, line)
  }
}

class LineColumn extends RecordColumn<TemporaryLine> {
  /** By the places of the records. */
  private reasons: (string | null)[] = []

  constructor(family: Family) {
    super("temp", family)
  }

  add({ network, until, reason }: TemporaryLine): void {
    const start = this.append(network)
    this.view.setFloat64(start + this.size - END_SIZE, until)
    this.reasons.push(reason)
  }

  override sort(): Uint32Array {
    const { reasons } = this
    const order = super.sort()
    this.reasons = Array.from(order, (place) => reasons[place] ?? null)
    return order
  }

  protected entryAt(network: Network, place: number): TemporaryLine {
    return {
      network,
      until: this.view.getFloat64((place + 1) * this.size - END_SIZE),
      reason: this.reasons[place] ?? null,
    }
  }
}
