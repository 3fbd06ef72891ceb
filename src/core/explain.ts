// Why a text is no network, in a sentence for the person who wrote it. Asked only after parse said null.

import { Address } from "./address.ts"
import { Network, splitNetwork } from "./network.ts"
import { quoted } from "./printable.ts"

/** The reason why `Network.parse(text)` is `null`, with both likely meanings when host bits are set. */
export function explainNetwork(text: string): string {
  const parts = splitNetwork(text)
  if (parts !== null) {
    const network = Network.from(parts.address.masked(parts.length), parts.length)
    if (network !== null && !network.address.equals(parts.address)) {
      const { family, word0, word1, word2, word3 } = parts.address
      const single = family === 4 ? parts.address : Address.ipv6(word0, word1, word2, word3)
      return `${quoted(text)} has host bits set; did you mean ${network} or ${single}?`
    }
  }
  const slash = text.indexOf("/")
  if (slash !== -1) {
    const address = Address.parse(text.slice(0, slash))
    if (address !== null) {
      const longest = text.includes(":") ? 128 : 32
      return `${quoted(text)} is not a valid CIDR: the prefix length must be 0 to ${longest}, in plain digits`
    }
  }
  return `${quoted(text)} is not an IP address or CIDR${hint(text)}`
}

function hint(text: string): string {
  if (text === "") return ": it is empty"
  if (text.trim() !== text) return ": remove the white space around it"
  if (text.includes("%")) return ": remove the zone id after the address"
  if (text.startsWith("[")) return ": remove the brackets and the port"
  if (/^[0-9.]+:[0-9]+$/.test(text)) return ": remove the port"
  if (/^[0-9]+(\.[0-9]+){0,3}(\/|$)/.test(text)) {
    return ": IPv4 has four decimal numbers from 0 to 255, without leading zeros"
  }
  if (/[,;\s]/.test(text)) return ": give one address at a time"
  return ""
}
