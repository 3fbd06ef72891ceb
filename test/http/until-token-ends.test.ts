// What a token has open when it ends: a download breaks off, and does not end as if it were whole.

import { describe, expect, test } from "bun:test"
import { Credential } from "../../src/core/credential.ts"
import { TOKEN_FILE } from "../../src/core/principal.ts"
import { BearerTokens } from "../../src/http/bearer.ts"
import { untilTokenEnds } from "../../src/http/until-token-ends.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { listenOver } from "../support/listener-over.ts"
import { TOKEN } from "../support/running-server.ts"

const OTHER = "another-token-for-tests-of-48-characters-0123456"

const ended = (tokens: BearerTokens) => tokens.replaceFileTokens([OTHER])

test.each([
  ["/api/whitelist/export", "its token is taken away", ended, "breaks off"],
  ["/api/backup", "its token is taken away", ended, "breaks off"],
  ["/api/whitelist/export", "nothing happens", () => {}, "is whole"],
  ["/api/backup", "nothing happens", () => {}, "is whole"],
] as const)("%s, while %s", async (path, _, meanwhile, outcome) => {
  const tokens = new BearerTokens([TOKEN])
  const clock = new FakeClock()
  const log: string[] = []
  async function* pieces() {
    yield new TextEncoder().encode("the first half,")
    await taken.promise
    yield new TextEncoder().encode("the second half")
  }
  const taken = Promise.withResolvers<void>()
  const listener = listenOver({ export: pieces, backup: pieces }, clock, { tokens, log })
  try {
    const answer = await fetch(listener.url + path, {
      headers: { Authorization: `Bearer ${TOKEN}` },
    })
    expect(answer.status).toBe(200)
    let text = ""
    const all = (async () => {
      for await (const piece of answer.body ?? []) {
        text += new TextDecoder().decode(piece)
        if (text !== "the first half,") continue
        meanwhile(tokens)
        taken.resolve()
      }
      return "is whole"
    })()
    expect(await all.catch(() => "breaks off")).toBe(outcome)
    expect(text).toBe(outcome === "is whole" ? "the first half,the second half" : "the first half,")
    expect(log).toEqual([])
  } finally {
    await listener.stop()
  }
})

describe("a stream that is followed", () => {
  /** One item, and then the others when a test wants them; `signals` are those that were handed in. */
  function followed(credential: Credential, client: AbortSignal) {
    const signals: AbortSignal[] = []
    const stream = untilTokenEnds(credential, client, async function* (signal) {
      signals.push(signal)
      yield "first"
      if (!signal.aborted) yield "second"
    })
    return { stream, signals }
  }

  const aborted = (signals: readonly AbortSignal[]) => signals.map((signal) => signal.aborted)

  test("ends with the token, and when the client goes away", async () => {
    for (const end of [
      (credential: Credential) => credential.end(),
      (_: Credential, client: AbortController) => client.abort(),
    ]) {
      const [credential, client] = [new Credential(TOKEN_FILE), new AbortController()]
      const { stream, signals } = followed(credential, client.signal)
      expect(await stream.next()).toEqual({ done: false, value: "first" })
      expect(aborted(signals)).toEqual([false])
      end(credential, client)
      expect(aborted(signals)).toEqual([true])
      expect((await stream.next()).done).toBe(true)
    }
  })

  test("has ended from its beginning for a client that has gone before", async () => {
    const { stream, signals } = followed(new Credential(TOKEN_FILE), AbortSignal.abort())
    await stream.next()
    expect(aborted(signals)).toEqual([true])
  })

  test("that is over is forgotten by the token and by the client", async () => {
    for (const leave of [
      (stream: AsyncGenerator<string>) => stream.return(undefined),
      (stream: AsyncGenerator<string>) => Array.fromAsync(stream),
    ]) {
      const [credential, client] = [new Credential(TOKEN_FILE), new AbortController()]
      const { stream, signals } = followed(credential, client.signal)
      await stream.next()
      await leave(stream)
      client.abort()
      expect(aborted(signals)).toEqual([false])
      credential.end()
      expect(aborted(signals)).toEqual([false])
    }
  })
})
