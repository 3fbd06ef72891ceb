// The sweeper: it records every end once, at its moment, and stands in nobody's way.

import { afterEach, describe, expect, jest, test } from "bun:test"
import type { Change } from "../../src/core/change.ts"
import { GateError } from "../../src/core/errors.ts"
import { Sweeper } from "../../src/gate/sweeper.ts"
import type { Connection } from "../../src/store/connection.ts"
import { fault } from "../faults/fault.ts"
import { network } from "../support/parsed.ts"
import { temporaryPaths } from "../support/temp-store.ts"
import { NOW, Workbench } from "./workbench.ts"

const newPath = temporaryPaths()
const opened: Workbench[] = []
afterEach(async () => {
  jest.useRealTimers()
  for (const bench of opened.splice(0)) {
    bench.sweeper.stop()
    bench.unlock()
    await bench.store.close()
  }
})

async function open(): Promise<Workbench> {
  const bench = await Workbench.open(newPath())
  opened.push(bench)
  return bench
}

function ip(i: number): string {
  return `10.0.${i >> 8}.${i & 255}`
}

/** Adds entries that end after 1, 2, 3 and so on seconds, in one import. */
async function grantMany(bench: Workbench, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, i) => `${ip(i)}\t${i + 1}\n`).join("")
  await bench.gate.import({ lines: new TextEncoder().encode(lines), prune: null })
}

function expiries(log: readonly string[]): string[] {
  return log.filter((line) => line.startsWith("expire_temp"))
}

describe("a sweep", () => {
  test("records what has ended by now at the moment it ended, and nothing else", async () => {
    const bench = await open()
    await bench.grant("192.0.2.1", 60)
    await bench.grant("2001:db8::/64", 30)
    await bench.grant("192.0.2.2", 61)
    await bench.gate.addPermanent(network("192.0.2.1"))
    bench.clock.advance(60_500)
    await bench.sweeper.sweep()
    expect(new Set(expiries(await bench.log()))).toEqual(
      new Set(["expire_temp 2001:db8::/64 30000", "expire_temp 192.0.2.1 60000"]),
    )
    expect(await bench.temporaryRows()).toEqual(["192.0.2.2 61000"])
    expect(bench.allowlist.endedGrants(10)).toEqual([])
    expect([bench.allowed("192.0.2.1"), bench.allowed("192.0.2.2")]).toEqual([true, true])
    await bench.sweeper.sweep()
    expect(expiries(await bench.log()).length).toBe(2)
  })

  test("records the present moment for an entry that ended before its time by the wall clock", async () => {
    const bench = await open()
    await bench.grant("192.0.2.1", 60)
    bench.clock.stepWall(-3_600_000)
    bench.clock.advance(60_000)
    await bench.sweeper.sweep()
    expect(expiries(await bench.log())).toEqual([`expire_temp 192.0.2.1 ${60_000 - 3_600_000}`])
    expect(await bench.temporaryRows()).toEqual([])
  })

  test("records the oldest end first", async () => {
    const bench = await open()
    const seconds = [10, 50, 20, 60, 70, 30, 40]
    for (const [i, ttl] of seconds.entries()) await bench.grant(ip(i), ttl)
    bench.clock.advance(70_000)
    await bench.sweeper.sweep()
    const moments = expiries(await bench.log()).map((line) => Number(line.split(" ")[2]) / 1000)
    expect(moments).toEqual([10, 20, 30, 40, 50, 60, 70])
  })

  test("does nothing while nothing has ended", async () => {
    const bench = await open()
    await bench.grant("192.0.2.1", 60)
    bench.clock.advance(59_999)
    await bench.sweeper.sweep()
    expect(bench.groups.length).toBe(1)
  })

  test(
    fault("C-08", "thousands of entries end at once", "swept in groups, with other changes in between"),
    async () => {
      const bench = await open()
      await grantMany(bench, 900)
      bench.clock.advance(900_000)
      const swept = bench.sweeper.sweep()
      await bench.gate.addPermanent(network("192.0.2.1"))
      expect(expiries(await bench.log()).length).toBeLessThan(900)
      await swept
      const log = await bench.log()
      expect(new Set(expiries(log))).toEqual(
        new Set(Array.from({ length: 900 }, (_, i) => `expire_temp ${ip(i)} ${(i + 1) * 1000}`)),
      )
      expect(expiries(log).length).toBe(900)
      expect(await bench.temporaryRows()).toEqual([])
      expect((await bench.gate.status()).temporaryCount).toBe(0)
    },
  )

  test("is one at a time", async () => {
    const bench = await open()
    await bench.grant("192.0.2.1", 60)
    bench.clock.advance(60_000)
    bench.shut()
    const first = bench.sweeper.sweep()
    await bench.sweeper.sweep()
    expect(bench.groups.length).toBe(2)
    bench.unlock()
    await first
    expect(expiries(await bench.log()).length).toBe(1)
  })

  test("that the database refuses lets nobody in, and is done again the next time", async () => {
    const bench = await open()
    await bench.grant("192.0.2.1", 60)
    bench.clock.advance(60_000)
    bench.shut()
    const swept = bench.sweeper.sweep()
    bench.pass(new GateError("failed", "the disk is full"))
    expect(await swept).toBeUndefined()
    expect(bench.allowed("192.0.2.1")).toBe(false)
    expect(await bench.gate.status()).toMatchObject({ status: "degraded", temporaryCount: 0 })
    expect(await bench.temporaryRows()).toEqual(["192.0.2.1 60000"])
    bench.unlock()
    await bench.sweeper.sweep()
    expect(expiries(await bench.log())).toEqual(["expire_temp 192.0.2.1 60000"])
    expect(await bench.temporaryRows()).toEqual([])
  })

  test("that the database refuses has still seen the end: a clock that is set back then lets nobody in again", async () => {
    const bench = await open()
    await bench.grant("192.0.2.1", 60)
    bench.clock.stepWall(60_000)
    bench.shut()
    const swept = bench.sweeper.sweep()
    bench.pass(new GateError("failed", "the disk is full"))
    await swept
    bench.clock.stepWall(-60_000)
    expect(bench.allowed("192.0.2.1")).toBe(false)
    bench.unlock()
    await bench.sweeper.sweep()
    expect(await bench.temporaryRows()).toEqual([])
  })

  test("ends, and records nothing twice, when the database has recorded the end already", async () => {
    const bench = await open()
    await bench.grant("192.0.2.1", 60)
    bench.clock.advance(60_000)
    // An import records what has ended before it adds anything.
    await bench.gate.import({ lines: new TextEncoder().encode("192.0.2.2\n"), prune: null })
    expect(expiries(await bench.log())).toEqual(["expire_temp 192.0.2.1 60000"])
    await bench.sweeper.sweep()
    expect(expiries(await bench.log()).length).toBe(1)
    expect(bench.allowlist.endedGrants(10)).toEqual([])
  })

  test(fault("J-17", "an entry is granted again while its end is being recorded", "it stays"), async () => {
    const bench = await open()
    await bench.grant("192.0.2.1", 60)
    bench.clock.advance(60_000)
    bench.shut()
    const other = bench.gate.addPermanent(network("192.0.2.9"))
    const granted = bench.grant("192.0.2.1", 60)
    const swept = bench.sweeper.sweep()
    bench.unlock()
    expect(await granted).toEqual({ result: "added", expiresAt: NOW + 120_000 })
    await Promise.all([other, swept])
    expect(bench.allowed("192.0.2.1")).toBe(true)
    expect(await bench.temporaryRows()).toEqual(["192.0.2.1 120000"])
    expect(expiries(await bench.log()).length).toBe(1)
  })
})

describe("an end that the database refuses", () => {
  /** From now on the database itself refuses to remove these entries; the result takes that back. */
  function refuse(bench: Workbench, refused: readonly string[]): () => void {
    const connection: Connection = Reflect.get(bench.store, "opened")
    const ips = refused.map((ip) => `'${ip}'`).join()
    connection.execute(`CREATE TRIGGER refusing BEFORE DELETE ON temporary WHEN OLD.ip IN (${ips})
                        BEGIN SELECT RAISE(ABORT, 'refused'); END`)
    return () => connection.execute("DROP TRIGGER refusing")
  }

  /** So often that each of those refused has failed in a batch and alone. */
  async function sweepOften(bench: Workbench, times: number): Promise<void> {
    for (let i = 0; i < times; i++) await bench.sweeper.sweep()
  }

  test("keeps no other from being recorded, and is told once", async () => {
    const bench = await open()
    await grantMany(bench, 70)
    bench.clock.advance(70_000)
    const refused = [ip(3), ip(7), ip(44)]
    const mend = refuse(bench, refused)
    await sweepOften(bench, 12)
    expect((await bench.temporaryRows()).map((row) => row.split(" ")[0] ?? "")).toEqual(refused)
    expect(expiries(await bench.log()).length).toBe(67)
    expect(bench.sweepFailures.map(String)).toEqual([expect.stringContaining("SQLITE_CONSTRAINT")])
    expect(refused.map((ip) => bench.allowed(ip))).toEqual([false, false, false])

    await bench.grant("192.0.2.1", 1)
    bench.clock.advance(1_000)
    await bench.sweeper.sweep()
    expect(expiries(await bench.log()).length).toBe(68)

    mend()
    await bench.sweeper.sweep()
    expect(await bench.temporaryRows()).toEqual([])
    expect(expiries(await bench.log()).length).toBe(71)
    expect(bench.sweepFailures.length).toBe(1)
  })

  test("is told again when it comes after a sweep that did not fail", async () => {
    const bench = await open()
    for (const again of [1, 2]) {
      await bench.grant("192.0.2.1", 1)
      bench.clock.advance(1_000)
      const mend = refuse(bench, ["192.0.2.1"])
      await sweepOften(bench, 3)
      expect(bench.sweepFailures.length).toBe(again)
      mend()
      await bench.sweeper.sweep()
      expect(await bench.temporaryRows()).toEqual([])
    }
  })

  test("is tried once in a sweep, and all are recorded when the whole database works again", async () => {
    const bench = await open()
    await grantMany(bench, 900)
    bench.clock.advance(900_000)
    const mend = refuse(
      bench,
      Array.from({ length: 900 }, (_, i) => ip(i)),
    )
    const before = bench.groups.length
    await sweepOften(bench, 60)
    expect(bench.groups.length - before).toBe(60)
    expect(bench.sweepFailures.length).toBe(1)
    mend()
    await bench.sweeper.sweep()
    expect(await bench.temporaryRows()).toEqual([])
    expect(expiries(await bench.log()).length).toBe(900)
    // No more than 200 were written one by one, and the others in batches of at least five.
    expect(bench.groups.length - before).toBeLessThanOrEqual(60 + 200 + 700 / 5 + 1)
  })

  test("does no harm to an entry that was granted again meanwhile", async () => {
    const bench = await open()
    await bench.grant("192.0.2.1", 1)
    bench.clock.advance(1_000)
    const mend = refuse(bench, ["192.0.2.1"])
    await sweepOften(bench, 2)
    mend()
    await bench.grant("192.0.2.1", 60)
    await sweepOften(bench, 2)
    expect(bench.allowed("192.0.2.1")).toBe(true)
    expect(await bench.temporaryRows()).toEqual(["192.0.2.1 61000"])
  })
})

describe("between two transactions", () => {
  /** A sweeper whose transactions take so many milliseconds each, and which tells its rests and what it has written. */
  function resting(bench: Workbench, takes: readonly number[], stopAfter = 4) {
    const left = [...takes]
    const rests: number[] = []
    const sizes: number[] = []
    const queue = {
      add: (changes: readonly Change[]) => {
        sizes.push(changes.length)
        bench.clock.advance(left.shift() ?? 0)
        return bench.path.queue.add(changes)
      },
    }
    const rest = async (milliseconds: number) => {
      rests.push(milliseconds)
      bench.clock.advance(milliseconds)
      if (rests.length === stopAfter) sweeper.stop()
    }
    const sweeper: Sweeper = new Sweeper(bench.allowlist, queue, bench.clock, () => {}, rest)
    return { sweeper, rests, sizes }
  }

  test("it leaves the processor to others for eight times as long as it has worked, up to a limit", async () => {
    const bench = await open()
    await grantMany(bench, 12)
    bench.clock.advance(900_000)
    const { sweeper, rests } = resting(bench, [0.5, 1_000])
    await sweeper.sweep()
    // Two of five, and then the rest of them, after which nothing is left to wait for.
    expect(rests).toEqual([4, 20])
    expect(expiries(await bench.log()).length).toBe(12)
  })

  test("the longer a transaction and its rest take, the more the next one records: from five to twenty", async () => {
    const bench = await open()
    await grantMany(bench, 100)
    bench.clock.advance(900_000)
    const { sweeper, sizes } = resting(bench, [0.5, 2, 5, 50], 6)
    await sweeper.sweep()
    // 4.5, 18, 25 and 70 milliseconds, and none.
    expect(sizes).toEqual([5, 5, 9, 12, 20, 5])
  })

  test("it rests no more when it has recorded 20,000 ends and there are others", async () => {
    const bench = await open()
    const lines = Array.from({ length: 20_500 }, (_, i) => `${ip(i)}\t1\n`).join("")
    await bench.gate.import({ lines: new TextEncoder().encode(lines), prune: null })
    bench.clock.advance(900_000)
    const { sweeper, rests, sizes } = resting(bench, [], Number.POSITIVE_INFINITY)
    await sweeper.sweep()
    // Half of them in transactions of five, the others in the largest; from the last of them on without a rest.
    expect(sizes).toEqual([...Array(2_000).fill(5), ...Array(525).fill(20)])
    expect(rests.length).toBe(2_000 + 500 - 1)
    expect(bench.allowlist.endedGrants(1)).toEqual([])
    expect(await bench.temporaryRows()).toEqual([])
  })

  test("it ends if it is stopped", async () => {
    const bench = await open()
    await grantMany(bench, 500)
    bench.clock.advance(900_000)
    const { sweeper, rests } = resting(bench, [])
    await sweeper.sweep()
    expect(rests.length).toBe(4)
    expect(expiries(await bench.log()).length).toBe(20)
    expect(bench.allowlist.endedGrants(500).length).toBe(480)
  })
})

test("sweeps again and again from start to stop", async () => {
  const bench = await open()
  await bench.grant("192.0.2.1", 60)
  await bench.grant("192.0.2.2", 90)
  await bench.grant("192.0.2.3", 120)
  jest.useFakeTimers()
  bench.sweeper.start()
  bench.sweeper.start()
  const recorded: string[][] = []
  for (const step of [60_000, 30_000]) {
    bench.clock.advance(step)
    jest.advanceTimersByTime(1000)
    // Waits its turn behind the sweep.
    await bench.gate.removePermanent(network("::1"))
    recorded.push(expiries(await bench.log()))
  }
  expect(recorded).toEqual([
    ["expire_temp 192.0.2.1 60000"],
    ["expire_temp 192.0.2.1 60000", "expire_temp 192.0.2.2 90000"],
  ])
  bench.sweeper.stop()
  bench.clock.advance(30_000)
  jest.advanceTimersByTime(10_000)
  await bench.gate.removePermanent(network("::1"))
  expect(await bench.temporaryRows()).toEqual(["192.0.2.3 120000"])
  // A timer that went on would keep the process from its end.
  expect(jest.getTimerCount()).toBe(0)
})
