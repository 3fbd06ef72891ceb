// One client IP address: strict text in, a canonical value out. It never guesses what a text might have meant.

import { writeIpv4 } from "./ipv4-text.ts"
import { LONGEST_IPV6_TEXT, writeIpv6 } from "./ipv6-text.ts"
import { maskWord } from "./mask-word.ts"

export type Family = 4 | 6

const LONGEST_IPV4 = 15
const LONGEST_IPV6 = 45

const ZERO = 48
const NINE = 57
const DOT = 46
const COLON = 58

/** Where the text of an address is put together. */
const scratch = Buffer.alloc(LONGEST_IPV6_TEXT)

/**
 * A parsed, canonical IP address. An IPv4 address has its value in word 0 and zeros in the others; an IPv6 address
 * has its 128 bits in words 0 to 3, the most significant first. Each word is an unsigned 32-bit integer.
 */
export class Address {
  private constructor(
    readonly family: Family,
    readonly word0: number,
    readonly word1: number,
    readonly word2: number,
    readonly word3: number,
  ) {}

  static ipv4(value: number): Address {
    return new Address(4, value >>> 0, 0, 0, 0)
  }

  /** Four words of an IPv6 address; `::ffff:0:0/96` becomes the IPv4 address that it embeds, and nothing else does. */
  static ipv6(word0: number, word1: number, word2: number, word3: number): Address {
    if (word0 === 0 && word1 === 0 && word2 === 0xffff) return Address.ipv4(word3)
    return new Address(6, word0 >>> 0, word1 >>> 0, word2 >>> 0, word3 >>> 0)
  }

  /**
   * Four words that stay IPv6 whatever they say: the base of a network, which may begin before `::ffff:0:0` and
   * reach past it (`::/64`).
   */
  static ipv6Base(word0: number, word1: number, word2: number, word3: number): Address {
    return new Address(6, word0 >>> 0, word1 >>> 0, word2 >>> 0, word3 >>> 0)
  }

  /**
   * Reads four decimal octets without leading zeros, or RFC 4291 text. Zone ids, ports, brackets, white space,
   * lists, octal, hex and short forms are `null`, and so is everything else. Takes time linear in at most 45 bytes.
   */
  static parse(text: string): Address | null {
    const length = text.length
    if (length < 2 || length > LONGEST_IPV6) return null
    // A colon can stand only among the first five characters of IPv6 text, and never in IPv4 text.
    for (let i = 0; i < 5 && i < length; i++) {
      if (text.charCodeAt(i) === COLON) return parseIpv6(text)
    }
    const value = length <= LONGEST_IPV4 ? ipv4Value(text, 0) : -1
    return value === -1 ? null : Address.ipv4(value)
  }

  /** 32 for IPv4, 128 for IPv6. */
  get bits(): 32 | 128 {
    return this.family === 4 ? 32 : 128
  }

  /** True for IPv6 words inside `::ffff:0:0/96`, which only the base of a network can have. */
  get isMapped(): boolean {
    return this.family === 6 && this.word0 === 0 && this.word1 === 0 && this.word2 === 0xffff
  }

  /** The address with all bits after the first `length` set to zero. */
  masked(length: number): Address {
    if (this.family === 4) return Address.ipv4(maskWord(this.word0, length))
    return Address.ipv6Base(
      maskWord(this.word0, length),
      maskWord(this.word1, length - 32),
      maskWord(this.word2, length - 64),
      maskWord(this.word3, length - 96),
    )
  }

  equals(other: Address): boolean {
    return (
      this.family === other.family &&
      this.word0 === other.word0 &&
      this.word1 === other.word1 &&
      this.word2 === other.word2 &&
      this.word3 === other.word3
    )
  }

  /** Dotted decimal, or RFC 5952 text with a hexadecimal tail. */
  toString(): string {
    const end = this.family === 4 ? writeIpv4(this.word0, scratch) : writeIpv6(this, scratch)
    return scratch.toString("latin1", 0, end)
  }
}

// The value of the dotted quad from `start` to the end of the text, or -1.
function ipv4Value(text: string, start: number): number {
  let value = 0
  let octets = 0
  let octet = -1
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= ZERO && code <= NINE) {
      if (octet === 0) return -1
      octet = octet === -1 ? code - ZERO : octet * 10 + code - ZERO
      if (octet > 255) return -1
    } else if (code === DOT && octet !== -1 && octets < 3) {
      value = value * 256 + octet
      octets++
      octet = -1
    } else {
      return -1
    }
  }
  return octets === 3 && octet !== -1 ? value * 256 + octet : -1
}

/** The groups of the text that is being read: an array for each text would cost more than the reading of it. */
const readGroups = new Uint16Array(8)

function parseIpv6(text: string): Address | null {
  const { length } = text
  let count = 0
  let gap = -1
  let position = 0
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return null
    gap = 0
    position = 2
  }
  while (position < length) {
    if (count === 8) return null
    let group = 0
    let end = position
    // What ends the group, if anything does.
    let code = 0
    for (; end < length; end++) {
      code = text.charCodeAt(end)
      const digit = hexDigit(code)
      if (digit === -1) break
      if (end - position === 4) return null
      group = group * 16 + digit
    }
    if (end === length) {
      readGroups[count++] = group
      break
    }
    if (code === DOT) {
      const tail = count > 6 ? -1 : ipv4Value(text, position)
      if (tail === -1) return null
      readGroups[count++] = tail >>> 16
      readGroups[count++] = tail & 0xffff
      break
    }
    if (code !== COLON || end === position) return null
    readGroups[count++] = group
    position = end + 1
    if (position === length) return null
    if (text.charCodeAt(position) === COLON) {
      if (gap !== -1) return null
      gap = count
      position++
    }
  }
  if (gap === -1 ? count !== 8 : count === 8) return null
  if (gap !== -1) {
    readGroups.copyWithin(8 - count + gap, gap, count)
    readGroups.fill(0, gap, 8 - count + gap)
  }
  return Address.ipv6(wordAt(0), wordAt(2), wordAt(4), wordAt(6))
}

/** Signed: whoever makes an address of it takes care of that. */
function wordAt(group: number): number {
  return ((readGroups[group] as number) << 16) | (readGroups[group + 1] as number)
}

function hexDigit(code: number): number {
  if (code >= ZERO && code <= NINE) return code - ZERO
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}
