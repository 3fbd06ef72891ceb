// The servers whose answers are compared with the API's document, and what was found. Without the test runner nobody asks.

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

/** `name` is `HOST:PORT` or `unix:PATH`. */
export function isWatched(name: string): boolean {
  return watched.has(name)
}

/** Compares one answer with the document. */
export async function compareAnswer(asked: Asked, answered: Answered): Promise<void> {
  const { faultsOf } = await import("./contract.ts")
  found.push(...faultsOf(asked, answered))
}

/** What was wrong since the last call. */
export function takeFaults(): string[] {
  return [...new Set(found.splice(0))]
}
