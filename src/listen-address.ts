// Where a server listens: host and port, or a unix socket.

import { Address } from "./core/address.ts"
import { LOOPBACK } from "./core/loopback.ts"
import { Network } from "./core/network.ts"

export type ListenAddress =
  | { readonly kind: "tcp"; readonly hostname: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string }

/** Reads `127.0.0.1:8765`, `[::1]:8765`, `localhost:8765` or `unix:/path`; `null` for anything else. */
export function parseListenAddress(text: string): ListenAddress | null {
  if (text.startsWith("unix:")) {
    const path = text.slice("unix:".length)
    return path.startsWith("/") ? { kind: "unix", path } : null
  }
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/\s]+)):([0-9]{1,5})$/.exec(text)
  if (match === null || Number(match[3]) > 65535) return null
  const hostname = match[1] ?? match[2] ?? ""
  const isAddress = Address.parse(hostname) !== null
  if (match[1] !== undefined ? !isAddress : !isAddress && hostname !== "localhost") return null
  return { kind: "tcp", hostname, port: Number(match[3]) }
}

/** True if only this machine can reach the address. */
export function isLocal(listen: ListenAddress): boolean {
  if (listen.kind === "unix" || listen.hostname === "localhost") return true
  const address = Address.parse(listen.hostname)
  return address !== null && LOOPBACK.some((network) => network.contains(Network.of(address)))
}

/** The hosts that stand for every address of the machine, and the loopback that is one of them. */
const EVERY_ADDRESS: ReadonlyMap<string, string> = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
])

export function isEveryAddress(hostname: string): boolean {
  return EVERY_ADDRESS.has(hostname)
}

/** Where a host is found from this machine: a server on every address is on loopback too. */
export function reachable(hostname: string): string {
  return hostname === "localhost" ? "127.0.0.1" : (EVERY_ADDRESS.get(hostname) ?? hostname)
}

/** How a client of this machine asks there; `null` if any port will do, because only the kernel knows which it was. */
export function toAsk(listen: ListenAddress): string | null {
  if (listen.kind === "unix") return formatListenAddress(listen)
  return listen.port === 0 ? null : formatListenAddress({ ...listen, hostname: reachable(listen.hostname) })
}

export function formatListenAddress(listen: ListenAddress): string {
  if (listen.kind === "unix") return `unix:${listen.path}`
  return listen.hostname.includes(":")
    ? `[${listen.hostname}]:${listen.port}`
    : `${listen.hostname}:${listen.port}`
}
