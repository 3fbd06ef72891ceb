// Time as the product uses it: two clocks, because a wall clock can be set and a monotonic one cannot.

/** Both in milliseconds: `wall` since 1970 in UTC, `mono` since an arbitrary start, never stepping back. */
export interface Clock {
  wall(): number
  mono(): number
}

/** The same moment on both clocks. */
export type Moment = { readonly wall: number; readonly mono: number }

export const systemClock: Clock = {
  wall: () => Date.now(),
  mono: () => performance.now(),
}

/** The last moment that RFC 3339 text with four digits for the year can name. */
export const LATEST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
