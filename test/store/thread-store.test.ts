// What the thread adds to the store: deadlines, late answers, a main thread that is never held up, and loss.

import { afterEach, describe, expect, jest, test } from "bun:test"
import { readdirSync } from "node:fs"
import { basename, dirname } from "node:path"
import { loadAllowlist } from "../../src/app/load-allowlist.ts"
import { assembleWritePath } from "../../src/app/write-path.ts"
import type { Change } from "../../src/core/change.ts"
import { GateError } from "../../src/core/errors.ts"
import { keySize } from "../../src/store/entry-key.ts"
import { PendingCalls } from "../../src/store/pending-calls.ts"
import type { Committed } from "../../src/store/store.ts"
import { ThreadStore, type ThreadStoreOptions } from "../../src/store/thread-store.ts"
import { fault } from "../faults/fault.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { address, network } from "../support/parsed.ts"
import { temporaryPaths } from "../support/temp-store.ts"
import { addPermanent, addTemporary, deletePermanent, NOW } from "./changes.ts"

const SLOW_DATABASE = fault("D-08", "the database is at work for long", "the thread that decides goes on")

const newPath = temporaryPaths()
const opened: ThreadStore[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close().catch(() => {})))
})

async function open(options: ThreadStoreOptions = {}): Promise<ThreadStore> {
  const store = new ThreadStore({ path: newPath(), auditRows: 100 }, options)
  opened.push(store)
  await store.open(NOW)
  return store
}

/** So many changes that the thread is at work on them for hundreds of milliseconds. */
const MANY = 60_000
/** Milliseconds: far less than that, also twice in a row. */
const DEADLINE = 25
/** Milliseconds: less than that too, and enough for a small call on a machine that is at work on something else. */
const LONGER_DEADLINE = 150

function manyAdditions(): Change[] {
  return Array.from({ length: MANY }, (_, i) => addPermanent(`10.${i >> 8}.${i & 255}.0/24`))
}

/** Asks again and again until the thread answers in time. */
async function eventually<T>(ask: () => Promise<T>, deadline = DEADLINE): Promise<T> {
  for (let attempts = 0; attempts < 500; attempts++) {
    try {
      return await ask()
    } catch (error) {
      expect(error).toMatchObject(noAnswer(deadline))
    }
  }
  throw new Error("the thread never came back")
}

/** How many permanent entries the database holds. */
async function countIn(store: ThreadStore): Promise<number> {
  let bytes = 0
  await store.snapshot(({ records }) => {
    bytes += records.length
  })
  return bytes / keySize(4)
}

/** What each call rejects with. */
function refusals(calls: ReadonlyArray<Promise<unknown>>): Promise<unknown[]> {
  return Promise.all(
    calls.map((call) =>
      call.then(
        () => "fulfilled",
        (error) => error,
      ),
    ),
  )
}

function noAnswer(deadline: number) {
  return { code: "unavailable", message: `the database did not answer within ${deadline / 1000} s` }
}
const NO_ANSWER = noAnswer(DEADLINE)

describe("a call that takes too long", () => {
  test("is refused, and the commit is handed over when its answer comes after all", async () => {
    const late: Array<readonly [readonly Change[], Committed]> = []
    const store = await open({
      callDeadline: DEADLINE,
      onLateCommit: (changes, committed) => late.push([changes, committed]),
    })
    const changes = manyAdditions()
    const error = await store.commit(changes).catch((error) => error)
    expect(error).toMatchObject(NO_ANSWER)
    expect(error.hint).toContain("may still take effect")
    expect(late).toEqual([])
    await eventually(() => store.ping())
    expect(late.length).toBe(1)
    const [[told, committed] = []] = late
    expect(told).toBe(changes)
    expect(committed).toEqual({ before: 0, after: MANY, outcomes: changes.map(() => "added" as const) })
    expect(await countIn(store)).toBe(MANY)
  }, 20_000)

  test("refuses those behind it, and all of them are handed over in the order in which they were written", async () => {
    const late: Array<readonly [ip: string, outcomes: readonly string[]]> = []
    const store = await open({
      callDeadline: DEADLINE,
      onLateCommit: (changes, { outcomes }) => late.push([String(changes[0]?.network), outcomes.slice(0, 1)]),
    })
    const calls = [
      store.commit(manyAdditions()),
      store.commit([deletePermanent("10.0.0.0/24")]),
      store.listPermanent({ limit: 1, offset: 0 }),
      store.audit({ limit: 1, offset: 0 }),
      store.ping(),
      store.commit([deletePermanent("10.0.0.0/24")]),
    ]
    for (const error of await refusals(calls)) expect(error).toMatchObject(NO_ANSWER)
    await eventually(() => store.ping())
    expect(late).toEqual([
      ["10.0.0.0/24", ["added"]],
      ["10.0.0.0/24", ["removed"]],
      ["10.0.0.0/24", ["absent"]],
    ])
  }, 20_000)

  test("is not handed over if it failed in the end", async () => {
    const late: unknown[] = []
    const store = await open({ callDeadline: DEADLINE, onLateCommit: (changes) => late.push(changes) })
    const poison = addTemporary("192.0.2.1", { ttlSeconds: 0 })
    const call = store.commit([...manyAdditions(), poison])
    expect(await call.catch((error) => error)).toMatchObject(NO_ANSWER)
    await eventually(() => store.ping())
    expect(await countIn(store)).toBe(0)
    expect(late).toEqual([])
  }, 20_000)

  test("that is answered in time is not late", async () => {
    const late: unknown[] = []
    const store = await open({ onLateCommit: (changes) => late.push(changes) })
    await store.commit([addPermanent("192.0.2.1")])
    await store.ping()
    expect(late).toEqual([])
  })
})

describe("a call behind a long one", () => {
  /** So many that the thread is at work on them for a second. */
  const IMPORTED = 200_000
  const text = () => {
    const ips = Array.from({ length: IMPORTED }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}\n`)
    return new TextEncoder().encode(ips.join(""))
  }
  const options = { at: NOW, by: null, prune: null }

  test("has its own time, which begins when the long one is done", async () => {
    const store = await open({ callDeadline: LONGER_DEADLINE })
    const order: string[] = []
    const told = (what: string) => () => void order.push(what)
    await Promise.all([
      store.import(text(), options).then(told("import")),
      store.ping().then(told("ping")),
      store.commit([addPermanent("192.0.2.1")]).then(told("commit")),
      store.listPermanent({ limit: 1, offset: 0 }).then(told("list")),
    ])
    expect(order).toEqual(["import", "ping", "commit", "list"])
  }, 20_000)

  test("is refused if it takes too long itself, once its turn has come", async () => {
    const store = await open({ longDeadline: DEADLINE })
    const [before, slow] = [store.ping(), store.import(text(), options)]
    expect(await before).toBeUndefined()
    expect(await slow.catch((error) => error)).toMatchObject(NO_ANSWER)
  }, 20_000)

  test("waits again for its turn when the thread has come back", async () => {
    const store = await open({ callDeadline: LONGER_DEADLINE })
    expect(await refusals([store.commit(manyAdditions())])).toMatchObject([noAnswer(LONGER_DEADLINE)])
    await eventually(() => store.ping(), LONGER_DEADLINE)
    const [imported, behind] = [store.import(text(), options), store.ping()]
    expect(await behind).toBeUndefined()
    expect(await imported).toMatchObject({ added: expect.any(Number) })
  }, 20_000)

  test("is refused in its own time when the long one is given up, and so is what comes then", async () => {
    const imported: number[] = []
    const store = await open({
      callDeadline: DEADLINE,
      longDeadline: DEADLINE,
      onLateImport: ({ added }) => imported.push(added),
    })
    const long = store.import(text(), options)
    const behind = store.ping()
    expect(await refusals([long, behind, store.ping()])).toMatchObject([NO_ANSWER, NO_ANSWER, NO_ANSWER])
    expect(await refusals([store.ping()])).toMatchObject([NO_ANSWER])
    expect(imported).toEqual([])
    await eventually(() => store.ping())
    expect(imported).toEqual([IMPORTED])
  }, 20_000)

  test("does not wait if it closes the database", async () => {
    const store = await open({ callDeadline: DEADLINE })
    const long = refusals([store.import(text(), options)])
    const closed = await store.close().catch((error) => error)
    expect(closed).toMatchObject(NO_ANSWER)
    expect(await long).toMatchObject([{ message: expect.stringContaining("has stopped") }])
  }, 20_000)
})

test("a copy of the database that was given up is gone when it is written", async () => {
  const path = newPath()
  const store = new ThreadStore({ path, auditRows: 100 }, { callDeadline: DEADLINE, longDeadline: DEADLINE })
  opened.push(store)
  await store.open(NOW)
  const copies = () =>
    readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}.backup-`))
  // Something to be at work on first, so that the copy is never there in time.
  const first = store.commit(manyAdditions()).catch(() => {})
  expect(await refusals([store.backUp()])).toMatchObject([NO_ANSWER])
  await first
  await eventually(() => store.ping())
  for (let attempts = 0; copies().length > 0 && attempts < 500; attempts++) await Bun.sleep(10)
  expect(copies()).toEqual([])
}, 20_000)

test("a gate over a slow thread: who waits was not written, what was sent is in memory when it is in the database", async () => {
  const clock = new FakeClock(NOW)
  const store = await open({
    callDeadline: DEADLINE,
    onLateCommit: (changes, committed) => accept(changes, committed),
  })
  const { allowlist } = await loadAllowlist(store, clock)
  const { gate, health, accept } = await assembleWritePath(store, allowlist, clock, clock.mono())
  // Somebody else's long call is in front of it.
  const long = store.commit(manyAdditions()).catch((error) => error)
  const sent = gate.addPermanent(network("192.0.2.1")).catch((error) => error)
  const waiting = gate.addPermanent(network("192.0.2.2")).catch((error) => error)
  expect(await long).toMatchObject(NO_ANSWER)
  expect(await sent).toMatchObject(NO_ANSWER)
  expect((await waiting).message).toContain("was not written")
  expect(health.ok).toBe(false)
  expect(await gate.status()).toMatchObject({ status: "degraded", databaseOk: false })
  await eventually(() => store.ping())
  expect(allowlist.permanentCount).toBe(MANY + 1)
  expect(await countIn(store)).toBe(MANY + 1)
  const decisions = ["192.0.2.1", "192.0.2.2", "10.20.0.9"].map((ip) => allowlist.allows(address(ip)))
  expect(decisions).toEqual([true, false, true])
  await eventually(() => health.watchWrite(store.probe()))
  expect(await gate.status()).toMatchObject({ status: "ok", databaseOk: true, permanentCount: MANY + 1 })
}, 20_000)

test(SLOW_DATABASE, async () => {
  const store = await open()
  let answered = false
  const commit = store.commit(manyAdditions()).then(() => {
    answered = true
  })
  let turns = 0
  while (!answered && turns < 20) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    if (!answered) turns++
  }
  expect(turns).toBe(20)
  await commit
}, 20_000)

test("whoever is told that the thread is lost is told nothing after that, and no timer is left", () => {
  jest.useFakeTimers()
  try {
    const calls = new PendingCalls()
    const told: string[] = []
    for (const name of ["first", "second"]) {
      const reject = ({ message }: GateError) => void told.push(`${name}: ${message}`)
      calls.add({ resolve() {}, reject, piece: undefined, late: undefined, deadline: 1_000, fromNow: true })
    }
    expect(jest.getTimerCount()).toBe(2)
    calls.rejectAll(new GateError("unavailable", "lost"))
    expect(jest.getTimerCount()).toBe(0)
    jest.advanceTimersByTime(10_000)
    expect(told).toEqual(["first: lost", "second: lost"])
  } finally {
    jest.useRealTimers()
  }
})

describe("a thread that is lost", () => {
  const STOPPED = {
    code: "unavailable",
    message: "the database thread has stopped; changes fail until a restart",
  }

  /** Ends the thread from behind, as a crash of the database's native code would. */
  function lose(store: ThreadStore): void {
    const worker: Worker = Reflect.get(store, "worker")
    worker.terminate()
  }

  test("refuses what was under way, and everything after", async () => {
    const late: unknown[] = []
    const store = await open({ onLateCommit: (changes) => late.push(changes) })
    const underWay = [
      store.commit(manyAdditions()),
      store.ping(),
      store.listPermanent({ limit: 1, offset: 0 }),
      store.snapshot(() => {}),
    ]
    lose(store)
    for (const error of await refusals(underWay)) expect(error).toMatchObject(STOPPED)
    const after = [
      store.commit([addPermanent("192.0.2.1")]),
      store.ping(),
      store.audit({ limit: 1, offset: 0 }),
    ]
    for (const error of await refusals(after)) expect(error).toMatchObject(STOPPED)
    expect(late).toEqual([])
    expect(await store.close()).toBeUndefined()
  }, 20_000)

  test("is told with the reason", async () => {
    const store = await open()
    const call = store.ping()
    lose(store)
    const error = await call.catch((error) => error)
    expect(error.cause).toBeInstanceOf(Error)
    expect(error.cause.message).toStartWith("database thread: ")
  })
})

test("a failure in the thread arrives with its code, its hint and its cause", async () => {
  const store = await open()
  const failed = await store.commit([addTemporary("192.0.2.1", { ttlSeconds: 0 })]).catch((error) => error)
  expect(failed).toMatchObject({ name: "GateError", code: "failed", hint: undefined })
  expect(failed.message).toBe("database failure: the database reported SQLITE_CONSTRAINT")
  expect(failed.cause.message).toContain("CHECK constraint failed")
  const path = newPath()
  await Bun.write(path, "not a database")
  const other = new ThreadStore({ path, auditRows: 100 })
  opened.push(other)
  const refused = await other.open(NOW).catch((error) => error)
  expect(refused).toMatchObject({ name: "GateError", code: "unavailable" })
  expect(refused.hint).toContain("backup")
})
