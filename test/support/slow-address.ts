// A second opinion on address text: slow, strict, and written in another way than the parser that it judges.

import type { Address } from "../../src/core/address.ts"

/** An address as its number. */
export type SlowAddress = { readonly family: 4 | 6; readonly value: bigint }

export type SlowNetwork = SlowAddress & { readonly length: number }

const OCTET = /^(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])$/
const GROUP = /^[0-9a-fA-F]{1,4}$/
const LENGTH = /^(?:0|[1-9]\d*)$/

/** The address in `text`, or `null`. */
export function slowParse(text: string): SlowAddress | null {
  const ipv4 = slowIpv4(text)
  if (ipv4 !== null) return { family: 4, value: ipv4 }
  const ipv6 = slowIpv6(text)
  if (ipv6 === null) return null
  return ipv6 >> 32n === 0xffffn ? { family: 4, value: ipv6 & 0xffffffffn } : { family: 6, value: ipv6 }
}

/** The network in `text`, or `null`, also if host bits are set. */
export function slowParseNetwork(text: string): SlowNetwork | null {
  const [left = "", right, ...rest] = text.split("/")
  const address = slowParse(left)
  if (address === null || rest.length > 0) return null
  const bits = address.family === 4 ? 32 : 128
  if (right === undefined) return { ...address, length: bits }
  if (!LENGTH.test(right)) return null
  const mapped = address.family === 4 && slowIpv4(left) === null
  const length = mapped ? Number(right) - 96 : Number(right)
  // A mapped text shorter than /96 always has a host bit: the ones of ffff end at bit 96.
  if (length < 0 || length > bits) return null
  return address.value % 2n ** BigInt(bits - length) === 0n ? { ...address, length } : null
}

/** Dotted decimal, or RFC 5952 text. */
export function slowText({ family, value }: SlowAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".")
  const hex = value.toString(16).padStart(32, "0")
  const text = (hex.match(/.{4}/g) ?? []).map((group) => Number.parseInt(group, 16).toString(16)).join(":")
  // Sorting is stable, so that of the longest runs the first one is taken.
  const [run] = [...text.matchAll(/\b0(?::0)+\b/g)].sort((a, b) => b[0].length - a[0].length)
  if (run === undefined) return text
  const cut = `${text.slice(0, run.index)}::${text.slice(run.index + run[0].length)}`
  return cut.replace(/:{3,}/, "::")
}

/** The number of a parsed address. */
export function numberOf({ family, word0, word1, word2, word3 }: Address): SlowAddress {
  const words = family === 4 ? [word0] : [word0, word1, word2, word3]
  return { family, value: words.reduce((value, word) => value * 2n ** 32n + BigInt(word), 0n) }
}

function slowIpv4(text: string): bigint | null {
  const octets = text.split(".")
  if (octets.length !== 4 || !octets.every((octet) => OCTET.test(octet))) return null
  return octets.reduce((value, octet) => value * 256n + BigInt(octet), 0n)
}

function slowIpv6(text: string): bigint | null {
  const dotted = /^(.*:)([^:]*\.[^:]*)$/s.exec(text)
  if (dotted !== null) {
    const tail = slowIpv4(dotted[2] ?? "")
    return tail === null
      ? null
      : slowIpv6(`${dotted[1]}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`)
  }
  const halves = text.split("::").map((half) => (half === "" ? [] : half.split(":")))
  const [left = [], right] = halves
  if (halves.length > 2 || !halves.flat().every((group) => GROUP.test(group))) return null
  const missing = 8 - halves.flat().length
  if (right === undefined ? missing !== 0 : missing < 1) return null
  const groups = [...left, ...new Array<string>(missing).fill("0"), ...(right ?? [])]
  return BigInt(`0x${groups.map((group) => group.padStart(4, "0")).join("")}`)
}
