// A network: an address and a prefix length without host bits. A single address is the network of full length.

import { Address, type Family } from "./address.ts"

const LONGEST_TEXT = 45 + "/128".length

/**
 * The numbers of a network: its first address in words, as `Address` has them, and its prefix length. A `Network` is
 * one; where a million of them pass by, one object can stand for each of them in turn.
 */
export type Prefix = {
  readonly family: Family
  readonly word0: number
  readonly word1: number
  readonly word2: number
  readonly word3: number
  readonly length: number
}

/** True for the numbers of a network: what `Network.from` takes. */
export function isNetwork({ family, word0, word1, word2, word3, length }: Prefix): boolean {
  if (!Number.isInteger(length) || length < 0) return false
  if (family === 4) return length <= 32 && !hasHostBits(word0, length)
  if (length > 128 || (length >= 96 && word0 === 0 && word1 === 0 && word2 === 0xffff)) return false
  return (
    !hasHostBits(word0, length) &&
    !hasHostBits(word1, length - 32) &&
    !hasHostBits(word2, length - 64) &&
    !hasHostBits(word3, length - 96)
  )
}

// A shift takes its count modulo 32, so the two ends need a branch of their own.
function hasHostBits(word: number, bits: number): boolean {
  if (bits >= 32) return false
  return bits <= 0 ? word !== 0 : (word & (0xffffffff >>> bits)) !== 0
}

/** What both lists hold. Its identity is (family, address, prefix length), never the text that it was read from. */
export class Network implements Prefix {
  private constructor(
    /** The first address of the network. */
    readonly address: Address,
    /** The prefix length: 0 to 32 for IPv4, 0 to 128 for IPv6. */
    readonly length: number,
  ) {}

  /** The network that holds this one address. */
  static of(address: Address): Network {
    return new Network(address, address.bits)
  }

  /**
   * A network from its parts, or `null` if the length is out of range or host bits are set. A mapped network of
   * length 96 or more is `null` too: it is an IPv4 network and must come as one. A shorter one is IPv6 and contains no
   * IPv4 client.
   */
  static from(address: Address, length: number): Network | null {
    const network = new Network(address, length)
    return isNetwork(network) ? network : null
  }

  /** The network of these numbers, or `null` if they are those of none. */
  static ofPrefix({ family, word0, word1, word2, word3, length }: Prefix): Network | null {
    const address = family === 4 ? Address.ipv4(word0) : Address.ipv6Base(word0, word1, word2, word3)
    return Network.from(address, length)
  }

  /**
   * Reads `address` or `address/length`. The length is decimal digits without a leading zero. Host bits
   * (`10.0.0.5/8`) are `null`: they are refused and not masked, because a mistyped length would widen the entry.
   */
  static parse(text: string): Network | null {
    const parts = splitNetwork(text)
    return parts === null ? null : Network.from(parts.address, parts.length)
  }

  get family(): Family {
    return this.address.family
  }

  get word0(): number {
    return this.address.word0
  }

  get word1(): number {
    return this.address.word1
  }

  get word2(): number {
    return this.address.word2
  }

  get word3(): number {
    return this.address.word3
  }

  /** True if this network is one address. */
  get isAddress(): boolean {
    return this.length === this.address.bits
  }

  /** True if every address of `other` is in this network. Never true between families. */
  contains(other: Network): boolean {
    return (
      this.family === other.family &&
      this.length <= other.length &&
      other.address.masked(this.length).equals(this.address)
    )
  }

  equals(other: Network): boolean {
    return this.length === other.length && this.address.equals(other.address)
  }

  /** `10.0.0.0/8`, or the bare address for `/32` and `/128`. Parses back to the same network. */
  toString(): string {
    return this.isAddress ? this.address.toString() : `${this.address}/${this.length}`
  }
}

/** The two halves of network text, before anyone asks about host bits: for `Network.parse` and the messages about it. */
export function splitNetwork(text: string): { address: Address; length: number } | null {
  if (text.length > LONGEST_TEXT) return null
  const slash = text.indexOf("/")
  if (slash === -1) {
    const address = Address.parse(text)
    return address === null ? null : { address, length: address.bits }
  }
  const digits = text.slice(slash + 1)
  if (!/^(?:0|[1-9][0-9]{0,2})$/.test(digits)) return null
  const addressText = text.slice(0, slash)
  const address = Address.parse(addressText)
  if (address === null) return null
  const length = Number(digits)
  // Mapped IPv6 text came back as IPv4, so its length counts from the 96 bits in front of the IPv4 part.
  if (address.family === 4 && addressText.includes(":")) {
    if (length > 128) return null
    return length >= 96
      ? { address, length: length - 96 }
      : { address: Address.ipv6Base(0, 0, 0xffff, address.word0), length }
  }
  return length > address.bits ? null : { address, length }
}
