// A listener with all that the server has around a gate, for a gate that a test makes up.

import type { Clock } from "../../src/core/clock.ts"
import type { Gate } from "../../src/core/gate.ts"
import type { TokenRegistry } from "../../src/core/token.ts"
import { BearerTokens } from "../../src/http/bearer.ts"
import { ClientAddresses } from "../../src/http/client-address.ts"
import { FailedSenders } from "../../src/http/failed-senders.ts"
import { routes } from "../../src/http/routes.ts"
import { listen } from "../../src/http/server.ts"
import { formatListenAddress } from "../../src/listen-address.ts"
import { lineLog } from "./line-log.ts"
import { ANY_PORT, TOKEN } from "./running-server.ts"
import { DEFAULT_TRUSTED_PROXIES } from "./trusted-proxies.ts"

/** `gate` needs only what is asked of it. Lines of the log go to `log`. */
export function listenOver(
  gate: Partial<Gate>,
  clock: Clock,
  { tokens = new BearerTokens([TOKEN]), log = [] as string[] } = {},
): { readonly url: string; stop(): Promise<void> } {
  const listener = listen(
    ANY_PORT,
    routes({
      decide: () => false,
      clients: new ClientAddresses(DEFAULT_TRUSTED_PROXIES, "X-Real-IP"),
      tokens,
      failures: new FailedSenders(clock),
      registry: { as: () => ({}) as TokenRegistry },
      gateFor: () => gate as Gate,
      log: lineLog((line) => log.push(line), clock),
    }),
  )
  return { url: `http://${formatListenAddress(listener.address)}`, stop: () => listener.stop() }
}
