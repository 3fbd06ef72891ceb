// What is due for the tokens now and then. A request never waits for it, and never depends on it.

import type { TokenBook } from "../core/token-book.ts"
import type { LocalTokens } from "./local-tokens.ts"

/** Milliseconds. An open stream outlives its token by no more than this; what it would be told is checked by itself. */
const EXPIRY_INTERVAL = 500
/** The last uses of all tokens, in one transaction. */
const SAVE_INTERVAL = 60_000

export class TokenUpkeep {
  private timers: Timer[] = []

  constructor(
    private readonly tokens: LocalTokens,
    private readonly book: TokenBook,
  ) {}

  start(): void {
    this.timers = [
      setInterval(() => this.book.endExpired(), EXPIRY_INTERVAL),
      setInterval(() => void this.tokens.saveUses(), SAVE_INTERVAL),
    ]
  }

  /** Fulfilled when the last uses are written, as far as the database takes them. */
  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer)
    await this.tokens.saveUses()
  }
}
