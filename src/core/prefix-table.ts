// A hash table from (prefix, prefix length) to a small number, in flat memory that the garbage collector never walks.

import { TabulationHash } from "./tabulation-hash.ts"

/** Shards are picked by the top bits of the hash. Each grows alone, so no insertion ever moves more than a few thousand slots. */
const SHARDS = 256
const SMALLEST_SHARD = 8

/** 0 is never stored: it stands for "not there". */
export const ABSENT = 0

/**
 * Prefixes of one family. A prefix is given as its words (one for IPv4, four for IPv6, host bits zero) and its
 * length; the value is a signed 32-bit integer other than 0. Open addressing with linear probing, at most three
 * quarters full, and deletion by shifting back, so that a table which saw many changes is as fast as a fresh one.
 */
export class PrefixTable {
  /**
   * Of each shard. A slot is [word 0, …, length + 1, value]; a length of 0 there marks a free slot. They lie side by
   * side and not in an object for each shard, which would be one more cold line of memory for every question.
   */
  private readonly slots: Int32Array[] = []
  private readonly masks = new Int32Array(SHARDS).fill(SMALLEST_SHARD - 1)
  private readonly sizes = new Int32Array(SHARDS)
  private readonly stride: number
  private readonly hash: TabulationHash

  constructor(private readonly words: 1 | 4) {
    this.stride = words + 2
    this.hash = new TabulationHash(words)
    for (let shard = 0; shard < SHARDS; shard++) this.slots.push(new Int32Array(SMALLEST_SHARD * this.stride))
  }

  /** Bytes of the slots, filled or not. */
  get bytes(): number {
    return this.slots.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  get(word0: number, word1: number, word2: number, word3: number, length: number): number {
    const hash = this.hash.of(word0, word1, word2, word3, length)
    const at = this.find(hash, word0, word1, word2, word3, length)
    return at < 0 ? ABSENT : (this.slotsFor(hash)[at + this.words + 1] as number)
  }

  /** Returns the value that the new one replaces, or `ABSENT`. */
  set(word0: number, word1: number, word2: number, word3: number, length: number, value: number): number {
    const hash = this.hash.of(word0, word1, word2, word3, length)
    const shard = shardOf(hash)
    let at = this.find(hash, word0, word1, word2, word3, length)
    if (at < 0) {
      const size = (this.sizes[shard] as number) + 1
      if (size * 4 > ((this.masks[shard] as number) + 1) * 3) {
        this.grow(shard)
        at = this.find(hash, word0, word1, word2, word3, length)
      }
      at = ~at
      this.sizes[shard] = size
      const { words } = this
      const slots = this.slotsFor(hash)
      slots[at] = word0
      if (words === 4) {
        slots[at + 1] = word1
        slots[at + 2] = word2
        slots[at + 3] = word3
      }
      slots[at + words] = length + 1
    }
    const slots = this.slotsFor(hash)
    const place = at + this.words + 1
    const before = slots[place] as number
    slots[place] = value
    return before
  }

  /** Returns the value that is gone now, or `ABSENT`. */
  delete(word0: number, word1: number, word2: number, word3: number, length: number): number {
    const hash = this.hash.of(word0, word1, word2, word3, length)
    let hole = this.find(hash, word0, word1, word2, word3, length)
    if (hole < 0) return ABSENT
    const shard = shardOf(hash)
    const slots = this.slotsFor(hash)
    const mask = this.masks[shard] as number
    const { stride, words } = this
    const before = slots[hole + words + 1] as number
    this.sizes[shard] = (this.sizes[shard] as number) - 1
    // Move back each follower that may stand in the hole: one whose home is not between the hole and itself.
    let slot = hole / stride
    for (let next = (slot + 1) & mask; slots[next * stride + words] !== 0; next = (next + 1) & mask) {
      const home = this.hashAt(slots, next * stride) & mask
      const between = slot <= next ? home > slot && home <= next : home > slot || home <= next
      if (between) continue
      slots.copyWithin(slot * stride, next * stride, (next + 1) * stride)
      slot = next
    }
    hole = slot * stride
    slots.fill(0, hole, hole + stride)
    return before
  }

  /** The offset of the slot that holds the prefix, or the complement of the free slot where it would go. */
  private find(
    hash: number,
    word0: number,
    word1: number,
    word2: number,
    word3: number,
    length: number,
  ): number {
    const { stride, words } = this
    const slots = this.slotsFor(hash)
    const mask = this.masks[shardOf(hash)] as number
    const marker = length + 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const at = slot * stride
      const held = slots[at + words]
      if (held === 0) return ~at
      if (
        held === marker &&
        slots[at] === word0 &&
        (words === 1 || (slots[at + 1] === word1 && slots[at + 2] === word2 && slots[at + 3] === word3))
      ) {
        return at
      }
    }
  }

  private slotsFor(hash: number): Int32Array {
    return this.slots[shardOf(hash)] as Int32Array
  }

  private hashAt(slots: Int32Array, at: number): number {
    const { words } = this
    const length = (slots[at + words] as number) - 1
    const word0 = slots[at] as number
    if (words === 1) return this.hash.of(word0, 0, 0, 0, length)
    return this.hash.of(
      word0,
      slots[at + 1] as number,
      slots[at + 2] as number,
      slots[at + 3] as number,
      length,
    )
  }

  private grow(shard: number): void {
    const { stride, words } = this
    const old = this.slots[shard] as Int32Array
    const mask = (this.masks[shard] as number) * 2 + 1
    const slots = new Int32Array((mask + 1) * stride)
    for (let from = 0; from < old.length; from += stride) {
      if (old[from + words] === 0) continue
      let slot = this.hashAt(old, from) & mask
      while (slots[slot * stride + words] !== 0) slot = (slot + 1) & mask
      for (let i = 0; i < stride; i++) slots[slot * stride + i] = old[from + i] as number
    }
    this.masks[shard] = mask
    this.slots[shard] = slots
  }
}

function shardOf(hash: number): number {
  return hash >>> 24
}
