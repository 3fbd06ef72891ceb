// The outermost wrapper of every handler: whatever is not a Response becomes a 500.

/** The address of the TCP peer, `"unix"` for a unix socket, or `null` if it is not known. */
export type Peer = string | null

export type Handler = (request: Request, peer: Peer) => Response | Promise<Response>

/**
 * Bun sends a 204, which every proxy takes for "let in", when a handler returns anything but a Response. So a handler
 * that throws, rejects, or returns nothing gets the answer of `failed` here, and a `Response` with an error goes on
 * as it is. Synchronous where the handler is.
 */
export function guarded(handle: Handler, failed: (cause: unknown) => Response): Handler {
  const checked = (value: unknown): Response => {
    try {
      return isResponse(value) ? value : failed(value)
    } catch (cause) {
      return failed(cause)
    }
  }
  return (request, peer) => {
    try {
      const answer: unknown = handle(request, peer)
      if (answer instanceof Promise) return then.call(answer, checked, failed) as Promise<Response>
      return checked(answer)
    } catch (cause) {
      return failed(cause)
    }
  }
}

const { then } = Promise.prototype
const statusOf = Object.getOwnPropertyDescriptor(Response.prototype, "status")?.get as (
  this: unknown,
) => number

// Asks the object itself: its prototype can be anything, and Bun sends a 204 for what only looks like a Response.
function isResponse(value: unknown): value is Response {
  return value instanceof Response && typeof statusOf.call(value) === "number"
}
