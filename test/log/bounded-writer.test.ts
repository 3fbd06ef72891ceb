// The writer that never waits: what it keeps for a slow reader, what it drops, and what it says of that.

import { describe, expect, test } from "bun:test"
import { boundedWriter, inTurn } from "../../src/log/bounded-writer.ts"

const LINE = `${"x".repeat(1023)}\n`
const MEBIBYTE = 1024

/** A reader that takes a line when it is told to. */
function slowReader() {
  const waiting: Array<{ text: string; done: () => void }> = []
  const taken: string[] = []
  const { write, drained } = boundedWriter(
    (text, done) => waiting.push({ text, done }),
    (lines) => `lost ${lines}\n`,
  )
  const take = (count = 1) => {
    for (let i = 0; i < count; i++) {
      const next = waiting.shift()
      if (next === undefined) return
      taken.push(next.text)
      next.done()
    }
  }
  return { write, drained, take, waiting, taken }
}

test("a mebibyte waits for a reader that does not read, and nothing more", () => {
  const { write, waiting } = slowReader()
  for (let i = 0; i < 100_000; i++) write(LINE)
  expect(waiting.length).toBe(MEBIBYTE)
})

test("a reader that comes back is told how many lines it has missed, once, and gets the next ones", () => {
  const { write, take, taken, waiting } = slowReader()
  for (let i = 0; i < MEBIBYTE + 7; i++) write(LINE)
  take(MEBIBYTE)
  expect(taken.length).toBe(MEBIBYTE)
  write("next\n")
  take(10)
  expect(taken.slice(MEBIBYTE)).toEqual(["lost 7\n", "next\n"])
  expect(waiting).toEqual([])
})

test("the loss is told when less than half of what may wait is left, to a reader that is still behind", () => {
  const { write, take, waiting } = slowReader()
  for (let i = 0; i < MEBIBYTE + 7; i++) write(LINE)
  take(MEBIBYTE / 2)
  expect(waiting.at(-1)?.text).toBe(LINE)
  take()
  expect(waiting.at(-1)?.text).toBe("lost 7\n")
})

test("all is drained when the last line is gone, and at once if none was written", async () => {
  const { write, drained, take } = slowReader()
  await drained()
  write(LINE)
  write(LINE)
  let done = false
  const draining = drained().then(() => {
    done = true
  })
  take()
  await Promise.resolve()
  expect(done).toBe(false)
  take()
  await draining
})

describe("a reader that is gone", () => {
  test.each<readonly [string, (text: string, done: () => void) => void]>([
    [
      "throws",
      () => {
        throw new Error("EPIPE")
      },
    ],
    [
      "throws and calls back",
      (_, done) => {
        done()
        throw new Error("EPIPE")
      },
    ],
    ["calls back twice", (_, done) => [done(), done()]],
  ])("%s: nothing waits, and nothing is thrown", async (_, fail) => {
    let calls = 0
    const { write, drained } = boundedWriter(
      (text, done) => {
        calls++
        fail(text, done)
      },
      (lines) => `lost ${lines}\n`,
    )
    for (let i = 0; i < 5_000; i++) write(LINE)
    await drained()
    expect(calls).toBe(5_000)
  })
})

test("in turn: a text is begun when the one before it is done", async () => {
  const begun: Array<{ text: string; done: () => void }> = []
  const finished: string[] = []
  const write = inTurn((text, done) => void begun.push({ text, done }))
  for (const text of ["a", "b"]) write(text, () => finished.push(text))
  await Promise.resolve()
  expect(begun.map(({ text }) => text)).toEqual(["a"])
  begun[0]?.done()
  await Promise.resolve()
  expect([begun.map(({ text }) => text), finished]).toEqual([["a", "b"], ["a"]])
})
