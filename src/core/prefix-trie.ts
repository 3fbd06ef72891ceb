// Which of the stored prefixes an address begins with: a trie of hexadecimal digits, without the places that say nothing.

import { ABSENT } from "./prefix-table.ts"
import {
  BRANCH,
  blockAt,
  commonBits,
  digitAt,
  digitIndexOf,
  digitOfKey,
  FAN,
  fanPlace,
  KIND,
  linkTo,
  NONE,
  RECORD,
  recordAt,
  TrieNodes,
  type Words,
} from "./trie-nodes.ts"

/**
 * Prefixes of one family; the value is a signed 32-bit integer other than 0. A question visits the places where the
 * stored prefixes around the address part, whatever the number of prefixes and of lengths. On its way down it looks at
 * nothing but the digits at these places, so only a record, which is compared whole, can say that a prefix contains the
 * address. A change writes a few words and moves nothing else, and the garbage collector never walks any of it.
 *
 * What follows a record begins with the whole digits of its prefix; a record or a fan of d digits comes before a branch
 * by digit d; a branch has two ways at least, and a fan two records. So the trie of a set of prefixes is always the same.
 */
export class PrefixTrie {
  private readonly nodes: TrieNodes
  private root = NONE

  constructor(words: 1 | 4) {
    this.nodes = new TrieNodes(words)
  }

  /** Bytes of memory, filled or not. */
  get bytes(): number {
    return this.nodes.records.bytes + this.nodes.blocks.bytes
  }

  /** True if `accepts` is true for the value of any prefix that the address begins with, the shortest first. */
  some(address: Words, accepts: (value: number) => boolean): boolean {
    const { records, blocks, words } = this.nodes
    // Signed, as the records hold them.
    const word0 = address.word0 | 0
    const word1 = address.word1 | 0
    const word2 = address.word2 | 0
    const word3 = address.word3 | 0
    let link = this.root
    while (link !== NONE) {
      if ((link & KIND) === RECORD) {
        const record = recordAt(link)
        const piece = records.pieceWith(record)
        const at = records.offsetOf(record)
        const length = piece[at + words] as number
        const common = commonBits(piece, at, words, word0, word1, word2, word3)
        if (common >= length && accepts(piece[at + words + 1] as number)) return true
        // What follows begins with the same digits.
        if (common < (length & ~3)) return false
        link = piece[at + words + 2] as number
        continue
      }
      const digit = digitAt(word0, word1, word2, word3, digitIndexOf(link))
      const block = blockAt(link)
      const piece = blocks.pieceWith(block)
      const at = blocks.offsetOf(block)
      if ((link & KIND) === BRANCH) {
        link = piece[at + digit] as number
        continue
      }
      for (let bits = 0; bits < 4; bits++) {
        const record = piece[at + fanPlace(digit, bits)] as number
        if (record === NONE) continue
        const held = records.pieceWith(record)
        const from = records.offsetOf(record)
        const common = commonBits(held, from, words, word0, word1, word2, word3)
        if (common >= (held[from + words] as number) && accepts(held[from + words + 1] as number)) return true
      }
      link = piece[at] as number
    }
    return false
  }

  /** The value of the prefix that the first `length` bits of `key` make, or `ABSENT`. */
  get(key: Words, length: number): number {
    const { nodes } = this
    let link = this.root
    while (link !== NONE && nodes.depthOf(link) < length >>> 2) link = nodes.next(link, key)
    const record = this.find(link, key, length)
    return record === NONE ? ABSENT : nodes.valueOf(record)
  }

  /** Bits of the key behind `length` must be zero. Throws `RangeError` if no more memory can be had. */
  set(key: Words, length: number, value: number): void {
    const { nodes } = this
    const depth = length >>> 2
    const similar = this.similar(key)
    const shared = similar === NONE ? 0 : nodes.commonBits(similar, key) >>> 2
    let from = NONE
    let link = this.root
    while (link !== NONE) {
      const common = nodes.depthOf(link)
      if (common >= depth || common > shared) break
      from = link
      link = nodes.next(link, key)
    }
    const there = this.find(link, key, length)
    if (there !== NONE) {
      nodes.setValue(there, value)
      return
    }
    const record = nodes.makeRecord(key, length, value)
    if (link === NONE) this.relink(from, key, linkTo(record))
    else if (shared < depth) this.relink(from, key, this.part(link, similar, key, shared, record))
    else if (nodes.depthOf(link) === depth && (link & KIND) !== BRANCH) {
      this.relink(from, key, this.join(link, key, record))
    } else {
      nodes.setNext(linkTo(record), key, link)
      this.relink(from, key, linkTo(record))
    }
  }

  delete(key: Words, length: number): void {
    const { nodes } = this
    let before = NONE
    let from = NONE
    let link = this.root
    while (link !== NONE && nodes.depthOf(link) < length >>> 2) {
      before = from
      from = link
      link = nodes.next(link, key)
    }
    const record = this.find(link, key, length)
    if (record === NONE) return
    if ((link & KIND) === FAN) {
      this.relink(from, key, this.leave(link, key, record))
    } else {
      const next = nodes.next(link, key)
      this.relink(from, key, next)
      if (next === NONE && (from & KIND) === BRANCH) this.relink(before, key, this.narrowed(from))
    }
    nodes.records.giveBack(record)
  }

  /** The last record on the way of the key, or, where the way ends before one, of any that go on from there. */
  private similar(key: Words): number {
    const { nodes } = this
    let record = NONE
    let link = this.root
    while (link !== NONE) {
      if ((link & KIND) === RECORD) record = recordAt(link)
      else if ((link & KIND) === FAN) record = nodes.firstIn(link, 1)
      let next = nodes.next(link, key)
      if (next === NONE && (link & KIND) === BRANCH) next = nodes.firstIn(link, 0)
      link = next
    }
    return record
  }

  /** The record of exactly this prefix, if the link leads to it. */
  private find(link: number, key: Words, length: number): number {
    const { nodes } = this
    const kind = link & KIND
    if (link === NONE || kind === BRANCH || nodes.depthOf(link) !== length >>> 2) return NONE
    const place = fanPlace(digitOfKey(key, length >>> 2), length & 3)
    const record = kind === RECORD ? recordAt(link) : nodes.inBlock(link, place)
    if (record === NONE || nodes.lengthOf(record) !== length) return NONE
    return nodes.commonBits(record, key) >= length ? record : NONE
  }

  /** A branch at the digit where the new record and all behind the link part. */
  private part(link: number, similar: number, key: Words, digit: number, record: number): number {
    const { nodes } = this
    const branch = nodes.makeBlock(BRANCH, digit)
    nodes.setInBlock(branch, nodes.digitOf(similar, digit), link)
    nodes.setInBlock(branch, digitOfKey(key, digit), linkTo(record))
    return branch
  }

  /** A fan of what the link leads to, a record or a fan, and the new record. */
  private join(link: number, key: Words, record: number): number {
    const { nodes } = this
    let fan = link
    if ((link & KIND) === RECORD) {
      const other = recordAt(link)
      fan = nodes.makeBlock(FAN, nodes.depthOf(link))
      nodes.setNext(fan, key, nodes.next(link, key))
      nodes.setInBlock(fan, nodes.fanPlaceOf(other), other)
    }
    nodes.setInBlock(fan, nodes.fanPlaceOf(record), record)
    return fan
  }

  /** What is left of a fan without the record: a fan, or the one other record. */
  private leave(fan: number, key: Words, record: number): number {
    const { nodes } = this
    nodes.setInBlock(fan, nodes.fanPlaceOf(record), NONE)
    const other = nodes.onlyIn(fan, 1)
    if (other === NONE) return fan
    nodes.setNext(linkTo(other), key, nodes.next(fan, key))
    nodes.blocks.giveBack(blockAt(fan))
    return linkTo(other)
  }

  /** The branch, or what its only link leads to. */
  private narrowed(branch: number): number {
    const only = this.nodes.onlyIn(branch, 0)
    if (only === NONE) return branch
    this.nodes.blocks.giveBack(blockAt(branch))
    return only
  }

  /** Puts a link behind another one, or at the root. */
  private relink(from: number, key: Words, link: number): void {
    if (from === NONE) this.root = link
    else this.nodes.setNext(from, key, link)
  }
}
