// The doctor's own entries: temporary, marked, and taken off the list again whatever happens.

import { Address } from "../../src/core/address.ts"
import { GateError, type GateErrorCode } from "../../src/core/errors.ts"
import type { Gate } from "../../src/core/gate.ts"
import { Network } from "../../src/core/network.ts"

/** Seconds. An entry that could not be removed ends by itself. */
const LIFETIME = 300
export const REASON = "ipgate doctor: a test entry, removed when the test is over"

const REFUSALS: readonly GateErrorCode[] = ["forbidden", "unauthorized"]

export class MarkedEntries {
  private readonly held = new Map<string, Network>()

  constructor(private readonly gate: Gate) {}

  async add(network: Network): Promise<void> {
    // Noted first: an answer that is lost on its way may have been a yes. A refusal is none.
    this.held.set(network.toString(), network)
    try {
      await this.gate.addTemporary({ network, ttlSeconds: LIFETIME, reason: REASON })
    } catch (error) {
      if (error instanceof GateError && REFUSALS.includes(error.code)) this.held.delete(network.toString())
      throw error
    }
  }

  async remove(network: Network): Promise<void> {
    await this.gate.removeTemporary(network)
    this.held.delete(network.toString())
  }

  /** Those that could not be removed, each of which will end by itself. */
  async removeAll(): Promise<Network[]> {
    const left: Network[] = []
    for (const network of this.held.values()) {
      await this.gate.removeTemporary(network).catch(() => left.push(network))
    }
    this.held.clear()
    return left
  }
}

/**
 * An address that no entry contains, out of the ranges that are set aside for documentation (RFC 5737, RFC 3849): no
 * client has it, so letting it in lets nobody in. `null` if everything is allowed.
 */
export async function unusedAddress(gate: Gate, family: 4 | 6): Promise<Network | null> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const network = Network.of(family === 4 ? documentationIpv4() : documentationIpv6())
    if (!(await gate.check(network)).allowed) return network
  }
  return null
}

const TEST_NETS = [0xc0000200, 0xc6336400, 0xcb007100]

function documentationIpv4(): Address {
  const [which = 0, host = 0] = crypto.getRandomValues(new Uint8Array(2))
  return Address.ipv4((TEST_NETS[which % TEST_NETS.length] as number) + 1 + (host % 254))
}

function documentationIpv6(): Address {
  const [second = 0, third = 0, fourth = 0] = crypto.getRandomValues(new Uint32Array(3))
  return Address.ipv6(0x20010db8, second, third, fourth)
}
