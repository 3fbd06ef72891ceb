// What a token has open when it ends: a download breaks off, and does not end as if it were whole.

import { expect, test } from "bun:test"
import type { Gate } from "../../src/core/gate.ts"
import type { TokenRegistry } from "../../src/core/token.ts"
import { BearerTokens } from "../../src/http/bearer.ts"
import { ClientAddresses } from "../../src/http/client-address.ts"
import { FailedSenders } from "../../src/http/failed-senders.ts"
import { routes } from "../../src/http/routes.ts"
import { listen } from "../../src/http/server.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { lineLog } from "../support/line-log.ts"
import { ANY_PORT, TOKEN } from "../support/running-server.ts"
import { DEFAULT_TRUSTED_PROXIES } from "../support/trusted-proxies.ts"

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
  const listener = listen(
    ANY_PORT,
    routes({
      decide: () => false,
      clients: new ClientAddresses(DEFAULT_TRUSTED_PROXIES, "X-Real-IP"),
      tokens,
      failures: new FailedSenders(clock),
      registry: { as: () => ({}) as TokenRegistry },
      gateFor: () => ({ export: pieces, backup: pieces }) as unknown as Gate,
      log: lineLog((line) => log.push(line), clock),
    }),
  )
  try {
    if (listener.address.kind !== "tcp") throw new Error("the server listens elsewhere")
    const answer = await fetch(`http://127.0.0.1:${listener.address.port}${path}`, {
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
