// The text of an IPv4 address, written as bytes: put together from texts it would leave three of them behind, and a
// million pass by when the lists are read.

import { writeDecimal } from "./decimal-text.ts"

const DOT = 46

/** Writes four decimal octets to the beginning of `out`, and returns how many bytes that is. */
export function writeIpv4(word: number, out: Uint8Array): number {
  let end = writeDecimal(word >>> 24, out, 0)
  for (let shift = 16; shift >= 0; shift -= 8) {
    out[end] = DOT
    end = writeDecimal((word >>> shift) & 255, out, end + 1)
  }
  return end
}
