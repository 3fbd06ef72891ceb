// Counts and times requests that are no decisions, and hands every answer on untouched.

import type { Handler } from "../http/guard.ts"
import type { Meter } from "../meter.ts"

/** `now` is in milliseconds. The answer is what `handle` returned, the same object. */
export function measured(meter: Meter, now: () => number) {
  return (routeOf: (request: Request) => string, handle: Handler): Handler =>
    (request, peer) => {
      const from = now()
      const answer = handle(request, peer)
      const count = ({ status }: Response) =>
        meter.request(routeOf(request), request.method, status, (now() - from) / 1000)
      if (answer instanceof Promise) answer.then(count).catch(() => {})
      else count(answer)
      return answer
    }
}
