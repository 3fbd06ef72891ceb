// Keeps the screen supplied: the lists and the log, each change as it comes, who was refused, and how the server is.

import type { Clock } from "../../src/core/clock.ts"
import { GateError } from "../../src/core/errors.ts"
import type { DecisionCounts, Gate } from "../../src/core/gate.ts"
import { keepFollowing } from "../../src/gate/keep-following.ts"
import { loadEntries } from "./load.ts"
import { LOG_ROWS, type LogRow, type News } from "./model.ts"

export type FeedParts = {
  readonly gate: Gate
  readonly clock: Clock
  readonly sleep: (milliseconds: number) => Promise<void>
  readonly signal: AbortSignal
  readonly tell: (news: News) => void
}

/** Milliseconds between two questions for what is not in the stream. */
const POLL_INTERVAL = 1_000
/** Milliseconds for which changes are gathered, so that a flood of them is drawn a few times a second. */
const GATHER_TIME = 50
/** Refused clients that are asked for: the last ones. */
const CLIENTS = 200
/** Milliseconds after which a list that did not fit is read again, because its end has come nearer. */
const PARTIAL_AGE = 30_000
/** Milliseconds until a refused token is tried again: the file may have a new one by then. */
const REFUSED_PAUSE = 2_000

/** Runs until `signal` is aborted, whatever the server does. Rejects only for a fault of this program. */
export async function runFeed(parts: FeedParts): Promise<void> {
  const follow = new ChangeFollower(parts)
  await Promise.all([follow.run(), poll(parts)])
}

class ChangeFollower {
  private gathered: LogRow[] = []
  private timer: Timer | null = null
  private lastId: number | null = null
  /** True while what is shown may not be what the server has. */
  private isStale = true
  private isPartial = false
  private loadedAt = 0

  constructor(private readonly parts: FeedParts) {}

  async run(): Promise<void> {
    const { signal, sleep, tell } = this.parts
    while (!signal.aborted) {
      try {
        await this.follow()
      } catch (error) {
        // A refused token ends the stream, and so does a list that could not be read. Neither ends the screen.
        if (!(error instanceof GateError)) throw error
        this.isStale = true
        tell({ kind: "lost", problem: error.message })
        await sleep(REFUSED_PAUSE)
      }
    }
    this.flush()
  }

  private async follow(): Promise<void> {
    const { gate, signal, sleep, clock } = this.parts
    const start = this.lastId === null ? { tail: LOG_ROWS } : { after: this.lastId }
    for await (const event of keepFollowing(gate, { start, filter: {}, signal, sleep })) {
      if (event.kind === "lost") {
        this.isStale = true
        continue
      }
      this.lastId = event.id
      if (event.kind === "change") this.gather({ id: event.id, record: event.record })
      if (event.kind === "reload") await this.load({ withLog: true })
      else if (event.kind === "at" && this.isStale) await this.load({ withLog: false })
      else if (this.isPartial && clock.mono() - this.loadedAt > PARTIAL_AGE)
        await this.load({ withLog: false })
    }
  }

  /** No event is taken meanwhile, so whatever changes now comes after the list and is applied to it. */
  private async load({ withLog }: { withLog: boolean }): Promise<void> {
    const { gate, clock, tell } = this.parts
    const { entries, isPartial } = await loadEntries(gate)
    const rows = withLog ? await newestRows(gate) : null
    this.flush()
    tell({ kind: "listed", entries, isPartial })
    if (rows !== null) tell({ kind: "log-read", rows })
    this.isStale = false
    this.isPartial = isPartial
    this.loadedAt = clock.mono()
  }

  private gather(row: LogRow): void {
    this.gathered.push(row)
    this.timer ??= setTimeout(() => this.flush(), GATHER_TIME)
  }

  private flush(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
    const rows = this.gathered
    this.gathered = []
    if (rows.length > 0 && !this.parts.signal.aborted) this.parts.tell({ kind: "changed", rows })
  }
}

/** The end of the log, newest first. */
async function newestRows(gate: Gate): Promise<LogRow[]> {
  const rows: LogRow[] = []
  const enough = new AbortController()
  try {
    for await (const event of gate.follow({ tail: LOG_ROWS }, {}, enough.signal)) {
      if (event.kind !== "change") break
      rows.push({ id: event.id, record: event.record })
    }
  } finally {
    enough.abort()
  }
  return rows.reverse()
}

async function poll({ gate, clock, sleep, signal, tell }: FeedParts): Promise<void> {
  let before: DecisionCounts | null = null
  while (!signal.aborted) {
    const started = clock.mono()
    try {
      const [status, counts] = await Promise.all([gate.status(), gate.decisions()])
      if (signal.aborted) return
      tell({ kind: "answered", status, counts, at: clock.mono() })
      if (before === null || before.denied !== counts.denied) {
        tell({ kind: "refused", clients: await gate.refused({ limit: CLIENTS, offset: 0 }) })
      }
      before = counts
    } catch (error) {
      if (!(error instanceof GateError)) throw error
      before = null
      if (!signal.aborted) tell({ kind: "lost", problem: error.message })
    }
    await sleep(Math.max(0, started + POLL_INTERVAL - clock.mono()))
  }
}
