// Which address is the client? Only a trusted proxy is believed, and only one header of it.

import { Address } from "../core/address.ts"
import { LOOPBACK } from "../core/loopback.ts"
import { Network } from "../core/network.ts"
import type { Peer } from "./guard.ts"

/** The headers that may carry the client's address. */
export const CLIENT_IP_HEADERS = ["X-Real-IP", "X-Forwarded-For"] as const

export type ClientIpHeader = (typeof CLIENT_IP_HEADERS)[number]

/** Who may name the client. The unix socket is guarded by the permissions of its file. */
export type TrustedProxies = { readonly networks: readonly Network[]; readonly unixSocket: boolean }

/** A gate sees few proxies; this many verdicts about peers are remembered. */
const REMEMBERED_PEERS = 1024

export class ClientAddresses {
  private readonly verdicts = new Map<string, boolean>()
  private trusted: TrustedProxies
  private header: ClientIpHeader
  private allLoopback: boolean

  constructor(trusted: TrustedProxies, header: ClientIpHeader) {
    this.trusted = trusted
    this.header = header
    this.allLoopback = holdsLoopback(trusted)
  }

  /** From the next request on these are believed, and no others. */
  replace(trusted: TrustedProxies, header: ClientIpHeader): void {
    this.trusted = trusted
    this.header = header
    this.allLoopback = holdsLoopback(trusted)
    this.verdicts.clear()
  }

  /**
   * The client on whose behalf a proxy asks. `null`, which denies, if the peer is not a trusted proxy, or if the one
   * header that is read is absent, doubled or malformed.
   */
  ofRequest(request: Request, peer: Peer): Address | null {
    if (!this.trusts(peer)) return null
    const text = request.headers.get(this.header)
    if (text === null) return null
    return this.header === "X-Real-IP" ? Address.parse(text) : this.forwardedFor(text)
  }

  /** The client of the API itself: the peer, or whom a trusted proxy names. `null` over the unix socket. */
  ofApiClient(request: Request, peer: Peer): Address | null {
    return this.ofRequest(request, peer) ?? (peer === null ? null : Address.parse(peer))
  }

  /**
   * The same where it decides what the client may do. A trusted proxy that names nobody, or nobody that can be
   * understood, is not taken for its client: `null`, because with its own address it would let in whoever it asks for.
   */
  ownAddress(request: Request, peer: Peer): Address | null {
    if (this.trusts(peer)) return this.ofRequest(request, peer)
    return peer === null ? null : Address.parse(peer)
  }

  /** True if this peer may name the client. A peer that is not known is never trusted. */
  trusts(peer: Peer): boolean {
    if (peer === null) return false
    const known = this.verdicts.get(peer)
    if (known !== undefined) return known
    const verdict = peer === "unix" ? this.trusted.unixSocket : this.isTrustedAddress(Address.parse(peer))
    if (this.verdicts.size >= REMEMBERED_PEERS) this.verdicts.clear()
    this.verdicts.set(peer, verdict)
    return verdict
  }

  /** True if every loopback address is a trusted proxy, as it is unless somebody says otherwise. */
  get trustsLoopback(): boolean {
    return this.allLoopback
  }

  // From the right, over the hops that are trusted proxies: the first other one is the client. Every proxy appends the
  // peer that it saw, so what stands further left was written by somebody who is not trusted.
  private forwardedFor(text: string): Address | null {
    const hops = text.split(",")
    for (let i = hops.length - 1; i >= 0; i--) {
      const hop = Address.parse(withoutBlanks(hops[i] as string))
      if (hop === null) return null
      if (!this.isTrustedAddress(hop)) return hop
    }
    return null
  }

  private isTrustedAddress(address: Address | null): boolean {
    if (address === null) return false
    const network = Network.of(address)
    return this.trusted.networks.some((trusted) => trusted.contains(network))
  }
}

/**
 * RFC 9110, section 5.6.3: blanks and tabs around an element mean nothing. Not by a regular expression: it would begin
 * anew at each blank of a row inside, and a header of 15 kB would hold every decision for a tenth of a second.
 */
function withoutBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function holdsLoopback({ networks }: TrustedProxies): boolean {
  return LOOPBACK.every((loopback) => networks.some((trusted) => trusted.contains(loopback)))
}
