// What the texts of the configuration mean. Each problem is added with its place, and something harmless returned.

import { formatDuration, parseDuration } from "../core/duration.ts"
import { explainNetwork } from "../core/explain.ts"
import { Network } from "../core/network.ts"
import { quoted } from "../core/printable.ts"
import type { ClientIpHeader, TrustedProxies } from "../http/client-address.ts"
import { formatListenAddress, isLocal, type ListenAddress, parseListenAddress } from "../listen-address.ts"
import { CHOICES } from "./choices.ts"

type Text = { readonly value: string; readonly where: string }
type List = { readonly value: readonly string[]; readonly where: string }

/** Seconds for which a silent connection may stay: Bun counts them in a byte. */
const SHORTEST_IDLE = 5
const LONGEST_IDLE = 255

/** `proxiesSet` is true if somebody has named the trusted proxies: beyond this machine that must be so. */
export function listenAddresses({ value, where }: List, proxiesSet: boolean, problems: string[]) {
  const addresses = value.flatMap((text) => listenAddress({ value: text, where }, problems) ?? [])
  if (value.length === 0) problems.push(`${where}: no listen address is given`)
  const names = addresses.map(formatListenAddress)
  const twice = addresses.find((address, i) => !isAnyPort(address) && names.indexOf(names[i] as string) < i)
  if (twice !== undefined) problems.push(`${where}: ${formatListenAddress(twice)} is there twice`)
  const open = addresses.find((address) => !isLocal(address))
  if (open !== undefined && !proxiesSet) {
    problems.push(
      `${where}: listening on ${formatListenAddress(open)} lets other machines ask, and anyone who is believed can claim any address.\n` +
        '  Name your proxies: trusted_proxies = ["192.0.2.10"] under [auth], or `ipgate serve --trusted-proxies 192.0.2.10`',
    )
  }
  return addresses
}

export function listenAddress({ value, where }: Text, problems: string[]): ListenAddress | null {
  const address = parseListenAddress(value)
  if (address === null) {
    problems.push(
      `${where}: ${quoted(value)} is no listen address: use 127.0.0.1:8765, [::1]:8765 or unix:/path`,
    )
  }
  return address
}

/** Where the metrics answer; `null` for nowhere. It must be another address than those of the server. */
export function metricsAddress(
  given: Text,
  server: readonly ListenAddress[],
  problems: string[],
): ListenAddress | null {
  if (given.value === "") return null
  const address = listenAddress(given, problems)
  if (address === null || isAnyPort(address)) return address
  const name = formatListenAddress(address)
  if (server.some((one) => formatListenAddress(one) === name)) {
    problems.push(
      `${given.where}: metrics.listen is ${name}, where the server listens: give it a port of its own, such as 127.0.0.1:9765`,
    )
  }
  return address
}

/** Port 0 is another one each time. */
function isAnyPort(address: ListenAddress): boolean {
  return address.kind === "tcp" && address.port === 0
}

/** Where clients find the server: `host:port`, a URL of HTTP, or `unix:/path`. Only what can be none of them is a problem. */
export function serverAddress({ value, where }: Text, problems: string[]): string {
  const isOther = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//.test(value) || /^unix:(?!\/)/.test(value)
  if (value === "" || isOther) {
    problems.push(
      `${where}: the server is ${quoted(value)}: use host:port, a URL with http or https, or unix:/path`,
    )
  }
  return value
}

/** The private networks of RFC 1918 and RFC 4193 are not larger; what is, holds strangers. */
const LARGEST_OF_PROXIES = { 4: 8, 6: 7 } as const

export function trustedProxies(
  { value, where }: List,
  listen: readonly ListenAddress[],
  problems: string[],
): TrustedProxies {
  const networks: Network[] = []
  const isOpen = listen.some((address) => !isLocal(address))
  for (const text of value) {
    if (text === "unix") continue
    const network = Network.parse(text)
    if (network === null) {
      problems.push(`${where}: trusted_proxies: ${explainNetwork(text)}`)
      continue
    }
    if (isOpen && network.length < LARGEST_OF_PROXIES[network.family]) {
      problems.push(
        `${where}: trusted_proxies: ${network} lets strangers claim any address, because other machines can ask: name the proxies, or the network that they are in`,
      )
    }
    networks.push(network)
  }
  return { networks, unixSocket: value.includes("unix") }
}

export function clientIpHeader({ value, where }: Text, problems: string[]): ClientIpHeader {
  const headers = CHOICES["auth.client_ip_header"]
  const header = headers.find((known) => known.toLowerCase() === value.toLowerCase())
  if (header !== undefined) return header
  problems.push(`${where}: client_ip_header is ${quoted(value)}: use ${headers.join(" or ")}`)
  return "X-Real-IP"
}

// Whoever connects is believed, so the rights of others would let every user of the machine claim any address.
export function socketMode({ value, where }: Text, problems: string[]): number {
  if (/^0?[0-7][0-7]0$/.test(value)) return Number.parseInt(value, 8)
  problems.push(
    `${where}: socket_mode is ${quoted(value)}: use three octal digits with no rights for others, such as 0660; socket_group names who else may ask`,
  )
  return 0o600
}

/** Seconds. */
export function idleTimeout({ value, where }: Text, problems: string[]): number {
  const seconds = parseDuration(value)
  if (seconds !== null && seconds >= SHORTEST_IDLE && seconds <= LONGEST_IDLE) return seconds
  problems.push(
    `${where}: idle_timeout is ${quoted(value)}: use ${formatDuration(SHORTEST_IDLE)} to ${LONGEST_IDLE}s, and longer than the proxy keeps its connections`,
  )
  return SHORTEST_IDLE
}

export function databasePath({ value, where }: Text, problems: string[]): string {
  const path = value.startsWith("file:") ? value.slice("file:".length) : value
  if (path === "" || /^[a-z]*:/i.test(path)) {
    problems.push(`${where}: the database ${quoted(value)} is no file: use file:/path/to/ipgate.db`)
  }
  return path
}

/** One of a few words, exactly. */
export function oneOf<const Word extends string>(
  key: string,
  words: readonly [Word, ...Word[]],
  { value, where }: Text,
  problems: string[],
): Word {
  const word = words.find((known) => known === value)
  if (word === undefined)
    problems.push(
      `${where}: ${key} is ${quoted(value)}: use ${words.slice(0, -1).join(", ")} or ${words.at(-1)}`,
    )
  return word ?? words[0]
}
