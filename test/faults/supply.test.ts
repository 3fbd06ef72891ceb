// What the executable is made of: no way in for tests, and nothing of this folder.

import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { builtBinary } from "../support/binary.ts"
import { fault } from "./fault.ts"

test(
  fault(
    "S-03",
    "the executable is searched for the words of the tests, and the source for variables that only a test would set",
    "none is there",
  ),
  () => {
    const bytes = readFileSync(builtBinary()).toString("latin1")
    // The source is in it as text, so a word of the product is found, and the search is one.
    expect(bytes).toContain("missing or invalid token")
    const words = ["FakeClock", "faulty-handlers", "TEST_SEED", "FAULTS_TALLY", "IPGATE_TEST"]
    expect(words.filter((word) => bytes.includes(word))).toEqual([])
  },
)
