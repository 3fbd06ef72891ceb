// The pauses of a long job: rests while it is new, turns of the event loop after that.

import { expect, test } from "bun:test"
import { restingAtFirst } from "../../src/gate/resting-at-first.ts"

/** How the first so many pauses of one job go by. */
async function pausesOf(count: number): Promise<string[]> {
  const taken: string[] = []
  const pause = restingAtFirst(
    async () => void taken.push("rest"),
    async () => void taken.push("go on"),
  )
  for (let i = 0; i < count; i++) await pause()
  return taken
}

test("a job rests 500 times and then goes on, and the next job rests again", async () => {
  for (let job = 0; job < 2; job++) {
    expect(await pausesOf(1_000)).toEqual([...Array(500).fill("rest"), ...Array(500).fill("go on")])
  }
})

test("a rest leaves the processor to others for a moment", async () => {
  const pause = restingAtFirst()
  const from = performance.now()
  for (let i = 0; i < 20; i++) await pause()
  expect(performance.now() - from).toBeGreaterThan(10)
})
