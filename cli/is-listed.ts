// Is exactly this network on this list? For a dry run, which must find out without changing anything.

import type { ListName } from "../src/core/entry.ts"
import type { Gate } from "../src/core/gate.ts"
import type { Network } from "../src/core/network.ts"

export async function isListed(gate: Gate, network: Network, list: ListName): Promise<boolean> {
  const { matches } = await gate.check(network)
  return matches.some((match) => match.list === list && match.ip === network.toString())
}
