// Which networks are so wide that nobody should let them in by a slip of the finger.

import type { Network } from "../src/core/network.ts"

const NARROW_ENOUGH = { 4: 8, 6: 32 } as const

/** Why the network asks for a second thought, or `null`. */
export function explainWide(network: Network): string | null {
  const length = NARROW_ENOUGH[network.family]
  if (network.length >= length) return null
  return `${network} is wider than /${length}: it lets a large part of the internet in`
}
