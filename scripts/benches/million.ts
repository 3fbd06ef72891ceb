// The large database: its entries, the clients that they let in, and strangers; and its import into a running server.

import type { Network } from "../../src/core/network.ts"
import type { Lab } from "./lab.ts"
import { Population, shuffled } from "./population.ts"

export type Kind = {
  readonly ipv4: readonly number[]
  readonly ipv6: readonly number[]
  readonly ipv6Share: number
}

/** A mixture as networks have it: mostly single IPv4 addresses and /24, and a fifth of it IPv6. */
const MIXTURE: Kind = { ipv4: [32, 32, 32, 24], ipv6: [64, 128], ipv6Share: 0.2 }

/** Every prefix length from 1 on; a network of length 0 would let everybody in. */
export const EVERY_LENGTH: Kind = {
  ipv4: Array.from({ length: 32 }, (_, i) => i + 1),
  ipv6: Array.from({ length: 128 }, (_, i) => i + 1),
  ipv6Share: 0.5,
}

export type Entries = {
  readonly count: number
  /** One network a line, as `ipgate import` takes it. */
  readonly file: string
  /** One client a line, each let in by another entry, in an order without a pattern. */
  readonly clients: string
  /** The table of nginx. */
  readonly geo: string
  readonly in: readonly string[]
  readonly out: readonly string[]
}

/** How many clients and strangers are kept at hand. */
const AT_HAND = 1_000

/** The same `seed` makes the same entries again. */
export async function makeEntries(
  lab: Lab,
  name: string,
  count: number,
  { kind = MIXTURE, seed = 1 }: { kind?: Kind; seed?: number } = {},
): Promise<Entries> {
  const sixes = Math.round(count * kind.ipv6Share)
  const four = new Population(4, kind.ipv4, count - sixes, seed)
  const six = new Population(6, kind.ipv6, sixes, seed)
  const populationOf = (i: number) => (i < four.networks.length ? four : six)
  const placeOf = (i: number) => (i < four.networks.length ? i : i - four.networks.length)
  const networks: Network[] = []
  const clients: string[] = []
  const out: string[] = []
  for (const i of shuffled(count)) {
    const population = populationOf(i)
    networks.push(population.networks[placeOf(i)] as Network)
    clients.push(population.hit(placeOf(i)).toString())
    if (out.length < AT_HAND) out.push(population.miss(placeOf(i)).toString())
  }
  const texts = networks.map(String)
  return {
    count,
    file: await lab.write(`${name}.txt`, `${texts.join("\n")}\n`),
    clients: await lab.write(`${name}-clients.txt`, `${clients.join("\n")}\n`),
    geo: await lab.write(`${name}.geo`, `${texts.join(" 1;\n")} 1;\n`),
    in: clients.slice(0, AT_HAND),
    out,
  }
}
