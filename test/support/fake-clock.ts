// A clock that stands still until a test moves it, each half by itself.

import type { Clock } from "../../src/core/clock.ts"

/** The halves start far apart, so that code which takes one for the other is wrong by decades. */
export class FakeClock implements Clock {
  private wallNow: number
  private monoNow = 5_000

  constructor(wall = Date.UTC(2026, 0, 1)) {
    this.wallNow = wall
  }

  wall(): number {
    return this.wallNow
  }

  mono(): number {
    return this.monoNow
  }

  /** Time goes by, and both halves see it. */
  advance(milliseconds: number): void {
    if (milliseconds < 0) throw new RangeError("time does not go backwards; stepWall sets the wall clock")
    this.wallNow += milliseconds
    this.monoNow += milliseconds
  }

  /** Somebody sets the wall clock, or the machine was suspended: the monotonic half does not notice. */
  stepWall(milliseconds: number): void {
    this.wallNow += milliseconds
  }
}
