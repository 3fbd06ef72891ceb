// Is exactly this network on this list? For a dry run, which must find out without changing anything.

import type { ListName } from "../src/core/entry.ts"
import type { Match } from "../src/core/gate.ts"
import type { Network } from "../src/core/network.ts"

/** `matches` is what a check of the network has found. */
export function isListed(matches: readonly Match[], network: Network, list: ListName): boolean {
  return matches.some((match) => match.list === list && match.ip === network.toString())
}
