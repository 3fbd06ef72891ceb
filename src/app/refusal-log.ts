// Refused clients in the server's log: summed up from the counters, so that no decision writes a line or waits for one.

import type { Clock } from "../core/clock.ts"
import type { DecisionCounters } from "../core/decision-counters.ts"
import type { RefusedClients } from "../core/refused-clients.ts"
import type { Log } from "../log/log.ts"

/** Milliseconds: how soon a refusal after a silence is told, and how long the next line waits then. */
const LOOK_INTERVAL = 1_000
const LINE_INTERVAL = 60_000
/** Addresses in a line: the last ones that were refused. */
const NAMED = 5

/** At most one line a minute, whatever comes. */
export class RefusalLog {
  private timer: Timer | null = null
  private told = { denied: 0, unidentified: 0, at: Number.NEGATIVE_INFINITY, wall: 0 }

  constructor(
    private readonly counters: DecisionCounters,
    private readonly refused: RefusedClients,
    private readonly clock: Clock,
    private readonly log: Log,
    private enabled: boolean,
  ) {}

  start(): void {
    this.timer ??= setInterval(() => this.look(), LOOK_INTERVAL)
  }

  /** Tells the rest. */
  stop(): void {
    if (this.timer !== null) clearInterval(this.timer)
    this.timer = null
    this.tell()
  }

  enable(enabled: boolean): void {
    this.enabled = enabled
  }

  /** Writes the line that is due, if one is. */
  look(): void {
    if (this.clock.mono() - this.told.at >= LINE_INTERVAL) this.tell()
  }

  private tell(): void {
    const { denied, unidentified } = this.counters
    const { told } = this
    if (denied === told.denied) return
    const wall = this.clock.wall()
    this.told = { denied, unidentified, at: this.clock.mono(), wall }
    if (!this.enabled) return
    const clients = this.refused.list().filter(({ lastAt }) => lastAt > told.wall)
    this.log.info("refused", {
      event: "auth.refused",
      requests: denied - told.denied,
      without_address: unidentified - told.unidentified,
      clients: clients.length,
      latest: clients.slice(0, NAMED).map(({ address }) => address.toString()),
    })
  }
}
