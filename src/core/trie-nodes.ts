// What the trie of prefixes is made of: records, fans and branches in flat memory, and the links between them.

import { FlatPool } from "./flat-pool.ts"

/** The words of an address or of a prefix, as `Address` has them. */
export type Words = {
  readonly word0: number
  readonly word1: number
  readonly word2: number
  readonly word3: number
}

/**
 * A link says in its two lowest bits what it leads to. A record is one stored prefix. A fan holds the records of several
 * that have their first d digits in common, and up to three bits more. A branch is where stored prefixes part by the
 * digit d: it has a link for each digit.
 */
export const RECORD = 1
export const FAN = 2
export const BRANCH = 3
export const KIND = 3
/** No link: nothing follows. */
export const NONE = 0

/** Bits of a link to a fan or a branch: the kind, then its d, then its place. That of a record is the kind and the place. */
const KIND_BITS = 2
const DEPTH_BITS = 6
const DEPTH = (1 << DEPTH_BITS) - 1
const BLOCK_SHIFT = KIND_BITS + DEPTH_BITS

/** A fan has the link to what follows at 0; from 1 on there are places for the prefixes of 0, 1, 2 and 3 bits more. */
const SIXTEEN = 16

/** The nodes of one family. A digit is four bits of an address, the most significant first, counted from 0. */
export class TrieNodes {
  /** [word 0, …, length, value, link to what follows]; an IPv6 record has one integer to spare. */
  readonly records: FlatPool
  readonly blocks = new FlatPool(SIXTEEN, 1 << (32 - BLOCK_SHIFT))

  constructor(readonly words: 1 | 4) {
    this.records = new FlatPool(words === 1 ? 4 : 8, 1 << (32 - KIND_BITS))
  }

  makeRecord(key: Words, length: number, value: number): number {
    const { words } = this
    const record = this.records.take()
    this.setField(record, 0, key.word0)
    if (words === 4) {
      this.setField(record, 1, key.word1)
      this.setField(record, 2, key.word2)
      this.setField(record, 3, key.word3)
    }
    this.setField(record, words, length)
    this.setField(record, words + 1, value)
    return record
  }

  lengthOf(record: number): number {
    return this.field(record, this.words)
  }

  valueOf(record: number): number {
    return this.field(record, this.words + 1)
  }

  setValue(record: number, value: number): void {
    this.setField(record, this.words + 1, value)
  }

  /** How many leading bits the key has in common with the words of a record: up to all of the family's. */
  commonBits(record: number, { word0, word1, word2, word3 }: Words): number {
    const { records, words } = this
    return commonBits(records.pieceWith(record), records.offsetOf(record), words, word0, word1, word2, word3)
  }

  digitOf(record: number, index: number): number {
    return digitIn(this.field(record, index >>> 3), index)
  }

  /** The place of a record in a fan. */
  fanPlaceOf(record: number): number {
    const length = this.lengthOf(record)
    return fanPlace(this.digitOf(record, length >>> 2), length & 3)
  }

  /** A fan or a branch without anything in it. */
  makeBlock(kind: typeof FAN | typeof BRANCH, depth: number): number {
    return (this.blocks.take() << BLOCK_SHIFT) | (depth << KIND_BITS) | kind
  }

  inBlock(link: number, index: number): number {
    const block = blockAt(link)
    return this.blocks.pieceWith(block)[this.blocks.offsetOf(block) + index] as number
  }

  setInBlock(link: number, index: number, value: number): void {
    const block = blockAt(link)
    this.blocks.pieceWith(block)[this.blocks.offsetOf(block) + index] = value
  }

  /** The first thing that a block holds from `start` on. */
  firstIn(link: number, start: number): number {
    for (let i = start; i < SIXTEEN; i++) {
      const found = this.inBlock(link, i)
      if (found !== NONE) return found
    }
    return NONE
  }

  /** What a block holds from `start` on, if that is only one; otherwise `NONE`. */
  onlyIn(link: number, start: number): number {
    let only = NONE
    for (let i = start; i < SIXTEEN; i++) {
      const found = this.inBlock(link, i)
      if (found === NONE) continue
      if (only !== NONE) return NONE
      only = found
    }
    return only
  }

  /** How many whole digits all that is behind the link has in common at least. */
  depthOf(link: number): number {
    return (link & KIND) === RECORD ? this.lengthOf(recordAt(link)) >>> 2 : digitIndexOf(link)
  }

  /** The link that follows on the way of the key. */
  next(link: number, key: Words): number {
    if ((link & KIND) === RECORD) return this.field(recordAt(link), this.words + 2)
    return this.inBlock(link, placeOfNext(link, key))
  }

  /** Puts a link where `next` finds it. */
  setNext(link: number, key: Words, next: number): void {
    if ((link & KIND) === RECORD) this.setField(recordAt(link), this.words + 2, next)
    else this.setInBlock(link, placeOfNext(link, key), next)
  }

  private field(record: number, index: number): number {
    return this.records.pieceWith(record)[this.records.offsetOf(record) + index] as number
  }

  private setField(record: number, index: number, value: number): void {
    this.records.pieceWith(record)[this.records.offsetOf(record) + index] = value
  }
}

export function linkTo(record: number): number {
  return (record << KIND_BITS) | RECORD
}

/** The place of the record that a link leads to. */
export function recordAt(link: number): number {
  return link >>> KIND_BITS
}

/** The place of the fan or branch that a link leads to. */
export function blockAt(link: number): number {
  return link >>> BLOCK_SHIFT
}

/** Of a fan or a branch: the digit by which it is asked. */
export function digitIndexOf(link: number): number {
  return (link >>> KIND_BITS) & DEPTH
}

function placeOfNext(link: number, key: Words): number {
  return (link & KIND) === FAN ? 0 : digitOfKey(key, digitIndexOf(link))
}

/** Where a fan has the prefix with these first bits of the digit. */
export function fanPlace(digit: number, bits: number): number {
  return (1 << bits) + (digit >>> (4 - bits))
}

export function digitOfKey({ word0, word1, word2, word3 }: Words, index: number): number {
  return digitAt(word0, word1, word2, word3, index)
}

export function digitAt(word0: number, word1: number, word2: number, word3: number, index: number): number {
  return digitIn(index < 16 ? (index < 8 ? word0 : word1) : index < 24 ? word2 : word3, index)
}

function digitIn(word: number, index: number): number {
  return (word >>> (28 - ((index & 7) << 2))) & 15
}

/** The same as `TrieNodes.commonBits`, where piece, offset and words are at hand. */
export function commonBits(
  piece: Int32Array,
  at: number,
  words: 1 | 4,
  word0: number,
  word1: number,
  word2: number,
  word3: number,
): number {
  const first = (piece[at] as number) ^ word0
  if (first !== 0 || words === 1) return Math.clz32(first)
  const second = (piece[at + 1] as number) ^ word1
  if (second !== 0) return 32 + Math.clz32(second)
  const third = (piece[at + 2] as number) ^ word2
  if (third !== 0) return 64 + Math.clz32(third)
  return 96 + Math.clz32((piece[at + 3] as number) ^ word3)
}
