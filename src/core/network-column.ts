// Networks in numbered places: their numbers in flat columns, so that a million of them are nothing that the garbage
// collector walks through.

import { Address, type Family } from "./address.ts"
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
    if (place >= this.families.length) {
      this.families = grown(this.families, place)
      this.lengths = grown(this.lengths, place)
      this.word0 = grown(this.word0, place)
    }
    this.families[place] = family
    this.lengths[place] = length
    this.word0[place] = word0
    if (family === 4) return
    if (place >= this.word1.length) {
      this.word1 = grown(this.word1, place)
      this.word2 = grown(this.word2, place)
      this.word3 = grown(this.word3, place)
    }
    this.word1[place] = word1
    this.word2[place] = word2
    this.word3[place] = word3
  }

  clear(place: number): void {
    this.families[place] = NONE
  }

  /** `null` for a place that holds none. */
  at(place: number): Network | null {
    const family = (this.families[place] ?? NONE) as Family | typeof NONE
    if (family === NONE) return null
    const word0 = this.word0[place] as number
    const address =
      family === 4
        ? Address.ipv4(word0)
        : Address.ipv6Base(
            word0,
            this.word1[place] as number,
            this.word2[place] as number,
            this.word3[place] as number,
          )
    return Network.from(address, this.lengths[place] as number)
  }
}

/** A copy of twice the size, or as large as the place needs. */
function grown<Column extends Uint8Array | Uint32Array>(column: Column, place: number): Column {
  const larger = new (column.constructor as new (length: number) => Column)(
    Math.max(column.length * 2, place + 1),
  )
  larger.set(column)
  return larger
}
