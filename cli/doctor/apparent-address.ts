// Is the address that ipgate was told the client's, or that of something that stands in between?

import type { Address } from "../../src/core/address.ts"
import { LOOPBACK } from "../../src/core/loopback.ts"
import { Network } from "../../src/core/network.ts"

const networks = (...texts: readonly string[]) => texts.flatMap((text) => Network.parse(text) ?? [])

/** Out of these Docker, Podman and their virtual machines give a gateway its address, which ends with 1. */
const CONTAINER_NETWORKS = networks(
  "172.16.0.0/12",
  "10.88.0.0/15",
  "192.168.65.0/24",
  "192.168.127.0/24",
  "fc00::/7",
)

const PRIVATE = [
  ...LOOPBACK,
  ...networks(
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
    "169.254.0.0/16",
    "fc00::/7",
    "fe80::/10",
  ),
]

/** Addresses of gateways that are worth a look in the lists, when a client is let in that nobody has allowed. */
export const USUAL_GATEWAYS: readonly Network[] = networks(
  "127.0.0.1",
  "::1",
  ...Array.from({ length: 16 }, (_, i) => `172.${16 + i}.0.1`),
  "10.88.0.1",
  "10.89.0.1",
  "192.168.65.1",
  "192.168.127.1",
)

export function isGateway(address: Address): boolean {
  const last = address.family === 4 ? address.word0 & 0xff : address.word3
  return isIn(LOOPBACK, address) || (last === 1 && isIn(CONTAINER_NETWORKS, address))
}

/**
 * True if a request that this machine sent from `own` should not look like one from `apparent`. A router that
 * translates addresses is no reason: behind it `apparent` is a public address, or another private one.
 */
export function isSubstitute(apparent: Address, own: Address): boolean {
  if (apparent.equals(own)) return false
  if (apparent.family !== own.family || isGateway(apparent)) return true
  return isIn(PRIVATE, apparent) && !isIn(PRIVATE, own)
}

function isIn(all: readonly Network[], address: Address): boolean {
  const network = Network.of(address)
  return all.some((one) => one.contains(network))
}
