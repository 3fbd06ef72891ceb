// Text goes to a sink at once, and is done when the sink has got rid of it, whichever way.

import { describe, expect, test } from "bun:test"
import { throughSink } from "../../src/log/through-sink.ts"

type Step = () => number | Promise<number>

/** A sink that takes each text as `steps` say, the last one for all that follow. */
function sinkThat(...steps: readonly Step[]) {
  const taken: string[] = []
  let opened = 0
  let done = 0
  const write = throughSink(() => {
    opened++
    return {
      write: (text) => taken.push(String(text)),
      flush: () => (steps[taken.length - 1] ?? (steps.at(-1) as Step))(),
    }
  })
  return {
    write: (text: string) => write(text, () => done++),
    taken,
    get opened() {
      return opened
    },
    get done() {
      return done
    },
  }
}

test("the sink is opened for the first text, and once", () => {
  const sink = sinkThat(() => 1)
  expect(sink.opened).toBe(0)
  sink.write("a\n")
  sink.write("b\n")
  expect(sink.opened).toBe(1)
  expect(sink.taken).toEqual(["a\n", "b\n"])
})

describe("a text is done", () => {
  test("at once where its reader took it", () => {
    const sink = sinkThat(() => 1)
    sink.write("a\n")
    expect(sink.done).toBe(1)
  })

  test("only when a slow reader has it", async () => {
    const { promise, resolve } = Promise.withResolvers<number>()
    const sink = sinkThat(() => promise)
    sink.write("a\n")
    await Bun.sleep(0)
    expect(sink.done).toBe(0)
    resolve(1)
    await Bun.sleep(0)
    expect(sink.done).toBe(1)
  })

  test.each<readonly [string, (taken: PromiseWithResolvers<number>) => void]>([
    ["taken", ({ resolve }) => resolve(2)],
    ["refused", ({ reject }) => reject(new Error("EPIPE"))],
  ])("only when the sink has %s it, where that takes a while", async (_, end) => {
    const taken = Promise.withResolvers<number>()
    let done = 0
    throughSink(() => ({ write: () => taken.promise, flush: () => 0 }))("a\n", () => done++)
    await Bun.sleep(0)
    expect(done).toBe(0)
    end(taken)
    await Bun.sleep(0)
    expect(done).toBe(1)
  })

  test("when it turns out that it cannot go out, and the next one is tried", async () => {
    const sink = sinkThat(
      () => Promise.reject(new Error("EPIPE")),
      () => 1,
    )
    sink.write("a\n")
    await Bun.sleep(0)
    expect(sink.done).toBe(1)
    sink.write("b\n")
    expect(sink.taken).toEqual(["a\n", "b\n"])
    expect(sink.done).toBe(2)
  })
})

test("what the sink throws is for the caller, who has not been told of an end; the next text is tried", () => {
  const sink = sinkThat(
    () => {
      throw new Error("ENOSPC")
    },
    () => 1,
  )
  expect(() => sink.write("a\n")).toThrow("ENOSPC")
  expect(sink.done).toBe(0)
  sink.write("b\n")
  expect(sink.done).toBe(1)
})
