// The gate of a running server, for the command line. Loads no database code.

import { GateError } from "../core/errors.ts"
import type { Gate } from "../core/gate.ts"
import { RemoteGate } from "../gate/remote-gate.ts"

/** Milliseconds until a server that does not answer counts as out of reach. */
const TIMEOUT = 10_000

/**
 * `server` is `host:port`, an `http(s)` URL, or `unix:/path`. Every request rejects with `unavailable` if nothing
 * answers there.
 */
export function openRemoteGate(server: string, token: () => string): Gate {
  const unix = server.startsWith("unix:") ? server.slice("unix:".length) : undefined
  const base =
    unix !== undefined ? "http://localhost" : /^https?:\/\//.test(server) ? server : `http://${server}`
  const root = base.replace(/\/+$/, "")
  return new RemoteGate(async (path, init) => {
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
        hint: "is `ipgate serve` running? --offline works on the database directly",
      })
    }
  }, token)
}
