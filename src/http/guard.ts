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
  return (request, peer) => {
    try {
      const answer: unknown = handle(request, peer)
      if (answer instanceof Response) return answer
      if (answer instanceof Promise) {
        return answer.then((value: unknown) => (value instanceof Response ? value : failed(value)), failed)
      }
      return failed(answer)
    } catch (cause) {
      return failed(cause)
    }
  }
}
