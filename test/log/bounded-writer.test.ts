// The writer that never waits: what leaves together, what it keeps for a slow reader, what it drops, and what it says of that.

import { describe, expect, test } from "bun:test"
import { boundedWriter, inTurn } from "../../src/log/bounded-writer.ts"

const LINE = `${"x".repeat(1023)}\n`
const MEBIBYTE = 1024

/** A reader that takes a text when it is told to. */
function slowReader() {
  const waiting: Array<{ text: string; done: () => void }> = []
  const taken: string[] = []
  const { write, drained } = boundedWriter(
    (text, done) => waiting.push({ text, done }),
    (lines) => `lost ${lines}\n`,
  )
  const take = (count = 1) => {
    for (const { text, done } of waiting.splice(0, count)) {
      taken.push(text)
      done()
    }
  }
  return { write, drained, take, waiting, taken }
}

/** Whoever has told lines lets go of the processor. */
const letGo = () => Promise.resolve()

test("lines of one moment are one write, those of the next another one", async () => {
  const { write, waiting, take, taken } = slowReader()
  write("a\n")
  write("b\n")
  expect(waiting).toEqual([])
  await letGo()
  write("c\n")
  await letGo()
  take(2)
  expect(taken).toEqual(["a\nb\n", "c\n"])
})

test("a line that is told while a write is under way waits for the next one", async () => {
  const writes: string[] = []
  const { write, drained } = boundedWriter(
    (text, done) => {
      if (writes.push(text) === 1) write("of the writer\n")
      done()
    },
    () => "",
  )
  write("first\n")
  await letGo()
  expect(writes).toEqual(["first\n"])
  await drained()
  expect(writes).toEqual(["first\n", "of the writer\n"])
})

describe("a mebibyte waits for a reader that does not read, and nothing more", () => {
  const sizeOf = (texts: ReadonlyArray<{ text: string }>) =>
    texts.reduce((size, { text }) => size + text.length, 0) / LINE.length

  test("of lines of one moment", async () => {
    const { write, waiting } = slowReader()
    for (let i = 0; i < 100_000; i++) write(LINE)
    await letGo()
    expect([waiting.length, sizeOf(waiting)]).toEqual([1, MEBIBYTE])
  })

  test("of lines of many moments", async () => {
    const { write, waiting } = slowReader()
    for (let i = 0; i < 3 * MEBIBYTE; i++) {
      write(LINE)
      await letGo()
    }
    expect([waiting.length, sizeOf(waiting)]).toEqual([MEBIBYTE, MEBIBYTE])
  })
})

test("a reader that comes back is told how many lines it has missed, once, and gets the next ones", async () => {
  const { write, take, taken, waiting } = slowReader()
  for (let i = 0; i < MEBIBYTE + 7; i++) {
    write(LINE)
    await letGo()
  }
  take(MEBIBYTE)
  expect(taken.length).toBe(MEBIBYTE)
  write("next\n")
  await letGo()
  take(10)
  expect(taken.slice(MEBIBYTE).join("")).toBe("lost 7\nnext\n")
  expect(waiting).toEqual([])
})

test("all is drained when the last line is gone, and at once if none was written", async () => {
  const { write, drained, take } = slowReader()
  await drained()
  write(LINE)
  let done = false
  const draining = drained().then(() => {
    done = true
  })
  await letGo()
  write(LINE)
  await letGo()
  take()
  await letGo()
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
    for (let i = 0; i < 5_000; i++) {
      write(LINE)
      await letGo()
    }
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
