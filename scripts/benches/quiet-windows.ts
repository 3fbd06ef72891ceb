// Windows of time that tell enough: where the host disturbs most of one, it is taken again.

import type { Window } from "./prober.ts"
import type { Report } from "./report.ts"

/** The share of a window that may be left out. */
const MOST_LEFT_OUT = 0.5

/** Takes a window again if most of it had to be left out. */
export class QuietWindows {
  /** How often that was. */
  takenAgain = 0
  private spent = 0

  constructor(
    private readonly report: Report,
    /** Seconds that may go into taking windows again, so that the bench ends in time wherever it runs. */
    private readonly atMost: number,
    private readonly seconds: () => number = () => performance.now() / 1000,
  ) {}

  async take<W extends Pick<Window, "leftOut">>(watch: () => Promise<W>): Promise<W> {
    for (;;) {
      const before = this.seconds()
      const window = await watch()
      if (window.leftOut <= MOST_LEFT_OUT) return window
      const what = `the host disturbed ${(window.leftOut * 100).toFixed(0)} % of this window`
      const spent = this.seconds() - before
      if (this.spent + spent > this.atMost) {
        this.report.log(`${what}, which counts all the same`)
        return window
      }
      this.spent += spent
      this.takenAgain++
      this.report.log(`${what}: once more`)
    }
  }
}
