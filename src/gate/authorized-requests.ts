// Requests to a running server with the client's token, and what the answers mean.

import { GateError } from "../core/errors.ts"
import { codeOf } from "../wire/statuses.ts"

/** A hundred bad lines of an import; what is longer is no message of ours. */
const LONGEST_MESSAGE = 50_000

/** Sends one request to the server; `path` begins with a slash. Rejects if the server is out of reach. */
export type Send = (path: string, init: RequestInit) => Promise<Response>

export class AuthorizedRequests {
  constructor(
    private readonly send: Send,
    /** Asked for at each request that needs it, so that what needs no token works without one. */
    private readonly token: () => string,
  ) {}

  /** An answer of success. Rejects with the error that any other one means. */
  async request(path: string, init: RequestInit): Promise<Response> {
    return succeeded(await this.answer(path, init))
  }

  /** Any answer. */
  answer(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set("Authorization", `Bearer ${this.token()}`)
    return this.send(path, { ...init, headers })
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
  const text = (await answer.text()).trim()
  const isPage = answer.headers.get("Content-Type")?.startsWith("text/html") === true
  const isMessage = text !== "" && text.length <= LONGEST_MESSAGE && !isPage
  throw new GateError(
    codeOf(answer.status),
    isMessage ? text : `the server answered ${answer.status}`,
    isPage
      ? { hint: "that was a web page: is it ipgate, and does a proxy before it pass this path on?" }
      : {},
  )
}

export async function json(answer: Response): Promise<unknown> {
  try {
    return await answer.json()
  } catch (cause) {
    throw new GateError("failed", "the server's answer is not JSON: is this an ipgate server?", { cause })
  }
}
