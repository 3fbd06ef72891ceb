// How a long job of the thread that decides leaves the processor to others, where all threads have one between them.

import { othersFirst } from "../core/others-first.ts"

/** Pauses that are rests: an import of 100,000 entries has as many. */
const RESTS = 500
/** Milliseconds: the least that a timer knows. */
const REST = 1

/**
 * A pause between the pieces of one job. The first ones are rests, the others a turn of the event loop. A thread that
 * works without a rest uses its share of the processor up; then it waits for each of the others for milliseconds, and
 * decisions wait with it. While the code of the job is new, the runtime's compilers are such others: in place of a third
 * of a millisecond 99 of 100 decisions took up to two. Later it would only take longer.
 */
export function restingAtFirst(
  rest: () => Promise<void> = () => Bun.sleep(REST),
  goOn: () => Promise<void> = othersFirst,
): () => Promise<void> {
  let pauses = 0
  return () => (pauses++ < RESTS ? rest() : goOn())
}
