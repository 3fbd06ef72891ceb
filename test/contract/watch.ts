// Every answer that a test gets from a server of ours is compared with the API's document: loaded before all tests.
//
// A test does nothing for it. What starts a server says so (`watchAnswers`), and from then on each `fetch` of this process
// to it is looked at, whoever calls it, and each well-formed request of the raw client.

import { afterAll, afterEach } from "bun:test"
import { compareAnswer, isWatched, takeFaults } from "./watched.ts"

function failOnFaults(): void {
  const faults = takeFaults()
  if (faults.length > 0) throw new Error(`not as the API's document says:\n${faults.join("\n")}`)
}

afterEach(failOnFaults)
afterAll(failOnFaults)

const realFetch = globalThis.fetch

async function watchingFetch(
  input: string | URL | Request,
  init: BunFetchRequestInit = {},
): Promise<Response> {
  const answer = await realFetch(input, init)
  const request = input instanceof Request ? input : null
  const url = request?.url ?? String(input)
  const host = /^https?:\/\/([^/]*)/.exec(url)?.[1] ?? ""
  if (!isWatched(init.unix === undefined ? host : `unix:${init.unix}`)) return answer
  const asked = {
    method: init.method ?? request?.method ?? "GET",
    target: targetOf(url),
    headers: new Headers(init.headers ?? request?.headers),
    body: typeof init.body === "string" ? init.body : null,
  }
  await compareAnswer(asked, {
    status: answer.status,
    headers: answer.headers,
    body: isEndless(answer.headers) ? null : await answer.clone().text(),
  })
  return answer
}

// As fetch sends it, without dots.
function targetOf(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

// A stream of events never ends, and an export can be longer than is good to read twice.
function isEndless(headers: Headers): boolean {
  return headers.get("Content-Type") === "text/event-stream" || headers.has("Transfer-Encoding")
}

globalThis.fetch = Object.assign(watchingFetch, realFetch)
