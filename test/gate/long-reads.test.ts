// Exports and backups that come at once: one at a time at the database, and only so many open.

import { expect, test } from "bun:test"
import { GateError } from "../../src/core/errors.ts"
import { asTheyCome } from "../../src/gate/as-they-come.ts"
import { LongReads } from "../../src/gate/long-reads.ts"

/** A database that is asked, and answers when a test wants it. */
class Asked {
  readonly answers: Array<(error?: Error) => void> = []

  /** A read that yields `name` as soon as it has its turn. */
  read(reads: LongReads, name: string): AsyncGenerator<string> {
    return reads.begin((inTurn) =>
      asTheyCome((push: (piece: string) => void) =>
        inTurn(() => {
          push(name)
          return new Promise<void>((resolve, reject) =>
            this.answers.push((error) => (error === undefined ? resolve() : reject(error))),
          )
        }),
      ),
    )
  }
}

const busy = (pieces: AsyncGenerator<string>) =>
  pieces.next().then(
    () => null,
    (error: unknown) => (error instanceof GateError ? error.code : error),
  )

test("the next one begins when the database is done with the one before, also if that failed", async () => {
  const [reads, database] = [new LongReads(), new Asked()]
  const first = database.read(reads, "first")
  const second = database.read(reads, "second")
  expect(await first.next()).toEqual({ done: false, value: "first" })
  const waiting = second.next()
  await Bun.sleep(0)
  expect(database.answers).toHaveLength(1)
  database.answers[0]?.(new Error("the disk is gone"))
  expect(await first.next().catch(({ message }) => message)).toBe("the disk is gone")
  expect(await waiting).toEqual({ done: false, value: "second" })
  database.answers[1]?.()
  expect(await second.next()).toEqual({ done: true, value: undefined })
})

test("a ninth is refused, until a reader has all of his or leaves", async () => {
  const [reads, database] = [new LongReads(), new Asked()]
  const eight = Array.from({ length: 8 }, (_, i) => database.read(reads, String(i)))
  const begun = eight.map((one) => one.next())
  expect(await busy(database.read(reads, "ninth"))).toBe("busy")

  // The first one is read to its end.
  await begun[0]
  database.answers[0]?.()
  expect((await eight[0]?.next())?.done).toBe(true)
  const ninth = database.read(reads, "ninth")
  const late = ninth.next()
  expect(await busy(database.read(reads, "tenth"))).toBe("busy")

  // The reader of the second one leaves; its place is free when the database is done with it.
  await begun[1]
  const left = eight[1]?.return(undefined)
  await Bun.sleep(0)
  expect(await busy(database.read(reads, "tenth"))).toBe("busy")
  database.answers[1]?.()
  await left
  const tenth = database.read(reads, "tenth")
  const last = tenth.next()
  for (let i = 2; i < 10; i++) {
    await (begun[i] ?? (i === 8 ? late : last))
    database.answers[i]?.()
  }
  expect([(await late).value, (await last).value]).toEqual(["ninth", "tenth"])
})

test("a failure that comes when the reader has left is told to nobody, and frees the place", async () => {
  const [reads, database] = [new LongReads(), new Asked()]
  const unhandled: unknown[] = []
  const onUnhandled = (cause: unknown) => unhandled.push(cause)
  process.on("unhandledRejection", onUnhandled)
  try {
    for (let i = 0; i < 9; i++) {
      const one = database.read(reads, "read")
      expect((await one.next()).value).toBe("read")
      const left = one.return(undefined)
      database.answers[i]?.(new Error("the disk is gone"))
      await left
    }
    await Bun.sleep(0)
    expect(unhandled).toEqual([])
  } finally {
    process.off("unhandledRejection", onUnhandled)
  }
})

test("one that nobody begins to read takes no place", async () => {
  const [reads, database] = [new LongReads(), new Asked()]
  for (let i = 0; i < 20; i++) await database.read(reads, "never read").return(undefined)
  expect((await database.read(reads, "read").next()).value).toBe("read")
})
