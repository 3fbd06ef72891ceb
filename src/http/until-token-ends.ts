// An open stream must not outlive the token that it was opened with.

import type { Credential } from "../core/credential.ts"

/** The token of a request has ended while the request was under way: 401, in the words for one that never was. */
export class TokenEnded extends Error {
  override readonly name = "TokenEnded"

  constructor() {
    super("the token has ended")
  }
}

/** What `follow` gives, until the client goes away or the token ends; nothing of it after that. */
export async function* untilTokenEnds<T>(
  credential: Credential,
  client: AbortSignal,
  follow: (signal: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const ending = new AbortController()
  const end = () => ending.abort()
  client.addEventListener("abort", end)
  if (client.aborted) end()
  const forget = credential.onEnd(end)
  try {
    for await (const item of follow(ending.signal)) {
      if (!credential.counts) return
      yield item
    }
  } finally {
    forget()
    client.removeEventListener("abort", end)
  }
}

/**
 * The pieces of one whole, and `TokenEnded` in place of the next one when the token has ended: what ended in good
 * order would pass for all of it.
 */
export async function* brokenOffWithToken<T>(
  credential: Credential,
  pieces: AsyncIterable<T>,
): AsyncGenerator<T> {
  for await (const piece of pieces) {
    if (!credential.counts) throw new TokenEnded()
    yield piece
  }
}
