// Addresses and networks that a test writes as literals: text that does not parse is a mistake in the test.

import { Address } from "../../src/core/address.ts"
import { Network } from "../../src/core/network.ts"

export function address(text: string): Address {
  const parsed = Address.parse(text)
  if (parsed === null) throw new Error(`${text} is no address`)
  return parsed
}

export function network(text: string): Network {
  const parsed = Network.parse(text)
  if (parsed === null) throw new Error(`${text} is no network`)
  return parsed
}
