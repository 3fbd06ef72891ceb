// The decision, for two dialects of proxies. Synchronous, from memory: no await, no database, no log line.

import type { Allowlist } from "../core/allowlist.ts"
import type { DecisionCounters } from "../core/decision-counters.ts"
import type { RefusedClients } from "../core/refused-clients.ts"
import type { ClientAddresses } from "./client-address.ts"
import type { Peer } from "./guard.ts"
import { allowed, authzAllowed, authzDenied, denied, notGet } from "./responses.ts"

/**
 * `GET /auth`: 204 lets the client in, 401 keeps it out. A missing, doubled or malformed address is 401 too, because
 * nginx turns any other status into a 500. Every other method is 405, HEAD included.
 */
export function authorize(request: Request, peer: Peer, decide: Decide, trusts: Trusts): Response {
  if (request.method !== "GET") return toPeer(notGet(), trusts(peer))
  return decide(request, peer) === true ? allowed() : toPeer(denied(), trusts(peer))
}

/** `/authz/*`, any method and any path below: 200 or 403. Envoy sends the client's own method and path. */
export function authorizeAny(request: Request, peer: Peer, decide: Decide, trusts: Trusts): Response {
  return decide(request, peer) === true ? authzAllowed() : toPeer(authzDenied(), trusts(peer))
}

/** True for a peer that may ask on behalf of clients. */
export type Trusts = (peer: Peer) => boolean

/**
 * Whoever is no trusted proxy has one answer a connection. Bun keeps answers without a body for a peer that sends
 * questions and never reads, as many as come, and a stranger could fill the memory with them.
 */
function toPeer(answer: Response, isTrusted: boolean): Response {
  if (!isTrusted) answer.headers.set("Connection", "close")
  return answer
}

/** True only if the client's address is known and an entry that has not ended contains it. */
export type Decide = (request: Request, peer: Peer) => boolean

export function decideBy(
  allowlist: Allowlist,
  clients: ClientAddresses,
  counters: DecisionCounters,
  refused: RefusedClients,
): Decide {
  return (request, peer) => {
    const address = clients.ofRequest(request, peer)
    if (address !== null && allowlist.allows(address) === true) {
      counters.allowed++
      return true
    }
    counters.denied++
    if (address === null) counters.unidentified++
    else refused.see(address)
    return false
  }
}
