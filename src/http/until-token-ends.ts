// An open stream must not outlive the token that it was opened with.

import type { Credential } from "../core/credential.ts"

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
