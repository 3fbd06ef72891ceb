// Which of an installation's listeners a proxy can ask, and how that is written in its configuration.

import type { Config } from "../../src/config/config.ts"
import { Address } from "../../src/core/address.ts"
import { Network } from "../../src/core/network.ts"
import { formatListenAddress, isEveryAddress, reachable } from "../../src/listen-address.ts"
import { UsageError } from "../exit.ts"
import type { ListenAddress, ProxyTemplate } from "./proxy-template.ts"

/**
 * The first listener that the proxy can ask, as a client writes it: one that stands for every address of the machine
 * becomes loopback. Throws `UsageError` if there is none.
 */
export function listenerFor({ name, asksUnixSockets }: ProxyTemplate, listen: readonly ListenAddress[]) {
  const found = listen.find(({ kind }) => kind === "tcp" || asksUnixSockets)
  if (found === undefined) {
    throw new UsageError(
      `${name} asks over TCP, and ipgate listens on a unix socket only`,
      'add a TCP address: listen = ["127.0.0.1:8765", …] under [server], or --listen',
    )
  }
  if (found.kind === "unix") {
    if (/^[\w@%+./-]+$/.test(found.path)) return found
    throw new UsageError(
      `the path of the socket has characters that mean something in configurations: ${found.path}`,
    )
  }
  if (found.port === 0) {
    throw new UsageError("the port of ipgate is chosen when it starts: give it a fixed one with --listen")
  }
  return { ...found, hostname: reachable(found.hostname) }
}

/** What the administrator has to know beside the configuration, or `null`. */
export function caveat(listen: ListenAddress, { trustedProxies, listen: all }: Config): string | null {
  if (listen.kind === "unix") {
    return trustedProxies.unixSocket
      ? null
      : 'trusted_proxies does not hold "unix", so ipgate denies everybody whom this proxy names'
  }
  const address = Address.parse(listen.hostname)
  const wide = all.some((one) => one.kind === "tcp" && isEveryAddress(one.hostname))
  if (wide) {
    return `ipgate listens on every address: from another machine or a container, put the one that reaches it in place of ${formatListenAddress(listen)}`
  }
  // A proxy on this machine reaches an address of this machine from that same address.
  const trusted = address !== null && trustedProxies.networks.some((one) => one.contains(Network.of(address)))
  return trusted
    ? null
    : `trusted_proxies does not hold ${listen.hostname}: the address that this proxy asks from must be there`
}
