// Every answer that a test gets from a server of ours is compared with the API's document: loaded before all tests.
//
// A test does nothing for it. What starts a server says so (`watchAnswers`), and from then on each `fetch` of this process
// to it is looked at, whoever calls it, and each well-formed request of the raw client.

import { afterAll, afterEach } from "bun:test"
import { formatListenAddress, type ListenAddress } from "../../src/listen-address.ts"
import type { Answered, Asked } from "./contract.ts"

const watched = new Map<string, number>()
const found: string[] = []

/** Looks at the answers of a server from now on. The function that it returns ends that. */
export function watchAnswers(addresses: readonly ListenAddress[]): () => void {
  const names = addresses.map(formatListenAddress)
  for (const name of names) watched.set(name, (watched.get(name) ?? 0) + 1)
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    for (const name of names) {
      const left = (watched.get(name) ?? 1) - 1
      if (left === 0) watched.delete(name)
      else watched.set(name, left)
    }
  }
}

export function isWatched(address: ListenAddress): boolean {
  return watched.has(formatListenAddress(address))
}

/** Compares one answer with the document. What is wrong fails the test that is running. */
export async function compareAnswer(asked: Asked, answered: Answered): Promise<void> {
  const { faultsOf } = await import("./contract.ts")
  found.push(...faultsOf(asked, answered))
}

function failOnFaults(): void {
  const faults = found.splice(0)
  if (faults.length > 0)
    throw new Error(`not as the API's document says:\n${[...new Set(faults)].join("\n")}`)
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
  if (!watched.has(init.unix === undefined ? host : `unix:${init.unix}`)) return answer
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
