// Lines of one moment leave in one write, in their order, and each is told when that write is done.

import { expect, test } from "bun:test"
import { writtenTogether } from "../../src/log/written-together.ts"

function reader() {
  const writes: Array<{ text: string; done: () => void }> = []
  const done: string[] = []
  const together = writtenTogether((text, isDone) => void writes.push({ text, done: isDone }))
  return { writes, done, write: (text: string) => together(text, () => done.push(text)) }
}

test("lines of one moment are one write, those of the next another one", async () => {
  const { writes, done, write } = reader()
  write("a\n")
  write("b\n")
  expect(writes).toEqual([])
  await Promise.resolve()
  write("c\n")
  await Promise.resolve()
  expect(writes.map(({ text }) => text)).toEqual(["a\nb\n", "c\n"])
  expect(done).toEqual([])
  writes[1]?.done()
  expect(done).toEqual(["c\n"])
  writes[0]?.done()
  expect(done).toEqual(["c\n", "a\n", "b\n"])
})

test("a line that is told while a write is under way waits for the next one", async () => {
  const writes: string[] = []
  const write = writtenTogether((text, done) => {
    if (writes.push(text) === 1) write("of the writer\n", () => {})
    done()
  })
  write("first\n", () => write("of whoever waits\n", () => {}))
  await Promise.resolve()
  expect(writes).toEqual(["first\n"])
  await Promise.resolve()
  expect(writes).toEqual(["first\n", "of the writer\nof whoever waits\n"])
})

test("a reader that is gone lets nobody wait", async () => {
  const write = writtenTogether(() => {
    throw new Error("EPIPE")
  })
  let told = 0
  for (let i = 0; i < 3; i++) write("line\n", () => told++)
  await Promise.resolve()
  expect(told).toBe(3)
})
