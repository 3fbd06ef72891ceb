// What the gate saw of a few requests: how often it was asked, what it said, and for whom it took the client.

import { Address } from "../../src/core/address.ts"
import type { Gate } from "../../src/core/gate.ts"
import { LARGEST_LIMIT } from "../../src/core/page.ts"
import type { Answer } from "./raw-request.ts"

/** Requests in a row. Others use the gate at the same time: what has happened so often has happened to these. */
export const BURST = 5

/** What a burst of requests has shown, on both sides of the proxy. */
export type Evidence = {
  /** Of the requests, in their order. */
  readonly statuses: readonly number[]
  readonly last: Answer
  /** By how much the gate's own counts have grown, all of its clients counted. */
  readonly allowed: number
  readonly denied: number
  readonly unidentified: number
  /** Refused for each of the requests: so the gate was asked about each, and took the client for one of these. */
  readonly refusedAs: readonly Address[]
  /** Refused at least once. */
  readonly refusedOnce: readonly Address[]
}

export async function gather(gate: Gate, request: () => Promise<Answer>): Promise<Evidence> {
  const before = await observe(gate)
  const answers: Answer[] = []
  for (let i = 0; i < BURST; i++) answers.push(await request())
  const after = await observe(gate)
  const grown = [...after.refused].map(([ip, count]) => ({
    address: Address.parse(ip),
    by: count - (before.refused.get(ip) ?? 0),
  }))
  const refused = (atLeast: number) =>
    grown.flatMap(({ address, by }) => (address !== null && by >= atLeast ? [address] : []))
  return {
    statuses: answers.map(({ status }) => status),
    last: answers.at(-1) as Answer,
    allowed: after.allowed - before.allowed,
    denied: after.denied - before.denied,
    unidentified: after.unidentified - before.unidentified,
    refusedAs: refused(BURST),
    refusedOnce: refused(1),
  }
}

async function observe(gate: Gate) {
  const [counts, refused] = await Promise.all([
    gate.decisions(),
    // The last refused come first, so the requests of a moment ago are on the first page.
    gate.refused({ limit: LARGEST_LIMIT, offset: 0 }),
  ])
  return { ...counts, refused: new Map(refused.map(({ ip, count }) => [ip, count])) }
}
