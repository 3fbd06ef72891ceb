// A token that somebody has shown, for as long as it counts.

import type { Principal } from "./principal.ts"

/** Once it has ended it never counts again, whatever a clock says afterwards. */
export class Credential {
  private readonly listeners = new Set<() => void>()
  private hasEnded = false

  constructor(
    readonly principal: Principal,
    private readonly isOver: () => boolean = () => false,
  ) {}

  /** True until it was ended or its time is over. */
  get counts(): boolean {
    if (!this.hasEnded && this.isOver()) this.end()
    return !this.hasEnded
  }

  end(): void {
    this.hasEnded = true
    for (const listener of this.listeners) listener()
    this.listeners.clear()
  }

  /** Calls `listener` at the end, or now if that has come; not after the function that is returned was called. */
  onEnd(listener: () => void): () => void {
    if (this.counts) this.listeners.add(listener)
    else listener()
    return () => this.listeners.delete(listener)
  }
}
