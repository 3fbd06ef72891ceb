// One candidate for the index in a process of its own, so that no other shapes its compiled code or its memory.
// Arguments: the candidate and the sizes as JSON. Prints one line of JSON: an array of `IndexFigure`.

import { heapStats } from "bun:jsc"
import { Address, type Family } from "../../src/core/address.ts"
import { Network } from "../../src/core/network.ts"
import { NetworkIndex } from "../../src/core/network-index.ts"
import { MapPerLength } from "./candidates/map-per-length.ts"
import { SortedRanges } from "./candidates/sorted-ranges.ts"
import { TablePerLength } from "./candidates/table-per-length.ts"
import { TrieAlone } from "./candidates/trie-alone.ts"
import { EVERY_LENGTH } from "./million.ts"
import { Population, shuffled } from "./population.ts"
import { median } from "./statistics.ts"

export type Candidate = {
  some(address: Address, accepts: (value: number) => boolean): boolean
  readonly bytes?: number
}

export const CANDIDATES = {
  "network-index": (networks: readonly Network[]) => filled(new NetworkIndex(), networks),
  "map-per-length": (networks: readonly Network[]) => filled(new MapPerLength(), networks),
  "table-per-length": (networks: readonly Network[]) => filled(new TablePerLength(), networks),
  "trie-alone": (networks: readonly Network[]) => filled(new TrieAlone(), networks),
  "sorted-ranges": (networks: readonly Network[]) => new SortedRanges(networks),
} as const

export type CandidateName = keyof typeof CANDIDATES

export type IndexSizes = {
  readonly entries: readonly number[]
  readonly probes: readonly number[]
  readonly repeats: number
  /** Milliseconds of decisions that are timed together. */
  readonly timed: number
}

export type IndexFigure = {
  readonly family: Family
  readonly lengths: string
  readonly entries: number
  readonly probes: number
  /** Nanoseconds a decision: for an address in a network, for one that is just outside of one, and for one far off. */
  readonly hit: number
  readonly near: number
  readonly far: number
  readonly bytesAnEntry: number
  /** Decisions that were not what they had to be. */
  readonly wrong: number
}

/** Which prefix lengths the networks have. The last one has all of them, a network of length 0 included. */
const LENGTHS: ReadonlyArray<readonly [name: string, lengths: Readonly<Record<Family, readonly number[]>>]> =
  [
    ["1 length", { 4: [32], 6: [128] }],
    ["3 lengths", { 4: [32, 24, 16], 6: [128, 64, 48] }],
    ["all lengths", { 4: EVERY_LENGTH.ipv4, 6: EVERY_LENGTH.ipv6 }],
  ]
const EVERYTHING = { 4: Address.ipv4(0), 6: Address.ipv6Base(0, 0, 0, 0) } as const
/** The network of length 0 holds an entry that has ended: it is found, and lets nobody in, so the search goes on. */
const ENDED = 2
const ACTIVE = 1
/** How many decisions go by between two looks at the clock. */
const BETWEEN_LOOKS = 1_000

if (import.meta.main) {
  const [name, sizes] = process.argv.slice(2)
  const figures = measure(name as CandidateName, JSON.parse(sizes ?? "{}") as IndexSizes)
  console.log(JSON.stringify(figures))
}

function measure(name: CandidateName, { entries, probes, repeats, timed }: IndexSizes): IndexFigure[] {
  const figures: IndexFigure[] = []
  for (const family of [4, 6] as const) {
    for (const [lengths, { [family]: used }] of LENGTHS) {
      for (const count of entries) {
        const population = new Population(family, used, count)
        const networks = [...population.networks]
        const all = lengths === "all lengths" && name !== "sorted-ranges"
        const zero = Network.from(EVERYTHING[family], 0)
        if (all && zero !== null) networks[networks.length - 1] = zero
        const before = memory()
        const candidate: Candidate = CANDIDATES[name](networks)
        const bytes = candidate.bytes ?? memory() - before
        for (const asked of probes) {
          // More probes than entries would only be the same entries again.
          if (asked > Math.max(count, 1_000)) continue
          const order = shuffled(asked)
          // The last network may have given its place to the one of length 0.
          const hits = made(order, (i) => population.hit(i % Math.max(1, count - 1)))
          const near = made(order, (i) => population.miss(i))
          const far = made(order, () => population.far())
          const asks = {
            hit: asker(candidate, hits, timed),
            near: asker(candidate, near, timed),
            far: asker(candidate, far, timed),
          }
          const times = { hit: [] as number[], near: [] as number[], far: [] as number[] }
          let wrong = 0
          // The first time is for the compiler.
          for (let repeat = 0; repeat <= repeats; repeat++) {
            for (const kind of ["hit", "near", "far"] as const) {
              const { found, decisions, nanoseconds } = asks[kind]()
              wrong += kind === "hit" ? decisions - found : found
              if (repeat > 0) times[kind].push(nanoseconds)
            }
          }
          figures.push({
            family,
            lengths,
            entries: count,
            probes: asked,
            hit: median(times.hit),
            near: median(times.near),
            far: median(times.far),
            bytesAnEntry: bytes / count,
            wrong,
          })
        }
      }
    }
  }
  return figures
}

/** As `Array.from`, which takes twice as long. */
function made(order: Uint32Array, make: (i: number) => Address): Address[] {
  const addresses: Address[] = []
  for (const i of order) addresses.push(make(i))
  return addresses
}

function accepts(value: number): boolean {
  return value === ACTIVE
}

/** Each call goes on where the one before it stopped, so that a million addresses stay a million. */
function asker(candidate: Candidate, addresses: readonly Address[], milliseconds: number) {
  let at = 0
  return () => {
    let found = 0
    let decisions = 0
    const startedAt = Bun.nanoseconds()
    let elapsed = 0
    while (elapsed < milliseconds * 1e6) {
      for (let i = 0; i < BETWEEN_LOOKS; i++) {
        if (candidate.some(addresses[at] as Address, accepts)) found++
        if (++at === addresses.length) at = 0
      }
      decisions += BETWEEN_LOOKS
      elapsed = Bun.nanoseconds() - startedAt
    }
    return { found, decisions, nanoseconds: elapsed / decisions }
  }
}

function filled<Index extends { set(network: Network, value: number): void }>(
  index: Index,
  networks: readonly Network[],
): Index {
  for (const network of networks) index.set(network, network.length === 0 ? ENDED : ACTIVE)
  return index
}

function memory(): number {
  Bun.gc(true)
  const { heapSize, extraMemorySize } = heapStats()
  return heapSize + extraMemorySize
}
