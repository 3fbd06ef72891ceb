// Networks in numbered places: their numbers in flat columns, so that a million of them are nothing that the garbage
// collector walks through.

import type { Family } from "./address.ts"
import { Network, type Prefix } from "./network.ts"

const SMALLEST = 16
const NONE = 0

/** A place holds a network or none. An IPv4 network needs 6 bytes; the columns for the rest begin with the first IPv6 one. */
export class NetworkColumn {
  /** By place: the family, or `NONE`. */
  private families = new Uint8Array(SMALLEST)
  private lengths = new Uint8Array(SMALLEST)
  private word0 = new Uint32Array(SMALLEST)
  private word1 = new Uint32Array(0)
  private word2 = new Uint32Array(0)
  private word3 = new Uint32Array(0)

  /** Copies the numbers of the network. */
  set(place: number, { family, length, word0, word1, word2, word3 }: Prefix): void {
    this.families = put(this.families, place, family)
    this.lengths = put(this.lengths, place, length)
    this.word0 = put(this.word0, place, word0)
    if (family === 4) return
    this.word1 = put(this.word1, place, word1)
    this.word2 = put(this.word2, place, word2)
    this.word3 = put(this.word3, place, word3)
  }

  clear(place: number): void {
    this.families[place] = NONE
  }

  /** `null` for a place that holds none. */
  at(place: number): Network | null {
    const family = (this.families[place] ?? NONE) as Family | typeof NONE
    if (family === NONE) return null
    return Network.ofPrefix({
      family,
      length: this.lengths[place] as number,
      word0: this.word0[place] as number,
      word1: this.word1[place] ?? 0,
      word2: this.word2[place] ?? 0,
      word3: this.word3[place] ?? 0,
    })
  }
}

/** Writes the value, and returns the column, or a larger copy if it had no such place. */
function put<Column extends Uint8Array | Uint32Array>(column: Column, place: number, value: number): Column {
  let held = column
  if (place >= column.length) {
    const length = Math.max(column.length * 2, place + 1)
    held = new (column.constructor as new (length: number) => Column)(length)
    held.set(column)
  }
  held[place] = value
  return held
}
