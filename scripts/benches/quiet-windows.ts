// Windows that are worth something: on a machine that lends its processors out, some are not.

import type { Window } from "./prober.ts"
import type { Report } from "./report.ts"
import { stolenShare, type Ticks, ticks } from "./stolen-time.ts"

/** The share of the time in which the processors may have been elsewhere. */
const MOST_STOLEN = 0.01

/** A window, and the share of its time that the host kept for others. */
export type WatchedWindow = Window & { readonly stolen: number }

/** Takes a window again if the host of a virtual machine took its processors away meanwhile: that is no delay of a server. */
export class QuietWindows {
  private spent = 0

  constructor(
    private readonly report: Report,
    /** Seconds that may go into taking windows again, so that the bench ends in time wherever it runs. */
    private readonly atMost: number,
    private readonly now: () => Ticks & { readonly seconds: number } = () => ({
      ...ticks(),
      seconds: performance.now() / 1000,
    }),
  ) {}

  async take(watch: () => Promise<Window>): Promise<WatchedWindow> {
    for (;;) {
      const before = this.now()
      const window = await watch()
      const after = this.now()
      const share = stolenShare(before, after)
      const taken = { ...window, stolen: share }
      if (share <= MOST_STOLEN) return taken
      const percent = `${(share * 100).toFixed(1)} %`
      const spent = after.seconds - before.seconds
      if (this.spent + spent > this.atMost) {
        this.report.log(
          `the host took ${percent} of the processors' time in this window, which counts all the same`,
        )
        return taken
      }
      this.spent += spent
      this.report.log(`the host took ${percent} of the processors' time in this window: once more`)
    }
  }
}
