// Who is let in, in memory: what /auth and check read. It never throws, never waits, and forgets no deadline.

import type { Address } from "./address.ts"
import type { Change } from "./change.ts"
import type { Clock, Moment } from "./clock.ts"
import type { Coverage, Match } from "./gate.ts"
import { Network, type Prefix } from "./network.ts"
import { NetworkIndex } from "./network-index.ts"
import { type HeldGrant, TemporaryGrants } from "./temporary-grants.ts"

// The value of a network in the index: the sign bit says that it is on the permanent list, the other bits hold the
// place of its temporary grant plus one. So one look-up answers for both lists.
const PERMANENT = 1 << 31
const PLACE = ~PERMANENT

/** Both lists in one index. The wall clock and the monotonic clock are compared at every decision. */
export class Allowlist {
  private readonly index = new NetworkIndex()
  private readonly grants: TemporaryGrants
  private permanent = 0
  private readonly lets: (value: number) => boolean

  constructor(clock: Clock) {
    const grants = new TemporaryGrants(clock)
    this.grants = grants
    this.lets = (value) => value < 0 || grants.isActive(value - 1)
  }

  /** The decision: true only if an entry that has not ended contains the address. */
  allows(address: Address): boolean {
    return this.index.some(address, this.lets)
  }

  /** Every entry that has not ended and contains all of `network`: permanent first, then the narrowest first. */
  check(network: Network): Coverage {
    const permanent: Match[] = []
    const temporary: Match[] = []
    for (const { length, value } of this.index.covering(network)) {
      const ip = String(Network.from(network.address.masked(length), length))
      if (value < 0) permanent.push({ list: "perm", ip, expiresAt: null })
      const place = (value & PLACE) - 1
      if (place >= 0 && this.grants.isActive(place)) {
        temporary.push({ list: "temp", ip, expiresAt: this.grants.expiresAt(place) })
      }
    }
    const matches = [...permanent, ...temporary]
    return { allowed: matches.length > 0, matches }
  }

  /** Takes over one committed change. */
  apply(change: Change): void {
    switch (change.op) {
      case "add_perm":
        this.addPermanent(change.network)
        break
      case "delete_perm":
        this.removePermanent(change.network)
        break
      case "add_temp":
        this.addTemporary(change.network, change.expiresAt)
        break
      case "delete_temp":
        this.removeTemporary(change.network)
        break
      case "expire_temp":
        // Also if it has not ended by now: the database does not hold it any more, and a clock may have been set right.
        if (this.expiryOf(change.network) === change.expiresAt) this.removeTemporary(change.network)
        break
    }
  }

  addPermanent(network: Prefix): void {
    const value = this.index.get(network)
    if (value < 0) return
    this.permanent++
    this.index.set(network, value | PERMANENT)
  }

  removePermanent(network: Prefix): void {
    const value = this.index.get(network)
    if (value >= 0) return
    this.permanent--
    this.replace(network, value & PLACE)
  }

  /** The new deadline replaces an old one. Of many entries that are learned together the moment can be given once. */
  addTemporary(network: Prefix, expiresAt: number, learnedAt?: Moment): void {
    const value = this.index.get(network)
    const held = (value & PLACE) - 1
    if (held >= 0) this.grants.remove(held)
    this.index.set(network, (value & PERMANENT) | (this.grants.add(network, expiresAt, learnedAt) + 1))
  }

  /** What `addTemporary` takes for the moment when an entry is learned. */
  now(): Moment {
    return this.grants.now()
  }

  /** The temporary grant of exactly this network, if it has ended and nobody has recorded that yet. */
  endedGrant(network: Network): HeldGrant | null {
    const place = (this.index.get(network) & PLACE) - 1
    if (place < 0 || this.grants.isActive(place)) return null
    return { network, expiresAt: this.grants.expiresAt(place) }
  }

  /** Up to `most` grants that have ended and are still held. */
  endedGrants(most: number): HeldGrant[] {
    return this.grants.ended(most)
  }

  get permanentCount(): number {
    return this.permanent
  }

  /** Only those that have not ended. */
  get temporaryCount(): number {
    return this.grants.activeCount()
  }

  private expiryOf(network: Network): number | null {
    const place = (this.index.get(network) & PLACE) - 1
    return place < 0 ? null : this.grants.expiresAt(place)
  }

  private removeTemporary(network: Network): void {
    const value = this.index.get(network)
    const place = (value & PLACE) - 1
    if (place < 0) return
    this.grants.remove(place)
    this.replace(network, value & PERMANENT)
  }

  private replace(network: Prefix, value: number): void {
    if (value === 0) this.index.delete(network)
    else this.index.set(network, value)
  }
}
