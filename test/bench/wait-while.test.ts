// Patience that no standstill uses up.

import { expect, test } from "bun:test"
import { waitWhile } from "../../scripts/benches/wait-while.ts"

test("a standstill of any length is one step of it", async () => {
  let looks = 0
  await waitWhile(() => {
    const until = performance.now() + 30
    if (looks === 0) while (performance.now() < until);
    return ++looks < 4
  }, 20)
  expect(looks).toBe(4)
})

test("it ends, and does not begin where there is nothing to wait for", async () => {
  let looks = 0
  const always = () => ++looks > 0
  await waitWhile(always, 20)
  expect(looks).toBe(4)
  await waitWhile(() => false, Number.POSITIVE_INFINITY)
})
