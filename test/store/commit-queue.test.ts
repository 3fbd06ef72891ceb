// Group commit over a real database, with a door before it that a test can keep shut.

import { afterEach, describe, expect, test } from "bun:test"
import type { Change, Outcome } from "../../src/core/change.ts"
import { GateError } from "../../src/core/errors.ts"
import { CommitQueue } from "../../src/store/commit-queue.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import type { Committed } from "../../src/store/store.ts"
import { temporaryPaths } from "../support/temp-store.ts"
import { addPermanent, addTemporary, deletePermanent, logOf, NOW, permanentOf, recordOf } from "./changes.ts"

const newPath = temporaryPaths()
const opened: LibsqlStore[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

/** A queue over a store; each write waits for `let` before it goes to the database. */
class Bench {
  readonly groups: Array<readonly Change[]> = []
  readonly events: string[] = []
  readonly queue: CommitQueue
  inFlight = 0
  mostInFlight = 0
  private doors: Array<(error?: GateError) => void> = []
  private open = false

  constructor(
    readonly store: LibsqlStore,
    sharesProcessor: boolean,
  ) {
    this.queue = new CommitQueue(
      (changes) => this.write(changes),
      (changes, committed) => {
        expect(committed.outcomes.length).toBe(changes.length)
        this.events.push(`committed ${changes.map(({ network }) => network).join(" ")}`)
      },
      sharesProcessor,
    )
  }

  /** Adds changes, and notes what their caller is told. */
  add(...changes: Change[]): Promise<Outcome[] | string> {
    const names = changes.map(({ network }) => network).join(" ")
    return this.queue.add(changes).then(
      (outcomes) => {
        this.events.push(`told ${names}`)
        return outcomes
      },
      (error) => {
        this.events.push(`refused ${names}`)
        return `${error.code}: ${error.message}`
      },
    )
  }

  /** Lets the write that waits go to the database, or makes it fail. */
  pass(error?: GateError): void {
    const door = this.doors.shift()
    if (door === undefined) throw new Error("no write is waiting")
    door(error)
  }

  /** From now on nothing waits. */
  passAll(): void {
    this.open = true
    for (const door of this.doors.splice(0)) door()
  }

  sizes(): number[] {
    return this.groups.map((group) => group.length)
  }

  private async write(changes: readonly Change[]): Promise<Committed> {
    this.groups.push(changes)
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight)
    try {
      if (!this.open) {
        const error = await new Promise<GateError | undefined>((resolve) => this.doors.push(resolve))
        if (error !== undefined) throw error
      }
      return await this.store.commit(changes)
    } finally {
      this.inFlight--
    }
  }
}

async function bench({ sharesProcessor = false } = {}): Promise<Bench> {
  const store = new LibsqlStore({ path: newPath(), auditRows: 100_000 })
  opened.push(store)
  await store.open(NOW)
  return new Bench(store, sharesProcessor)
}

/** Different permanent additions. */
function additions(count: number, from = 0): Change[] {
  return Array.from({ length: count }, (_, i) =>
    addPermanent(`10.${(from + i) >> 8}.${(from + i) & 255}.0/24`),
  )
}

describe("grouping", () => {
  test("the first change goes at once, and what comes meanwhile goes together", async () => {
    const it = await bench()
    const told = additions(4).map((change) => it.add(change))
    expect(it.sizes()).toEqual([1])
    it.passAll()
    expect(await Promise.all(told)).toEqual([["added"], ["added"], ["added"], ["added"]])
    expect(it.sizes()).toEqual([1, 3])
  })

  describe.each([
    ["has a processor of its own", false, [1, 9, 1]],
    ["shares the only processor", true, [1, 9, 10]],
  ])("a database thread that %s", (_, sharesProcessor, sizes) => {
    test(`gets first groups of ${sizes.join(", ")} from ten clients with two changes each`, async () => {
      const it = await bench({ sharesProcessor })
      const clients = additions(10).map(async (change, i) => {
        const first = await it.add(change)
        return [first, await it.add(...additions(1, 100 + i))]
      })
      it.passAll()
      expect(await Promise.all(clients)).toEqual(clients.map(() => [["added"], ["added"]]))
      expect(it.sizes().slice(0, 3)).toEqual(sizes)
      expect(it.mostInFlight).toBe(1)
      expect(await logOf(it.store)).toEqual(it.groups.flat().map(recordOf))
    })
  })

  test("has at most one group at the database, none of them too large", async () => {
    const it = await bench()
    const changes = additions(700)
    const told = changes.map((change) => it.add(change))
    it.passAll()
    expect(await Promise.all(told)).toEqual(changes.map(() => ["added"]))
    expect(it.mostInFlight).toBe(1)
    expect(it.sizes()[0]).toBe(1)
    expect(Math.max(...it.sizes())).toBeLessThanOrEqual(256)
    expect(it.sizes().length).toBeLessThan(6)
    expect(it.groups.flat()).toEqual(changes)
    expect(await logOf(it.store)).toEqual(changes.map(recordOf))
  })

  test("keeps the changes of one call together, also when they alone are more than a group", async () => {
    const it = await bench()
    const first = it.add(...additions(1))
    const calls = [additions(200, 1), additions(100, 201), additions(300, 301), additions(1, 601)]
    const told = calls.map((changes) => it.add(...changes))
    it.passAll()
    await first
    expect((await Promise.all(told)).map((outcomes) => outcomes.length)).toEqual([200, 100, 300, 1])
    expect(it.sizes()).toEqual([1, 200, 100, 300, 1])
  })

  test("each caller gets the outcomes of its own changes, in order", async () => {
    const it = await bench()
    const ip = "192.0.2.1"
    const told = [
      it.add(addPermanent(ip)),
      it.add(addPermanent(ip)),
      it.add(deletePermanent(ip), deletePermanent(ip), addPermanent(ip)),
      it.add(),
      it.add(addTemporary(ip), addTemporary(ip)),
      it.add(deletePermanent(ip)),
    ]
    it.passAll()
    expect(await Promise.all(told)).toEqual([
      ["added"],
      ["conflict"],
      ["removed", "absent", "added"],
      [],
      ["added", "replaced"],
      ["removed"],
    ])
    expect(it.sizes()).toEqual([1, 7])
    expect((await logOf(it.store)).map(({ action }) => action)).toEqual([
      "add_perm",
      "delete_perm",
      "add_perm",
      "add_temp",
      "add_temp",
      "delete_perm",
    ])
  })

  test("works on after it has been idle", async () => {
    const it = await bench()
    it.passAll()
    for (const change of additions(3)) expect(await it.add(change)).toEqual(["added"])
    expect(it.sizes()).toEqual([1, 1, 1])
  })
})

test("a large group is told by and by: others get their turn meanwhile, and the next group is not kept waiting", async () => {
  const it = await bench()
  const first = it.add(...additions(1))
  const told = additions(40, 1).map((change) => it.add(change))
  it.pass()
  await first
  const next = it.add(...additions(1, 41))
  it.pass()
  await told[0]
  let isOver = false
  void told.at(-1)?.then(() => {
    isOver = true
  })
  let turns = 0
  for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve))
  expect(turns).toBeGreaterThan(5)
  expect(it.sizes()).toEqual([1, 40, 1])
  it.pass()
  expect(await next).toEqual(["added"])
})

test("whoever is told finds it done: the group is handed over before any caller of it is answered", async () => {
  const it = await bench()
  const [a, b, c] = additions(3) as [Change, Change, Change]
  const told = [it.add(a), it.add(b), it.add(c)]
  it.pass()
  await told[0]
  expect(it.events).toEqual([`committed ${a.network}`, `told ${a.network}`])
  it.pass()
  await Promise.all(told)
  expect(it.events.slice(2)).toEqual([
    `committed ${b.network} ${c.network}`,
    `told ${b.network}`,
    `told ${c.network}`,
  ])
})

test("nobody is told before the group is durable", async () => {
  const it = await bench()
  const told = it.add(addPermanent("192.0.2.1"))
  await settled()
  expect(it.events).toEqual([])
  expect(await permanentOf(it.store)).toEqual([])
  it.pass()
  await told
  expect(await permanentOf(it.store)).toEqual(["192.0.2.1"])
})

describe("failure", () => {
  test("of one change refuses all of its group, and no other group", async () => {
    const it = await bench()
    const poison = addTemporary("192.0.2.1", { ttlSeconds: 0 })
    const told = [it.add(addPermanent("10.0.0.0/8")), it.add(addPermanent("10.0.0.1")), it.add(poison)]
    it.pass()
    await told[0]
    const later = it.add(addPermanent("10.0.0.2"))
    it.pass()
    await Promise.all(told)
    it.passAll()
    expect(await told[0]).toEqual(["added"])
    expect(await told[1]).toStartWith("failed: ")
    expect(await told[2]).toBe((await told[1]) as string)
    expect(await later).toEqual(["added"])
    expect(await permanentOf(it.store)).toEqual(["10.0.0.0/8", "10.0.0.2"])
    expect(it.events.filter((event) => event.startsWith("committed"))).toEqual([
      "committed 10.0.0.0/8",
      "committed 10.0.0.2",
    ])
  })

  test("of a database that does not answer withdraws what waits: it was not written", async () => {
    const it = await bench()
    const told = additions(4).map((change) => it.add(change))
    it.pass(new GateError("unavailable", "no answer"))
    expect(await Promise.all(told)).toEqual([
      "unavailable: no answer",
      ...Array.from({ length: 3 }, () => expect.stringMatching(/^unavailable: .*was not written$/)),
    ] as string[])
    expect(it.sizes()).toEqual([1])
    it.passAll()
    expect(await it.add(addPermanent("192.0.2.1"))).toEqual(["added"])
    expect(await permanentOf(it.store)).toEqual(["192.0.2.1"])
  })

  test("of a write that is no GateError reaches the callers too", async () => {
    const queue = new CommitQueue(
      () => {
        throw new TypeError("a defect")
      },
      () => {},
    )
    expect(await queue.add(additions(1)).catch((error) => error)).toBeInstanceOf(TypeError)
    expect(await queue.add(additions(1)).catch((error) => error)).toBeInstanceOf(TypeError)
  })
})

test("a full queue refuses at once, and takes changes again when there is room", async () => {
  const it = await bench()
  const first = it.add(addPermanent("192.0.2.1"))
  const waiting = Array.from({ length: 100 }, (_, i) => it.add(...additions(100, i * 100)))
  const refused = await it.add(addPermanent("192.0.2.2"))
  expect(refused).toMatch(/^unavailable: 10000 changes are waiting/)
  // Those that wait are not disturbed.
  expect(it.events).toEqual(["refused 192.0.2.2"])
  it.pass()
  await first
  expect(await permanentOf(it.store)).toEqual(["192.0.2.1"])
  const late = it.add(addPermanent("192.0.2.3"))
  it.pass(new GateError("unavailable", "no answer"))
  const answers = await Promise.all([...waiting, late])
  expect(answers.filter((answer) => String(answer).startsWith("unavailable")).length).toBe(101)
  it.passAll()
  const again = Array.from({ length: 100 }, () =>
    it.add(...Array.from({ length: 100 }, () => deletePermanent("192.0.2.9"))),
  )
  expect((await Promise.all(again)).flat().every((outcome) => outcome === "absent")).toBe(true)
}, 20_000)

describe("jobs that have the database for themselves", () => {
  /** So many that the queue is full, behind a write that waits at the door; `ran` counts those that have had their turn. */
  async function fullOfJobs() {
    const it = await bench()
    const first = it.add(addPermanent("192.0.2.1"))
    let ran = 0
    const job = () =>
      it.queue
        .exclusive(async () => {
          ran++
          if (ran % 2 === 0) throw new TypeError("a defect")
        })
        .then(() => "done", String)
    const jobs = Array.from({ length: 10_000 }, job)
    return { it, first, job, jobs, ran: () => ran }
  }
  const FULL = "10000 changes are waiting for the database; try again later"

  test("count as a change each: a full queue refuses one more at once, and takes it when there is room", async () => {
    const { it, first, job, jobs, ran } = await fullOfJobs()
    expect(it.queue.waitingChanges).toBe(10_000)
    expect(await job()).toBe(`GateError: ${FULL}`)
    expect(await it.add(addPermanent("192.0.2.2"))).toBe(`unavailable: ${FULL}`)
    expect(ran()).toBe(0)
    it.passAll()
    expect(await first).toEqual(["added"])
    expect((await Promise.all(jobs)).slice(0, 2)).toEqual(["done", "TypeError: a defect"])
    expect([ran(), it.queue.waitingChanges]).toEqual([10_000, 0])
    expect(await job()).toBe("done")
    expect(await it.add(addPermanent("192.0.2.2"))).toEqual(["added"])
  })

  test("are withdrawn with what waits, and leave room for as many", async () => {
    const { it, first, job, jobs, ran } = await fullOfJobs()
    it.pass(new GateError("unavailable", "no answer"))
    expect(await first).toBe("unavailable: no answer")
    for (const told of await Promise.all(jobs)) expect(told).toEndWith("was not written")
    expect([ran(), it.queue.waitingChanges]).toEqual([0, 0])
    it.passAll()
    expect(new Set(await Promise.all(jobs.map(job)))).toEqual(new Set(["done", "TypeError: a defect"]))
    expect(it.queue.waitingChanges).toBe(0)
  })
})

/** Lets everything that is ready run. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
