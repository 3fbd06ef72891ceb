// The index: which of the stored networks contain an address. It cannot fail, and it knows nothing of lists or time.

import type { Address, Family } from "./address.ts"
import type { Network, Prefix } from "./network.ts"
import { ABSENT, PrefixTable } from "./prefix-table.ts"
import { TOP_BITS, TopBits } from "./top-bits.ts"

/**
 * Networks of both families, each with a value: a signed 32-bit integer other than 0. A question costs a few look-ups,
 * whatever the number of networks and of prefix lengths in use. The families never meet: `::/0` contains no IPv4
 * address, and a mapped address has become IPv4 before it comes here.
 */
export class NetworkIndex {
  private readonly ipv4 = new FamilyIndex(4)
  private readonly ipv6 = new FamilyIndex(6)

  /** The value of exactly this network, or 0. */
  get(network: Prefix): number {
    return this.of(network.family).get(network)
  }

  set(network: Prefix, value: number): void {
    this.of(network.family).set(network, value)
  }

  delete(network: Prefix): void {
    this.of(network.family).delete(network)
  }

  /** True if `accepts` is true for the value of any network that contains the address. In no particular order. */
  some(address: Address, accepts: (value: number) => boolean): boolean {
    return this.of(address.family).some(address, accepts)
  }

  /** The values of all networks that contain all of `network`, the narrowest first. */
  covering(network: Network): Array<{ length: number; value: number }> {
    return this.of(network.family).covering(network)
  }

  /** Bytes of memory in the tables. */
  get bytes(): number {
    return this.ipv4.bytes + this.ipv6.bytes
  }

  private of(family: Family): FamilyIndex {
    return family === 4 ? this.ipv4 : this.ipv6
  }
}

/**
 * How a family is searched. The common lengths are looked up one by one where they are in use. The others are grouped
 * into levels of so many lengths, and a level is asked only for the lengths that occur below the address's own prefix;
 * the shortest ones, up to 16 bits, are told by the address's own first bits.
 */
type Plan = { readonly common: readonly number[]; readonly levelShift: number; readonly longest: number }

const PLANS: Readonly<Record<Family, Plan>> = {
  4: { common: [32, 24, 0], levelShift: 3, longest: 32 },
  6: { common: [128, 64, 56, 48, 32, 0], levelShift: 4, longest: 128 },
}

/** The lower bits of a hint say which lengths of its level occur below its prefix, the upper ones how many networks. */
const HINT_LENGTHS = 0xffff
const HINT_ONE = 0x10000
/** A hint that has counted so many is kept for good: it may cost a look-up in vain, and never an answer. */
const HINT_FULL = 0x7fff

class FamilyIndex {
  private readonly table: PrefixTable
  /** For a prefix that ends where a level begins: which networks are below it in that level. */
  private readonly hints: PrefixTable
  private readonly plan: Plan
  /** How many networks there are of each prefix length. */
  private readonly counts: number[]
  /** The common lengths in use, the longest first. */
  private commonInUse: readonly number[] = []
  /** Of the other lengths; made when the first of them comes, because most lists have none. */
  private top: TopBits | null = null
  /** The levels with other lengths of more than 16 bits in use, the longest first. */
  private levelsInUse: readonly number[] = []

  constructor(family: Family) {
    const words = family === 4 ? 1 : 4
    this.plan = PLANS[family]
    this.table = new PrefixTable(words)
    this.hints = new PrefixTable(words)
    this.counts = new Array(this.plan.longest + 1).fill(0)
  }

  get bytes(): number {
    return this.table.bytes + this.hints.bytes + (this.top?.bytes ?? 0)
  }

  get(prefix: Prefix): number {
    return look(this.table, prefix, prefix.length)
  }

  set(prefix: Prefix, value: number): void {
    if (look(this.table, prefix, prefix.length) === ABSENT) {
      this.count(prefix.length, 1)
      this.hint(prefix, 1)
    }
    put(this.table, prefix, prefix.length, value)
  }

  delete(prefix: Prefix): void {
    if (look(this.table, prefix, prefix.length) === ABSENT) return
    this.count(prefix.length, -1)
    this.hint(prefix, -1)
    put(this.table, prefix, prefix.length, ABSENT)
  }

  some(address: Address, accepts: (value: number) => boolean): boolean {
    const { table, hints, commonInUse, levelsInUse, top } = this
    for (let i = 0; i < commonInUse.length; i++) {
      const value = look(table, address, commonInUse[i] as number)
      if (value !== ABSENT && accepts(value)) return true
    }
    if (top === null) return false
    let shorts = top.shortsAt(address.word0)
    while (shorts !== 0) {
      const longest = 31 - Math.clz32(shorts)
      shorts ^= 1 << longest
      const value = look(table, address, longest + 1)
      if (value !== ABSENT && accepts(value)) return true
    }
    if (!top.hasLongsAt(address.word0)) return false
    for (let i = 0; i < levelsInUse.length; i++) {
      const base = (levelsInUse[i] as number) << this.plan.levelShift
      let lengths = look(hints, address, base) & HINT_LENGTHS
      while (lengths !== 0) {
        const longest = 31 - Math.clz32(lengths)
        lengths ^= 1 << longest
        const value = look(table, address, base + longest + 1)
        if (value !== ABSENT && accepts(value)) return true
      }
    }
    return false
  }

  covering(network: Network): Array<{ length: number; value: number }> {
    const found: Array<{ length: number; value: number }> = []
    for (let length = network.length; length >= 0; length--) {
      const value = this.counts[length] === 0 ? ABSENT : look(this.table, network.address, length)
      if (value !== ABSENT) found.push({ length, value })
    }
    return found
  }

  private count(length: number, step: 1 | -1): void {
    const before = this.counts[length] as number
    this.counts[length] = before + step
    if (before !== 0 && before + step !== 0) return
    const { common, levelShift } = this.plan
    this.commonInUse = common.filter((used) => (this.counts[used] as number) > 0)
    const levels = this.counts.flatMap((count, used) =>
      count > 0 && used > TOP_BITS && !common.includes(used) ? [(used - 1) >> levelShift] : [],
    )
    this.levelsInUse = [...new Set(levels)].reverse()
  }

  // A length stays in its hint until the last network of the level below that prefix is gone.
  private hint(prefix: Prefix, step: 1 | -1): void {
    const { common, levelShift } = this.plan
    const { length } = prefix
    if (common.includes(length)) return
    this.top ??= new TopBits()
    if (step === 1) this.top.add(prefix.word0, length)
    else this.top.remove(prefix.word0, length)
    if (length <= TOP_BITS) return
    const base = ((length - 1) >> levelShift) << levelShift
    const before = look(this.hints, prefix, base)
    const after = before | (1 << (length - 1 - base))
    const networks = before >>> 16
    if (networks === HINT_FULL) put(this.hints, prefix, base, after)
    else put(this.hints, prefix, base, networks + step === 0 ? ABSENT : after + step * HINT_ONE)
  }
}

type Words = Pick<Prefix, "word0" | "word1" | "word2" | "word3">

function look(table: PrefixTable, { word0, word1, word2, word3 }: Words, length: number): number {
  return table.get(
    maskWord(word0, length),
    maskWord(word1, length - 32),
    maskWord(word2, length - 64),
    maskWord(word3, length - 96),
    length,
  )
}

function put(table: PrefixTable, { word0, word1, word2, word3 }: Words, length: number, value: number): void {
  const first = maskWord(word0, length)
  const second = maskWord(word1, length - 32)
  const third = maskWord(word2, length - 64)
  const fourth = maskWord(word3, length - 96)
  if (value === ABSENT) table.delete(first, second, third, fourth, length)
  else table.set(first, second, third, fourth, length, value)
}

// Signed, as the table holds its words. A shift takes its count modulo 32, so the two ends need a branch of their own.
function maskWord(word: number, bits: number): number {
  if (bits >= 32) return word | 0
  return bits <= 0 ? 0 : word & (-1 << (32 - bits))
}
