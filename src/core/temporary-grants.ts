// When each temporary entry ends, on both clocks. Numbered places in flat columns, so that a million of them cost little.

import type { Clock, Moment } from "./clock.ts"
import { Deadlines } from "./deadlines.ts"
import type { Network, Prefix } from "./network.ts"
import { NetworkColumn } from "./network-column.ts"

/** So many that have ended are not counted anew for each who asks: the database cannot record them, or not so soon. */
const MANY = 10_000
/** Milliseconds for which their number is believed. */
const BELIEVED = 1_000

/** A temporary entry as it is held here: its network, and its deadline by the wall clock. */
export type HeldGrant = { readonly network: Network; readonly expiresAt: number }

/**
 * An entry ends at the earlier of two deadlines: the wall-clock time that was promised, and the same distance on the
 * monotonic clock, counted from when the entry was learned. So a clock that is set back lengthens nothing. What has ended
 * by a clock that was set forward stays ended when that is set right, whether anybody has recorded the end or not.
 */
export class TemporaryGrants {
  private readonly wall = new Deadlines()
  private readonly mono = new Deadlines()
  private readonly networks = new NetworkColumn()
  private readonly free: number[] = []
  /** Places that are held or free. */
  private places = 0
  private held = 0
  /** How many of those that are held had ended, the last time that there were many. */
  private counted: { ended: number; readonly until: number } | null = null
  /** What the wall clock said last. */
  private latest = Number.NEGATIVE_INFINITY

  constructor(private readonly clock: Clock) {}

  /** Takes a grant in, and returns the number of its place. The numbers of the network are copied. */
  add(network: Prefix, expiresAt: number, learnedAt = this.now()): number {
    const place = this.free.pop() ?? this.places++
    this.wall.set(place, expiresAt)
    this.mono.set(place, learnedAt.mono + (expiresAt - learnedAt.wall))
    this.networks.set(place, network)
    this.held++
    return place
  }

  now(): Moment {
    return { wall: this.wallNow(), mono: this.clock.mono() }
  }

  remove(place: number): void {
    if (this.counted !== null && !this.isActive(place)) this.counted.ended--
    this.networks.clear(place)
    this.wall.delete(place)
    this.mono.delete(place)
    this.free.push(place)
    this.held--
  }

  /** True while the grant in this place has not ended. Anything but two deadlines in the future is false. */
  isActive(place: number): boolean {
    return this.wallNow() < this.wall.get(place) && this.clock.mono() < this.mono.get(place)
  }

  expiresAt(place: number): number {
    return this.wall.get(place)
  }

  /** How many have not ended. Where many have, and nobody has recorded that yet, it may be behind by a second. */
  activeCount(): number {
    const now = this.clock.mono()
    if (this.counted === null || now >= this.counted.until) {
      const ended = this.endedCount()
      if (ended < MANY) {
        this.counted = null
        return this.held - ended
      }
      this.counted = { ended, until: now + BELIEVED }
    }
    return this.held - Math.max(0, this.counted.ended)
  }

  private endedCount(): number {
    let ended = 0
    this.eachEnded(() => {
      ended++
      return true
    })
    return ended
  }

  /** Up to `most` grants that have ended and are still held, in no particular order. */
  ended(most: number): HeldGrant[] {
    const places: number[] = []
    this.eachEnded((place) => {
      if (places.length < most) places.push(place)
      return places.length < most
    })
    return places.flatMap((place) => {
      const network = this.networks.at(place)
      return network === null ? [] : [{ network, expiresAt: this.expiresAt(place) }]
    })
  }

  private wallNow(): number {
    const wall = this.clock.wall()
    if (wall < this.latest) this.keepEnded(this.latest)
    this.latest = wall
    return wall
  }

  /** Whoever asked until now was told that these have ended. */
  private keepEnded(until: number): void {
    this.wall.eachDue(until, (place) => {
      this.mono.set(place, Number.NEGATIVE_INFINITY)
      return true
    })
  }

  /** Each that either clock has ended, once, until `visit` returns false. */
  private eachEnded(visit: (place: number) => boolean): void {
    const now = this.now()
    if (!this.wall.isAnyDue(now.wall) && !this.mono.isAnyDue(now.mono)) return
    let goOn = true
    this.wall.eachDue(now.wall, (place) => {
      goOn = visit(place)
      return goOn
    })
    if (!goOn) return
    this.mono.eachDue(now.mono, (place) => now.wall >= this.wall.get(place) || visit(place))
  }
}
