// Asks the database now and then whether it works, and tells the log when that has changed.

import type { Health } from "../gate/health.ts"
import type { Log } from "../log/log.ts"
import type { Store } from "../store/store.ts"

export class HealthWatch {
  private isAsked = false
  /** What the log was told last. */
  private wasOk = true
  private timer: Timer | null = null

  constructor(
    private readonly store: Pick<Store, "ping" | "probe">,
    private readonly health: Health,
    private readonly log: Log,
  ) {}

  /** `interval` is in milliseconds. */
  start(interval: number): void {
    this.timer = setInterval(() => void this.look(), interval)
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer)
  }

  /** Never rejects. Behind an import or a backup the question waits for its turn, and is not asked twice. */
  async look(): Promise<void> {
    if (this.isAsked) return
    this.isAsked = true
    const { health } = this
    // A change may have failed since the last look and the log have told of that change, and now all is well again.
    const hasFailed = !this.wasOk || !health.ok
    const problem = await this.ask().then(
      () => null,
      (error: unknown) => error,
    )
    this.isAsked = false
    if (health.ok ? hasFailed : this.wasOk) tell(health.ok, problem, this.log)
    this.wasOk = health.ok
  }

  // While something is wrong the question is a change, so that a database that only answers is not called well.
  private ask(): Promise<void> {
    const { health, store } = this
    return health.ok ? health.watchRead(store.ping()) : health.watchRead(health.watchWrite(store.probe()))
  }
}

function tell(ok: boolean, problem: unknown, log: Log): void {
  if (ok) log.notice("the database works again", { event: "db.recovered" })
  else
    log.error("the database does not work: changes fail, decisions go on from memory", {
      event: "db.error",
      cause: problem ?? undefined,
    })
}
