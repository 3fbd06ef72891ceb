// How much of imports may be in memory at once: each waits for the database with all of its text.

import { GateError } from "../core/errors.ts"
import { LARGEST_IMPORT } from "../wire/largest-import.ts"

/** Bytes of bodies: four of the largest. */
const MOST = 4 * LARGEST_IMPORT

export class ImportSpace {
  private taken = 0

  /**
   * Room for the body of this request, until it is disposed of. A body that does not say how long it is may be of the
   * largest size. Throws `busy` if the imports under way leave too little.
   */
  take(request: Request): Disposable {
    const announced = request.headers.get("Content-Length")
    const bytes = announced === null ? LARGEST_IMPORT : Math.min(Number(announced), LARGEST_IMPORT)
    if (!(this.taken + bytes <= MOST)) {
      throw new GateError("busy", "too many large imports are under way already; try again later")
    }
    this.taken += bytes
    return {
      [Symbol.dispose]: () => {
        this.taken -= bytes
      },
    }
  }
}
