// A server that runs, as whoever has started it sees it.

import type { ClientIpHeader, TrustedProxies } from "../http/client-address.ts"
import type { ListenAddress } from "../listen-address.ts"

/** What a running server takes over without a restart. */
export type ServerPolicy = {
  readonly tokens: readonly string[]
  readonly trustedProxies: TrustedProxies
  readonly clientIpHeader: ClientIpHeader
  readonly logRefusals: boolean
}

export type RunningServer = {
  readonly addresses: readonly ListenAddress[]
  /** All of it holds for the very next request. */
  apply(policy: ServerPolicy): void
  /** How much is on the lists, in words. */
  summary(): string
  /** Answers what has arrived, closes the database, and ends its thread. */
  stop(): Promise<void>
}
