// Can only this machine reach a listener? Then nobody need ask again at every request who the peer is.

import { readdirSync, readFileSync } from "node:fs"
import { isLocal, type ListenAddress } from "../listen-address.ts"

const INTERFACES = "/proc/sys/net/ipv4/conf"

/**
 * True if the kernel lets no other machine reach the address: a literal loopback address, while no interface routes
 * packets from outside to loopback (`route_localnet`, which container tools switch on). If that cannot be found out,
 * the answer is no.
 */
export function onlyLocalPeers(address: ListenAddress & { kind: "tcp" }): boolean {
  return address.hostname !== "localhost" && isLocal(address) && !loopbackIsRouted()
}

function loopbackIsRouted(): boolean {
  try {
    return readdirSync(INTERFACES).some(
      (name) => readFileSync(`${INTERFACES}/${name}/route_localnet`, "utf8").trim() !== "0",
    )
  } catch {
    return true
  }
}
