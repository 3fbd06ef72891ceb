// Group commit: changes that wait while a transaction is written go together into the next one.

import type { Change, Outcome } from "../core/change.ts"
import { GateError } from "../core/errors.ts"
import { othersFirst } from "../core/others-first.ts"
import type { Committed } from "./store.ts"

/** Changes in one transaction: enough to share an fsync among many, few enough that nobody waits long behind them. */
const LARGEST_GROUP = 256
/** Changes and jobs that may wait. Beyond it the answer is an error at once, not memory that grows. */
const LONGEST_QUEUE = 10_000
/** Callers that are told before decisions get their turn again: about a fifth of a millisecond of answers. */
const TOLD_AT_ONCE = 4
/** Turns of the event loop in which the last callers that have been told send their next changes, if they have any. */
const TURNS_FOR_MORE = 3

/** A few changes that may share a transaction with others, or a job that has the database for itself. */
type Waiting =
  | {
      readonly changes: readonly Change[]
      readonly resolve: (outcomes: Outcome[]) => void
      readonly reject: (error: unknown) => void
    }
  | { readonly job: () => Promise<void>; readonly reject: (error: unknown) => void }

type WaitingChanges = Extract<Waiting, { changes: readonly Change[] }>

/**
 * Has at most one group at the database. Changes keep the order in which they came. `committed` is called for each
 * group before any caller of it is answered, so that whoever is told "done" finds it done.
 */
export class CommitQueue {
  private waiting: Waiting[] = []
  private length = 0
  private running = false

  constructor(
    private readonly write: (changes: readonly Change[]) => Promise<Committed>,
    private readonly committed: (changes: readonly Change[], committed: Committed) => void,
    /**
     * True if the database's thread has the same one processor as this one. It gets on only when this one rests, so
     * nothing is lost by a group that begins when everybody of the last one has been told, and what they ask for next
     * goes along: 32 clients add a third more. On two processors, where both work at once, they would add an eighth less.
     */
    private readonly sharesProcessor = false,
  ) {}

  /** Changes that wait for the transaction before theirs; a job that waits for its turn counts as one. */
  get waitingChanges(): number {
    return this.length
  }

  /**
   * Fulfilled with the outcome of each change when all are durable. The changes of one call go into one transaction,
   * next to each other. If the transaction fails, every change in it fails, and this rejects with the store's error.
   */
  add(changes: readonly Change[]): Promise<Outcome[]> {
    if (this.length + changes.length > LONGEST_QUEUE) return Promise.reject(this.full())
    return new Promise((resolve, reject) => {
      this.waiting.push({ changes, resolve, reject })
      this.length += changes.length
      if (!this.running) void this.run()
    })
  }

  /**
   * Runs a job in its turn: after every change that came before it, and before every one that comes after. Rejects as
   * `add` does if too many wait already.
   */
  exclusive<T>(job: () => Promise<T>): Promise<T> {
    if (this.length >= LONGEST_QUEUE) return Promise.reject(this.full())
    return new Promise((resolve, reject) => {
      this.waiting.push({ job: () => job().then(resolve, reject), reject })
      this.length++
      if (!this.running) void this.run()
    })
  }

  private async run(): Promise<void> {
    this.running = true
    for (let first = this.waiting[0]; first !== undefined; first = this.waiting[0]) {
      if ("job" in first) {
        this.waiting.shift()
        this.length--
        await first.job()
        continue
      }
      const group = this.takeGroup()
      const changes = group.length === 1 ? first.changes : group.flatMap((waiting) => waiting.changes)
      try {
        const committed = await this.write(changes)
        this.committed(changes, committed)
        // The next group need not wait until everybody of this one has been told.
        const told = tell(group, committed.outcomes)
        if (this.sharesProcessor && group.length > 1) {
          await told
          for (let turn = 0; turn < TURNS_FOR_MORE; turn++) await othersFirst()
        }
      } catch (error) {
        for (const { reject } of group) reject(error)
        if (error instanceof GateError && error.code === "unavailable") this.withdraw()
      }
    }
    this.running = false
  }

  private full(): GateError {
    return new GateError(
      "unavailable",
      `${this.length} changes are waiting for the database; try again later`,
    )
  }

  // A database that does not answer would let each waiting group wait for a deadline of its own.
  private withdraw(): void {
    const error = new GateError("unavailable", "the database does not answer; this change was not written")
    for (const { reject } of this.waiting) reject(error)
    this.waiting = []
    this.length = 0
  }

  private takeGroup(): WaitingChanges[] {
    let count = 0
    let size = 0
    for (const next of this.waiting) {
      if ("job" in next || (size > 0 && size + next.changes.length > LARGEST_GROUP)) break
      size += next.changes.length
      count++
    }
    this.length -= size
    return this.waiting.splice(0, count) as WaitingChanges[]
  }
}

/** Fulfilled when everybody has been told; `undefined` if that is so already. */
function tell(group: readonly WaitingChanges[], outcomes: readonly Outcome[]): Promise<void> | undefined {
  let at = 0
  for (const { changes, resolve } of group.slice(0, TOLD_AT_ONCE)) {
    resolve(outcomes.slice(at, at + changes.length))
    at += changes.length
  }
  if (group.length <= TOLD_AT_ONCE) return undefined
  return tellLater(group.slice(TOLD_AT_ONCE), outcomes.slice(at))
}

async function tellLater(group: readonly WaitingChanges[], outcomes: readonly Outcome[]): Promise<void> {
  await othersFirst()
  return tell(group, outcomes)
}
