// The text of an IPv6 address as RFC 5952 wants it, written as bytes: a million of them pass by when the lists are read.

import type { Words } from "./trie-nodes.ts"

/** Bytes that the longest text needs. */
export const LONGEST_IPV6_TEXT = 39

const COLON = 58
const ZERO = 48
const A = 97

/**
 * Writes the text to the beginning of `out`, and returns how many bytes that is: hexadecimal groups without leading zeros,
 * and "::" for the first of the longest runs of two zero groups or more.
 */
export function writeIpv6(address: Words, out: Uint8Array): number {
  let gap = -1
  let gapEnd = -1
  for (let i = 0; i < 8; i++) {
    if (groupOf(address, i) !== 0) continue
    const start = i
    while (i < 8 && groupOf(address, i) === 0) i++
    if (i - start > Math.max(gapEnd - gap, 1)) {
      gap = start
      gapEnd = i
    }
  }
  let end = 0
  for (let i = 0; i < 8; i++) {
    if (i === gap) {
      out[end++] = COLON
      if (gapEnd === 8) out[end++] = COLON
      i = gapEnd - 1
      continue
    }
    if (i > 0) out[end++] = COLON
    const group = groupOf(address, i)
    for (let shift = group > 0xfff ? 12 : group > 0xff ? 8 : group > 0xf ? 4 : 0; shift >= 0; shift -= 4) {
      const digit = (group >>> shift) & 15
      out[end++] = digit < 10 ? ZERO + digit : A + digit - 10
    }
  }
  return end
}

function groupOf({ word0, word1, word2, word3 }: Words, i: number): number {
  const word = i < 2 ? word0 : i < 4 ? word1 : i < 6 ? word2 : word3
  return i % 2 === 0 ? word >>> 16 : word & 0xffff
}
