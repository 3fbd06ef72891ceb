// The answers of the server. The 204 that lets a client in is built in one place only: here.

import type { GateError, GateErrorCode } from "../core/errors.ts"
import type { FeedEvent } from "../core/feed.ts"
import { formatErrorText } from "../wire/error-text.ts"
import { formatEvent } from "../wire/event-stream.ts"
import { RETRY_AFTER, statusOf } from "../wire/statuses.ts"

/** No cache may stretch a decision, and no answer is worth storing. */
const NO_STORE = { "Cache-Control": "no-store" } as const

const TEXT = {
  ...NO_STORE,
  "Content-Type": "text/plain; charset=utf-8",
  "X-Content-Type-Options": "nosniff",
} as const

/**
 * The decisions have no body: one would cost nginx its keep-alive connection. Each is a copy of one Response that is
 * never sent itself, because Bun takes the headers out of what it sends, and a copy costs less than a new one.
 */
const ALLOWED = new Response(null, { status: 204, headers: NO_STORE })
const DENIED = new Response(null, { status: 401, headers: NO_STORE })
const NOT_GET = new Response(null, { status: 405, headers: { ...NO_STORE, Allow: "GET" } })
const AUTHZ_ALLOWED = new Response(null, { status: 200, headers: NO_STORE })
const AUTHZ_DENIED = new Response(null, { status: 403, headers: NO_STORE })

function copyOf(decision: Response): Response {
  return decision.clone() as Response
}

export function allowed(): Response {
  return copyOf(ALLOWED)
}

export function denied(): Response {
  return copyOf(DENIED)
}

export function notGet(): Response {
  return copyOf(NOT_GET)
}

/** The same decision for Envoy, which takes only a 200 for a yes. */
export function authzAllowed(): Response {
  return copyOf(AUTHZ_ALLOWED)
}

export function authzDenied(): Response {
  return copyOf(AUTHZ_DENIED)
}

export function json(value: unknown): Response {
  return jsonText(JSON.stringify(value))
}

/** JSON that is written already. */
export function jsonText(text: string): Response {
  return new Response(text, { headers: { ...NO_STORE, "Content-Type": "application/json" } })
}

/** The text that Prometheus collects. */
export function exposition(contentType: string, text: string): Response {
  return new Response(text, { headers: { ...NO_STORE, "Content-Type": contentType } })
}

/** Lines of text as they come, after a first piece that is there. */
export function lines(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>): Response {
  return new Response(inPieces(first, rest), { headers: TEXT })
}

/** A database file in the same way. */
export function database(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>): Response {
  const headers = { ...NO_STORE, "Content-Type": "application/vnd.sqlite3" }
  return new Response(inPieces(first, rest), { headers })
}

// Pulled one by one, so that a slow reader costs no memory; a reader that leaves ends the source.
function inPieces(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>) {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (first.done) controller.close()
      else controller.enqueue(first.value)
    },
    async pull(controller) {
      const { done, value } = await rest.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await rest.return?.()
    },
  })
}

/** Events as they come. Pulled one by one: what a slow reader does not take waits in the feed, which drops it. */
export function eventStream(events: AsyncIterable<FeedEvent>): Response {
  const encoder = new TextEncoder()
  const source = events[Symbol.asyncIterator]()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await source.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(formatEvent(value)))
    },
    async cancel() {
      await source.return?.()
    },
  })
  return new Response(body, { headers: { ...NO_STORE, "Content-Type": "text/event-stream" } })
}

/** The 201 of what has a place of its own from now on. */
export function created(location: string, value: unknown): Response {
  return new Response(JSON.stringify(value), {
    status: 201,
    headers: { ...NO_STORE, "Content-Type": "application/json", Location: location },
  })
}

/** The 204 of a change that was made; `headers` say what it did. */
export function changed(headers: Readonly<Record<string, string>>): Response {
  return new Response(null, { status: 204, headers: { ...NO_STORE, ...headers } })
}

export function text(status: 400 | 404 | 413 | 500, message: string): Response {
  return new Response(`${message}\n`, {
    status,
    headers: status === 413 ? { ...TEXT, Connection: "close" } : TEXT,
  })
}

export function methodNotAllowed(allow: string): Response {
  return new Response("method not allowed\n", { status: 405, headers: { ...TEXT, Allow: allow } })
}

/** RFC 6750: the same challenge and body for a missing, a malformed, a wrong, a revoked and an expired token. */
export function unauthorized(): Response {
  return new Response("missing or invalid token\n", {
    status: 401,
    headers: { ...TEXT, "WWW-Authenticate": "Bearer" },
  })
}

/** RFC 6750, section 3.1. */
const INSUFFICIENT_SCOPE = 'Bearer error="insufficient_scope"'

const HEADERS_OF: Partial<Record<GateErrorCode, Readonly<Record<string, string>>>> = {
  forbidden: { "WWW-Authenticate": INSUFFICIENT_SCOPE },
  busy: { "Retry-After": String(RETRY_AFTER) },
}

/** The answer for an operation that could not be done. What went wrong inside stays in the server's log. */
export function failure(error: GateError): Response {
  const headers = { ...TEXT, ...HEADERS_OF[error.code] }
  return new Response(formatErrorText(error), { status: statusOf(error.code), headers })
}

export function internalError(): Response {
  return text(500, "internal error; the server's log has the details")
}
