// Who keeps showing wrong tokens: told to wait, in bounded memory. A right token is never told to wait.

import type { Address } from "../core/address.ts"
import type { Clock } from "../core/clock.ts"

/** Wrong tokens that cost nothing: somebody has mixed up two files. */
const FREE = 4
/** Milliseconds; each further wrong token doubles it. */
const FIRST_DELAY = 16
const LONGEST_DELAY = 1_000
/** Milliseconds without a wrong token, after which a sender starts anew. */
const FORGET_AFTER = 60_000
/** Senders that are remembered; the one that failed longest ago makes room. */
const MOST_SENDERS = 1_024
/** Answers that are held back at once. What comes on top of them is answered at once, so that a flood piles up nothing. */
const MOST_HELD = 128
/** An IPv6 client has a whole /64 to send from. */
const IPV6_SENDER = 64

type Failures = { count: number; lastAt: number }

/**
 * This damps noise; it is the 256 random bits of a token that keep a guesser out. So nobody is ever locked out: behind
 * one proxy all clients may share an address, and one of them must not be able to shut out the others.
 */
export class FailedSenders {
  /** In the order of the last failure. */
  private readonly senders = new Map<string, Failures>()
  private held = 0

  constructor(
    private readonly clock: Clock,
    private readonly sleep: (milliseconds: number) => Promise<void> = (milliseconds) =>
      Bun.sleep(milliseconds),
  ) {}

  /** The answer to one more wrong token of this sender: now, or later if there were many. `null` is the unix socket. */
  answer(sender: Address | null, refuse: () => Response): Response | Promise<Response> {
    const delay = this.delayAfterFailure(sender)
    if (delay === 0 || this.held >= MOST_HELD) return refuse()
    this.held++
    return this.sleep(delay).then(() => {
      this.held--
      return refuse()
    })
  }

  /** Counts one more wrong token, and tells the milliseconds that its sender should wait. */
  delayAfterFailure(sender: Address | null): number {
    const name = nameOf(sender)
    const now = this.clock.mono()
    const known = this.senders.get(name)
    this.senders.delete(name)
    const count = known === undefined || now - known.lastAt >= FORGET_AFTER ? 1 : known.count + 1
    this.senders.set(name, { count, lastAt: now })
    if (this.senders.size > MOST_SENDERS) this.senders.delete(this.senders.keys().next().value ?? "")
    return count <= FREE ? 0 : Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (count - FREE - 1))
  }
}

function nameOf(sender: Address | null): string {
  if (sender === null) return "unix"
  return (sender.family === 6 ? sender.masked(IPV6_SENDER) : sender).toString()
}
