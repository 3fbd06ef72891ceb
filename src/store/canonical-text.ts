// The canonical text of a network as bytes, for where a million of them pass by and a string for each would cost more.

import { writeDecimal } from "../core/decimal-text.ts"
import { writeIpv4 } from "../core/ipv4-text.ts"
import { LONGEST_IPV6_TEXT, writeIpv6 } from "../core/ipv6-text.ts"
import type { Prefix } from "../core/network.ts"

/** Bytes that the longest text needs. */
export const LONGEST_TEXT = LONGEST_IPV6_TEXT + "/128".length

const SLASH = 47

/** Writes what `Network.toString` gives to the beginning of `out`, and returns how many bytes that is. */
export function writeText(network: Prefix, out: Uint8Array): number {
  const { family, word0, length } = network
  const end = family === 4 ? writeIpv4(word0, out) : writeIpv6(network, out)
  if (length === (family === 4 ? 32 : 128)) return end
  out[end] = SLASH
  return writeDecimal(length, out, end + 1)
}
