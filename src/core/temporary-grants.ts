// When each temporary entry ends, on both clocks. Numbered places in flat columns, so that a million of them cost little.

import type { Clock } from "./clock.ts"
import type { Network } from "./network.ts"

const SMALLEST = 16

/** The deadline of an entry, by the wall clock, and its network. */
export type Grant = { readonly network: Network; readonly expiresAt: number }

/**
 * An entry ends at the earlier of two deadlines: the wall-clock time that was promised, and the same distance on the
 * monotonic clock, counted from when the entry was learned. So a clock that is set back lengthens nothing.
 */
export class TemporaryGrants {
  private wall = new Float64Array(SMALLEST)
  private mono = new Float64Array(SMALLEST)
  private networks: Array<Network | null> = []
  private free: number[] = []
  private held = 0
  /** No grant ends before these; the true minimum may be later. */
  private firstWall = Number.POSITIVE_INFINITY
  private firstMono = Number.POSITIVE_INFINITY

  constructor(private readonly clock: Clock) {}

  /** Takes a grant in, and returns the number of its place. */
  add(network: Network, expiresAt: number): number {
    const place = this.free.pop() ?? this.networks.length
    if (place === this.wall.length) {
      this.wall = doubled(this.wall)
      this.mono = doubled(this.mono)
    }
    const ends = this.clock.mono() + (expiresAt - this.clock.wall())
    this.wall[place] = expiresAt
    this.mono[place] = ends
    this.networks[place] = network
    this.held++
    this.firstWall = Math.min(this.firstWall, expiresAt)
    this.firstMono = Math.min(this.firstMono, ends)
    return place
  }

  remove(place: number): void {
    this.networks[place] = null
    this.wall[place] = Number.NEGATIVE_INFINITY
    this.mono[place] = Number.NEGATIVE_INFINITY
    this.free.push(place)
    this.held--
  }

  /** True while the grant in this place has not ended. Anything but two deadlines in the future is false. */
  isActive(place: number): boolean {
    return (
      this.clock.wall() < (this.wall[place] as number) && this.clock.mono() < (this.mono[place] as number)
    )
  }

  expiresAt(place: number): number {
    return this.wall[place] as number
  }

  /** How many have not ended. */
  activeCount(): number {
    return this.held - this.countEnded()
  }

  /** Up to `most` grants that have ended and are still held. One that was seen here never becomes active again. */
  ended(most: number): Grant[] {
    const found: Grant[] = []
    if (most < 1) return found
    this.eachEnded((place) => {
      const network = this.networks[place]
      if (network) found.push({ network, expiresAt: this.expiresAt(place) })
      return found.length < most
    })
    return found
  }

  private countEnded(): number {
    let count = 0
    this.eachEnded(() => {
      count++
      return true
    })
    return count
  }

  private eachEnded(visit: (place: number) => boolean): void {
    const wallNow = this.clock.wall()
    const monoNow = this.clock.mono()
    if (wallNow < this.firstWall && monoNow < this.firstMono) return
    let firstWall = Number.POSITIVE_INFINITY
    let firstMono = Number.POSITIVE_INFINITY
    for (let place = 0; place < this.networks.length; place++) {
      if (this.networks[place] === null) continue
      const wall = this.wall[place] as number
      const mono = this.mono[place] as number
      firstWall = Math.min(firstWall, wall)
      firstMono = Math.min(firstMono, mono)
      if (wallNow < wall && monoNow < mono) continue
      // From here on it has ended, also for a clock that is set back before anybody could record the end.
      this.mono[place] = Number.NEGATIVE_INFINITY
      if (!visit(place)) return
    }
    this.firstWall = firstWall
    this.firstMono = firstMono
  }
}

function doubled(column: Float64Array): Float64Array<ArrayBuffer> {
  const wider = new Float64Array(column.length * 2)
  wider.set(column)
  return wider
}
