// The requests of one window of time: those that were due in it, whenever their answers come.

import { QuietSlices, type Taken } from "./quiet-slices.ts"

/**
 * A request belongs to the window that was open when it was due, and counts in no other one: so a server that stalls at
 * the end of a window is charged there, and the next window begins with a clean sheet.
 */
export class DelayWindow {
  readonly slices: QuietSlices
  wrong = 0
  firstWrong = ""
  private asked = 0
  private answered = 0

  constructor(now: () => Taken) {
    this.slices = new QuietSlices(now)
  }

  ask(): void {
    this.asked++
  }

  /** `wrong` says what was wrong with the answer; `null` if nothing was. */
  answer(delay: number, wrong: string | null): void {
    this.answered++
    this.slices.add(delay)
    if (wrong === null) return
    this.wrong++
    this.firstWrong ||= wrong
  }

  get unanswered(): number {
    return this.asked - this.answered
  }
}
