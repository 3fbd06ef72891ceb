// The gate of a running server, for the command line. Loads no database code.

import { GateError } from "../core/errors.ts"
import type { Gate } from "../core/gate.ts"
import type { TokenRegistry } from "../core/token.ts"
import type { Send, Size } from "../gate/authorized-requests.ts"
import { RemoteGate } from "../gate/remote-gate.ts"
import { RemoteTokens } from "../gate/remote-tokens.ts"

/** Milliseconds until an answer must be complete: to a question, to a change of one entry, and to what is for many. */
export type Patience = { readonly question: number; readonly change: number; readonly bulk: number }

/**
 * A question can be asked again. A change that is given up may be made all the same, and who asked for it does not
 * learn so: it may wait for an import of a million entries, which holds up the others for 15 s and, on a slow disk, longer.
 */
const PATIENCE: Patience = { question: 10_000, change: 60_000, bulk: 600_000 }

/**
 * `server` is `host:port`, an `http(s)` URL, or `unix:/path`. Every request rejects with `unavailable` if nothing
 * answers there, or not within `patience`.
 */
export function openRemoteGate(server: string, token: () => string, patience = PATIENCE): Gate {
  return new RemoteGate(sendTo(server, patience, "ipgate check"), token)
}

/** The named tokens of the same server, as patiently. */
export function openRemoteTokens(server: string, token: () => string, patience = PATIENCE): TokenRegistry {
  return new RemoteTokens(sendTo(server, patience, "ipgate token list"), token)
}

/** `question` is the command that tells whether a change was made. */
function sendTo(server: string, patience: Patience, question: string): Send {
  const unix = server.startsWith("unix:") ? server.slice("unix:".length) : undefined
  const base =
    unix !== undefined ? "http://localhost" : /^https?:\/\//.test(server) ? server : `http://${server}`
  const root = base.replace(/\/+$/, "")
  return async (path, init, size) => {
    const isChange = (init.method ?? "GET") !== "GET"
    const unsure = isChange
      ? { hint: `the change may still take effect: ask with \`${question}\` before you repeat it` }
      : {}
    const late = (milliseconds: number) =>
      new GateError(
        "unavailable",
        `the server at ${server} has not answered within ${milliseconds / 1000} s: it may be busy with an import or a backup`,
        unsure,
      )
    try {
      return await fetch(root + path, {
        ...init,
        ...(unix === undefined ? {} : { unix }),
        redirect: "error",
        signal: init.signal ?? abortedAfter(limitOf(patience, size, isChange), late),
        // The runtime has a limit of its own, below that of what is for many.
        timeout: false,
      })
    } catch (cause) {
      if (cause instanceof GateError) throw cause
      if ((cause as NodeJS.ErrnoException).code === "ECONNRESET") {
        const message = `the server at ${server} has closed the connection without an answer`
        throw new GateError("unavailable", message, { cause, ...unsure })
      }
      throw new GateError("unavailable", `no ipgate server answers at ${server}`, {
        cause,
        hint: "is it running (`ipgate serve`, or `systemctl status ipgate`)? --offline works on the database directly",
      })
    }
  }
}

function limitOf(patience: Patience, size: Size | undefined, isChange: boolean): number {
  if (size === "bulk") return patience.bulk
  return isChange ? patience.change : patience.question
}

/** What is aborted by it, the reading of a body too, rejects with the error itself. */
function abortedAfter(milliseconds: number, error: (milliseconds: number) => GateError): AbortSignal {
  const controller = new AbortController()
  // A command that has its answer does not wait for the timer.
  setTimeout(() => controller.abort(error(milliseconds)), milliseconds).unref()
  return controller.signal
}
