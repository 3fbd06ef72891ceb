// The canonical text of a network as bytes, for where a million of them pass by and a string for each would cost more.

import type { Prefix } from "../core/network.ts"

/** Bytes that the longest text needs. */
export const LONGEST_TEXT = 45 + "/128".length

const SLASH = 47
const DOT = 46
const COLON = 58
const ZERO = 48
const A = 97

/** Writes what `Network.toString` gives to the beginning of `out`, and returns how many bytes that is. */
export function writeText(network: Prefix, out: Uint8Array): number {
  const { family, word0, length } = network
  if (family === 6) {
    const end = writeIpv6(network, out)
    return length === 128 ? end : writeLength(length, out, end)
  }
  let end = writeDecimal(word0 >>> 24, out, 0)
  for (let shift = 16; shift >= 0; shift -= 8) {
    out[end] = DOT
    end = writeDecimal((word0 >>> shift) & 255, out, end + 1)
  }
  return length === 32 ? end : writeLength(length, out, end)
}

// RFC 5952: no leading zeros, and "::" for the first of the longest runs of two zero groups or more.
function writeIpv6(network: Prefix, out: Uint8Array): number {
  let gap = -1
  let gapEnd = -1
  for (let i = 0; i < 8; i++) {
    if (groupOf(network, i) !== 0) continue
    const start = i
    while (i < 8 && groupOf(network, i) === 0) i++
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
    const group = groupOf(network, i)
    for (let shift = group > 0xfff ? 12 : group > 0xff ? 8 : group > 0xf ? 4 : 0; shift >= 0; shift -= 4) {
      const digit = (group >>> shift) & 15
      out[end++] = digit < 10 ? ZERO + digit : A + digit - 10
    }
  }
  return end
}

function groupOf({ word0, word1, word2, word3 }: Prefix, i: number): number {
  const word = i < 2 ? word0 : i < 4 ? word1 : i < 6 ? word2 : word3
  return i % 2 === 0 ? word >>> 16 : word & 0xffff
}

function writeLength(length: number, out: Uint8Array, at: number): number {
  out[at] = SLASH
  return writeDecimal(length, out, at + 1)
}

/** A number of up to three digits. */
function writeDecimal(value: number, out: Uint8Array, at: number): number {
  let end = at
  if (value > 99) out[end++] = ZERO + Math.floor(value / 100)
  if (value > 9) out[end++] = ZERO + (Math.floor(value / 10) % 10)
  out[end++] = ZERO + (value % 10)
  return end
}
