// The canonical text of a network as bytes, for where a million of them pass by and a string for each would cost more.

import { LONGEST_IPV6_TEXT, writeIpv6 } from "../core/ipv6-text.ts"
import type { Prefix } from "../core/network.ts"

/** Bytes that the longest text needs. */
export const LONGEST_TEXT = LONGEST_IPV6_TEXT + "/128".length

const SLASH = 47
const DOT = 46
const ZERO = 48

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
