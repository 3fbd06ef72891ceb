// How the fuzz tests of faults run: how often, with which seed, and what they count.

import fc from "fast-check"
import { rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

/** Asserts a property of texts or values so many times: short form, long form. TEST_SEED brings a failure back. */
export function fuzz<Value>(
  [short, long]: readonly [short: number, long: number],
  values: fc.Arbitrary<Value>,
  holds: (value: Value) => void,
): void {
  const numRuns = rounds(short, long)
  const { TEST_SEED } = process.env
  tally("inputsFuzzed", numRuns)
  fc.assert(
    fc.property(values, (value) => {
      holds(value)
    }),
    { numRuns, ...(TEST_SEED === undefined ? {} : { seed: Number(TEST_SEED) }) },
  )
}
