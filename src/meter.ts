// What is measured where it happens. A server without metrics measures nothing.

/** Every method is quick and cannot fail: it stands on the way of requests and changes. */
export interface Meter {
  /** The time that one decision took, of those that are sampled. */
  decision(seconds: number): void
  /** One request that is no decision: `route` is a template, never a path with an address in it. */
  request(route: string, method: string, status: number, seconds: number): void
  /** One transaction with this many changes, until it was durable. */
  commit(seconds: number, changes: number): void
  commitFailed(): void
}
