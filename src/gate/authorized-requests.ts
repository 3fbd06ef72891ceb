// Requests to a running server with the client's token, and what the answers mean.

import { GateError } from "../core/errors.ts"
import { parseErrorText } from "../wire/error-text.ts"
import { codeOf } from "../wire/statuses.ts"

/** A hundred bad lines of an import; what is longer is no message of ours. */
const LONGEST_MESSAGE = 50_000

/** `bulk` is what takes its time: all entries on their way in or out. */
export type Size = "bulk"

/**
 * Sends one request to the server; `path` begins with a slash. Rejects with `unavailable` if the server is out of reach
 * or does not answer in time. What aborts the reading of a body because it is late is a `GateError` too. A signal of the
 * caller's own takes the place of every limit.
 */
export type Send = (path: string, init: RequestInit, size?: Size) => Promise<Response>

export class AuthorizedRequests {
  constructor(
    private readonly send: Send,
    /** Asked for at each request that needs it, so that what needs no token works without one. */
    private readonly token: () => string,
  ) {}

  /** An answer of success. Rejects with the error that any other one means. */
  async request(path: string, init: RequestInit, size?: Size): Promise<Response> {
    return succeeded(await this.answer(path, init, size))
  }

  /** Any answer. */
  answer(path: string, init: RequestInit, size?: Size): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set("Authorization", `Bearer ${this.token()}`)
    return this.send(path, { ...init, headers }, size)
  }

  /** The JSON of an answer. */
  async get(path: string, query: URLSearchParams): Promise<unknown> {
    return json(await this.request(`${path}?${query}`, {}))
  }

  post(path: string, body: object): Promise<Response> {
    return this.request(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
    })
  }
}

/** Rejects with the error that an answer means, unless it tells of success. */
export async function succeeded(answer: Response): Promise<Response> {
  if (answer.status === 200 || answer.status === 201 || answer.status === 204) return answer
  const text = await whole(answer)
  const { message, hint } = parseErrorText(text)
  const isPage = answer.headers.get("Content-Type")?.startsWith("text/html") === true
  if (message !== "" && text.length <= LONGEST_MESSAGE && !isPage) {
    throw new GateError(codeOf(answer.status), message, hint === undefined ? {} : { hint })
  }
  throw new GateError(
    codeOf(answer.status),
    `the server answered ${answer.status}`,
    isPage
      ? { hint: "that was a web page: is it ipgate, and does a proxy before it pass this path on?" }
      : {},
  )
}

/** Rejects with `failed` if the answer is no JSON, and as `pieces` does. */
export async function json(answer: Response): Promise<unknown> {
  const text = await whole(answer)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new GateError("failed", "the server's answer is not JSON: is this an ipgate server?", { cause })
  }
}

/** The body as it comes. Rejects with `unavailable` if it breaks off or is late; `what` is its name in the message. */
export async function* pieces(answer: Response, what: string): AsyncGenerator<Uint8Array> {
  try {
    if (answer.body !== null) yield* answer.body
  } catch (cause) {
    throw brokenOff(what, cause)
  }
}

async function whole(answer: Response): Promise<string> {
  try {
    return await answer.text()
  } catch (cause) {
    throw brokenOff("its answer", cause)
  }
}

/** A late body is aborted with the error that says so; the runtime's own words about a lost connection help nobody. */
function brokenOff(what: string, cause: unknown): GateError {
  if (cause instanceof GateError) return cause
  return new GateError("unavailable", `the server has broken off ${what}`, { cause })
}
