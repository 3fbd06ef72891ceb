// What the bench takes over from the shipped unit.

import { expect, test } from "bun:test"
import { allocatorVariables } from "../../scripts/benches/allocator-variables.ts"

test("what the unit tells the allocator, and nothing else of its environment", () => {
  const unit =
    "[Service]\nEnvironment=TMPDIR=/var/cache/ipgate\n# Environment=MIMALLOC_NO=1\nEnvironment=MIMALLOC_A_B=0\n"
  expect(allocatorVariables(unit)).toEqual({ MIMALLOC_A_B: "0" })
})

test("the shipped unit has something to say", () => {
  expect(allocatorVariables()).toEqual({ MIMALLOC_PURGE_HOLES: "0" })
})
