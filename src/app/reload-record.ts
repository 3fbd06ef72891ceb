// How the last reload of the configuration went: for the metrics.

export class ReloadRecord {
  /** False from a reload that failed until one that did not. */
  lastSucceeded = true
  /** Milliseconds since 1970; the start counts as the first. */
  lastSuccessAt: number

  constructor(startedAt: number) {
    this.lastSuccessAt = startedAt
  }

  succeeded(at: number): void {
    this.lastSucceeded = true
    this.lastSuccessAt = at
  }

  failed(): void {
    this.lastSucceeded = false
  }
}
