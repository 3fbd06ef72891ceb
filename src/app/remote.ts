// The gate of a running server, for the command line. Loads no database code.

import { GateError } from "../core/errors.ts"
import type { Gate } from "../core/gate.ts"
import type { TokenRegistry } from "../core/token.ts"
import type { Send } from "../gate/authorized-requests.ts"
import { RemoteGate } from "../gate/remote-gate.ts"
import { RemoteTokens } from "../gate/remote-tokens.ts"

/** Milliseconds until a server that does not answer counts as out of reach. */
const TIMEOUT = 10_000

/**
 * `server` is `host:port`, an `http(s)` URL, or `unix:/path`. Every request rejects with `unavailable` if nothing
 * answers there.
 */
export function openRemoteGate(server: string, token: () => string): Gate {
  return new RemoteGate(sendTo(server), token)
}

/** The named tokens of the same server. */
export function openRemoteTokens(server: string, token: () => string): TokenRegistry {
  return new RemoteTokens(sendTo(server), token)
}

function sendTo(server: string): Send {
  const unix = server.startsWith("unix:") ? server.slice("unix:".length) : undefined
  const base =
    unix !== undefined ? "http://localhost" : /^https?:\/\//.test(server) ? server : `http://${server}`
  const root = base.replace(/\/+$/, "")
  return async (path, init) => {
    try {
      return await fetch(root + path, {
        ...init,
        ...(unix === undefined ? {} : { unix }),
        redirect: "error",
        signal: init.signal ?? AbortSignal.timeout(TIMEOUT),
      })
    } catch (cause) {
      throw new GateError("unavailable", `no ipgate server answers at ${server}`, {
        cause,
        hint: "is it running (`ipgate serve`, or `systemctl status ipgate`)? --offline works on the database directly",
      })
    }
  }
}
