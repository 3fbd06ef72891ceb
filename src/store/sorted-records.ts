// Many entries in little memory, in the order of the lists: an object for each of a million would cost half a gigabyte,
// and a database writes ordered keys several times faster.

import type { Family } from "../core/address.ts"
import type { ListName } from "../core/entry.ts"
import type { RecordColumn } from "./record-column.ts"
import type { SnapshotChunk } from "./snapshot.ts"

/** Entries of one list are added, sorted once, and then read. */
export abstract class SortedRecords<Entry> {
  private readonly families: Readonly<Record<Family, RecordColumn<Entry>>>

  constructor(
    private readonly list: ListName,
    columnOf: (family: Family) => RecordColumn<Entry>,
  ) {
    this.families = { 4: columnOf(4), 6: columnOf(6) }
  }

  get length(): number {
    return this.families[4].length + this.families[6].length
  }

  abstract add(entry: Entry): void

  sort(): void {
    for (const family of [4, 6] as const) this.families[family].sort()
  }

  /** The entries in batches of one family each. */
  *batches(size: number): Generator<Entry[]> {
    for (const family of [4, 6] as const) yield* this.families[family].batches(size)
  }

  /** The same as records of the list. */
  chunks(): SnapshotChunk[] {
    return ([4, 6] as const).map((family) => ({
      list: this.list,
      family,
      records: this.families[family].records(),
    }))
  }

  protected addTo(family: Family, entry: Entry): void {
    this.families[family].add(entry)
  }
}
