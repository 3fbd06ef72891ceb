// Windows that are worth something: on a machine that lends its processors out, some are not.

import type { Window } from "./prober.ts"
import { stolenShare, type Ticks, ticks } from "./process-figures.ts"
import type { Report } from "./report.ts"

/** The share of the time in which the processors may have been elsewhere. */
const MOST_STOLEN = 0.01
/** Windows that may be taken again in a whole run, so that the bench ends in time wherever it runs. */
const AGAIN_AT_MOST = 10

/** Takes a window again if the host of a virtual machine took its processors away meanwhile: that is no delay of a server. */
export class QuietWindows {
  private again = AGAIN_AT_MOST

  constructor(
    private readonly report: Report,
    private readonly now: () => Ticks = ticks,
  ) {}

  async take(window: () => Promise<Window>): Promise<Window> {
    for (;;) {
      const before = this.now()
      const taken = await window()
      const share = stolenShare(before, this.now())
      if (share <= MOST_STOLEN) return taken
      const percent = `${(share * 100).toFixed(1)} %`
      if (this.again === 0) {
        this.report.log(
          `the host took ${percent} of the processors' time in this window, which counts all the same`,
        )
        return taken
      }
      this.again--
      this.report.log(`the host took ${percent} of the processors' time in this window: once more`)
    }
  }
}
