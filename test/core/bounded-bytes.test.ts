// Bytes up to a bound: all that were added, or the word that it is too much.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { BoundedBytes } from "../../src/core/bounded-bytes.ts"

test("what was added comes out in one piece, and what is beyond the bound is refused", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 70_000 })), fc.nat(200_000), (pieces, most) => {
      const held = new BoundedBytes(most)
      let size = 0
      const kept: Uint8Array[] = []
      for (const piece of pieces) {
        const fits = size + piece.length <= most
        expect(held.add(piece)).toBe(fits)
        if (!fits) continue
        size += piece.length
        kept.push(piece)
      }
      expect(Buffer.compare(held.bytes(), Buffer.concat(kept))).toBe(0)
    }),
    { numRuns: 200 },
  )
})
