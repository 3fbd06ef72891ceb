// The rules of the local gate where order and time meet: what the contract cannot see from outside.

import { afterEach, describe, expect, test } from "bun:test"
import { GateError } from "../../src/core/errors.ts"
import { fault } from "../faults/fault.ts"
import { address, network } from "../support/parsed.ts"
import { temporaryPaths } from "../support/temp-store.ts"
import { NOW, Workbench } from "./workbench.ts"

const newPath = temporaryPaths()
const opened: Workbench[] = []
afterEach(async () => {
  for (const bench of opened.splice(0)) {
    bench.unlock()
    await bench.store.close()
  }
})

async function open(...args: [by?: ReturnType<typeof address> | null]): Promise<Workbench> {
  const bench = await Workbench.open(newPath(), ...args)
  opened.push(bench)
  return bench
}

const IP = "192.0.2.1"
const HOUR = 3_600_000
const NO_ANSWER = new GateError("unavailable", "no answer")

describe("an entry that has ended", () => {
  test("is recorded before it is granted again, in one transaction with it", async () => {
    const bench = await open()
    await bench.grant(IP, 60)
    bench.clock.advance(61_000)
    expect((await bench.grant(IP, 60)).result).toBe("added")
    expect(bench.groups.map((group) => group.map(({ op }) => op))).toEqual([
      ["add_temp"],
      ["expire_temp", "add_temp"],
    ])
    expect(await bench.log()).toEqual([`add_temp ${IP} 0`, `expire_temp ${IP} 60000`, `add_temp ${IP} 61000`])
  })

  test("is recorded before its removal, which finds nothing then", async () => {
    const bench = await open(address("198.51.100.7"))
    await bench.grant(IP, 60)
    bench.clock.advance(60_000)
    expect(await bench.gate.removeTemporary(network(IP))).toBe("absent")
    expect(await bench.log()).toEqual([`add_temp ${IP} 0`, `expire_temp ${IP} 60000`])
    // An expiry is nobody's doing.
    const [expired] = await bench.gate.audit({ limit: 1, offset: 0 })
    expect(expired?.actor).toBeNull()
    expect(await bench.temporaryRows()).toEqual([])
  })

  test("is recorded at the moment when that was seen, if its time by the wall clock is still to come", async () => {
    const bench = await open()
    await bench.grant(IP, 60)
    bench.clock.stepWall(-HOUR)
    bench.clock.advance(60_000)
    expect(bench.allowed(IP)).toBe(false)
    expect((await bench.grant(IP, 5)).result).toBe("added")
    const now = 60_000 - HOUR
    expect(await bench.log()).toEqual([
      `add_temp ${IP} 0`,
      `expire_temp ${IP} ${now}`,
      `add_temp ${IP} ${now}`,
    ])
  })

  test("is left to the sweeper by changes of the permanent list and of other entries", async () => {
    const bench = await open()
    await bench.grant(IP, 60)
    bench.clock.advance(60_000)
    await bench.gate.addPermanent(network(IP))
    await bench.gate.removePermanent(network(IP))
    await bench.grant("192.0.2.0/24", 60)
    await bench.gate.removeTemporary(network("192.0.2.2"))
    expect((await bench.log()).filter((line) => line.startsWith("expire_temp"))).toEqual([])
    expect(await bench.temporaryRows()).toEqual([`${IP} 60000`, "192.0.2.0/24 120000"])
    await bench.sweeper.sweep()
    expect((await bench.log()).at(-1)).toBe(`expire_temp ${IP} 60000`)
  })

  test("is not listed, though the database compares the wall clock only", async () => {
    const bench = await open()
    await bench.grant(IP, 60)
    await bench.grant("192.0.2.2", 120)
    bench.clock.stepWall(-HOUR)
    bench.clock.advance(60_000)
    expect(await bench.temporaryRows()).toEqual([`${IP} 60000`, "192.0.2.2 120000"])
    const listed = await bench.gate.listTemporary({ limit: 10, offset: 0 })
    expect(listed.map(({ ip }) => ip)).toEqual(["192.0.2.2"])
    expect((await bench.gate.status()).temporaryCount).toBe(1)
  })

  test("leaves its place on a page to another, so that a page is short only at the end", async () => {
    const bench = await open()
    for (let i = 0; i < 9; i++) await bench.grant(`10.0.0.${i}`, 60 + i)
    const long = ["10.0.1.0", "10.0.1.1", "10.0.1.2"]
    for (const ip of long) await bench.grant(ip, 7200)
    bench.clock.stepWall(-HOUR)
    bench.clock.advance(120_000)
    // For the database these are the first, then come nine that have ended on the other clock.
    const late = ["10.0.2.0", "10.0.2.1", "10.0.2.2", "10.0.2.3"]
    for (const ip of late) await bench.grant(ip, 10)
    expect((await bench.temporaryRows()).map((row) => row.split(".")[2])).toEqual([..."2222000000000111"])
    const page = async (limit: number, offset: number) =>
      (await bench.gate.listTemporary({ limit, offset })).map(({ ip }) => ip)
    const active = [...late, ...long]
    for (let limit = 1; limit <= 10; limit++) {
      expect([limit, await page(limit, 0)]).toEqual([limit, active.slice(0, limit)])
      expect([limit, await page(limit, 4)]).toEqual([limit, active.slice(4, 4 + limit)])
    }
  })

  test("does not come back when a clock that was set forward is set right again", async () => {
    const bench = await open()
    await bench.grant(IP, 60)
    bench.clock.stepWall(HOUR)
    expect(bench.allowed(IP)).toBe(false)
    await bench.sweeper.sweep()
    bench.clock.stepWall(-HOUR)
    expect(bench.allowed(IP)).toBe(false)
    expect(await bench.log()).toEqual([`add_temp ${IP} 0`, `expire_temp ${IP} 60000`])
    expect(await bench.temporaryRows()).toEqual([])
  })

  test("does not come back either if the clock is set right while its removal is being written", async () => {
    const bench = await open()
    await bench.grant(IP, 60)
    bench.clock.stepWall(HOUR)
    bench.shut()
    const removed = bench.gate.removeTemporary(network(IP))
    bench.clock.stepWall(-HOUR)
    bench.unlock()
    expect(await removed).toBe("absent")
    expect(await bench.temporaryRows()).toEqual([])
    expect(bench.allowed(IP)).toBe(false)
  })
})

// Whatever comes first, the grant that was acknowledged stands, and the end before it is recorded at most once.
describe(
  fault(
    "J-17",
    "an entry is granted again a millisecond before, at and after its end, before and behind the sweeper",
    "what was acknowledged stands, with one record of each",
  ),
  () => {
    const orders = ["the grant first", "the sweeper first", "both behind another change"] as const
    for (const late of [-1, 0, 1]) {
      test.each(orders)(`asked for at ${late} ms: %s`, async (order) => {
        const bench = await open()
        await bench.grant(IP, 60)
        bench.clock.advance(60_000 + late)
        bench.shut()
        const other = order === "both behind another change" ? bench.gate.addPermanent(network("::1")) : null
        const swept = order === "the sweeper first" ? bench.sweeper.sweep() : null
        const granted = bench.grant(IP, 60)
        // While the grant waits for the database, the old entry ends in any case, and the sweeper comes by.
        bench.clock.advance(2)
        const sweptLater = bench.sweeper.sweep()
        bench.unlock()
        const expiresAt = NOW + 120_000 + late
        expect(await granted).toEqual({ result: late < 0 ? "replaced" : "added", expiresAt })
        await Promise.all([other, swept, sweptLater])
        await bench.sweeper.sweep()
        expect(bench.allowed(IP)).toBe(true)
        expect(await bench.temporaryRows()).toEqual([`${IP} ${expiresAt - NOW}`])
        const log = (await bench.log()).filter((line) => line.includes(IP))
        expect(log.slice(1)).toEqual([
          ...(late < 0 ? [] : [`expire_temp ${IP} 60000`]),
          `add_temp ${IP} ${60_000 + late}`,
        ])
        bench.clock.advance(60_000)
        expect(bench.allowed(IP)).toBe(false)
      })
    }
  },
)

describe("changes", () => {
  test("are stamped when they are asked for, and hold when they are answered, not before", async () => {
    const bench = await open()
    bench.shut()
    const added = bench.gate.addPermanent(network(IP))
    bench.clock.advance(1000)
    expect(bench.allowed(IP)).toBe(false)
    bench.unlock()
    await added
    expect(bench.allowed(IP)).toBe(true)
    expect(await bench.log()).toEqual([`add_perm ${IP} 0`])
  })

  test("have no effect on decisions when the database fails, and leave no entry", async () => {
    const bench = await open()
    await bench.gate.addPermanent(network("192.0.2.9"))
    bench.shut()
    const changes = [bench.gate.addPermanent(network(IP)), bench.gate.removePermanent(network("192.0.2.9"))]
    const codes = Promise.all(changes.map((change) => change.catch((error) => error.code)))
    bench.pass(NO_ANSWER)
    expect(await codes).toEqual(["unavailable", "unavailable"])
    expect([bench.allowed(IP), bench.allowed("192.0.2.9")]).toEqual([false, true])
    expect(await bench.gate.status()).toMatchObject({
      status: "degraded",
      databaseOk: false,
      permanentCount: 1,
    })
    bench.unlock()
    await bench.gate.addPermanent(network(IP))
    expect(await bench.gate.status()).toMatchObject({ status: "ok", databaseOk: true, permanentCount: 2 })
  })

  test("and imports keep the order in which they were asked for", async () => {
    const bench = await open()
    const lines = (...ips: string[]) => new TextEncoder().encode(ips.map((ip) => `${ip}\n`).join(""))
    const { gate } = bench
    bench.shut()
    const told = [
      gate.addPermanent(network(IP)),
      gate.import({ lines: lines(IP, "192.0.2.2"), prune: null }),
      gate.removePermanent(network(IP)),
      gate.import({ lines: lines(IP), prune: { maxRemovals: 1 } }),
      gate.addPermanent(network(IP)).catch((error) => error.code),
    ]
    bench.unlock()
    const nothing = { added: 0, replaced: 0, unchanged: 0, removed: 0, duplicates: 0, ended: 0 }
    expect(await Promise.all<unknown>(told)).toEqual([
      "added",
      { ...nothing, added: 1, unchanged: 1 },
      "removed",
      { ...nothing, added: 1, removed: 1 },
      "conflict",
    ])
    expect((await bench.log()).map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
      `add_perm ${IP}`,
      "add_perm 192.0.2.2",
      `delete_perm ${IP}`,
      "delete_perm 192.0.2.2",
      `add_perm ${IP}`,
    ])
    expect([bench.allowed(IP), bench.allowed("192.0.2.2")]).toEqual([true, false])
  })

  test("an import that is durable succeeded, though the database does not show its rows of the log", async () => {
    const bench = await open()
    const stop = new AbortController()
    const events = bench.gate.follow({ tail: 0 }, {}, stop.signal)
    expect((await events.next()).value).toEqual({ kind: "at", id: 0 })
    bench.store.auditSlice = () => Promise.reject(NO_ANSWER)
    const counts = await bench.gate.import({ lines: new TextEncoder().encode(`${IP}\n`), prune: null })
    expect(counts).toMatchObject({ added: 1 })
    expect(bench.allowed(IP)).toBe(true)
    // Whoever follows is told to read the lists, because nobody can tell what has changed.
    expect((await events.next()).value).toEqual({ kind: "reload", id: 1 })
    stop.abort()
  })

  test("name who acts, one client apart from the other", async () => {
    const bench = await open()
    const clients = ["198.51.100.7", "2001:db8::7"].map(address)
    for (const [i, by] of [...clients, null].entries()) {
      const gate = bench.gate.as(by)
      await gate.addPermanent(network(`192.0.2.${i}`))
      await gate.addTemporary({ network: network(`192.0.2.${i}`), ttlSeconds: 60, reason: null })
      await gate.removePermanent(network(`192.0.2.${i}`))
      await gate.removeTemporary(network(`192.0.2.${i}`))
    }
    const actors = (await bench.gate.audit({ limit: 100, offset: 0 })).reverse().map(({ actor }) => actor)
    expect(actors).toEqual(
      ["198.51.100.7", "2001:db8::7", null].flatMap((actor) => [actor, actor, actor, actor]),
    )
  })
})

test("a database that is gone refuses changes and lists; decisions and the status go on", async () => {
  const bench = await open()
  await bench.gate.addPermanent(network(IP))
  await bench.store.close()
  const page = { limit: 1, offset: 0 }
  const calls = [
    () => bench.gate.addPermanent(network("192.0.2.2")),
    () => bench.grant("192.0.2.2", 60),
    () => bench.gate.removePermanent(network(IP)),
    () => bench.gate.listPermanent(page),
    () => bench.gate.listTemporary(page),
    () => bench.gate.audit(page),
    () => bench.gate.import({ lines: new Uint8Array(), prune: { maxRemovals: 9 } }),
    () => bench.gate.export()[Symbol.asyncIterator]().next(),
  ]
  for (const call of calls) {
    const refused: unknown = await (call() as Promise<unknown>).catch((error) => error)
    expect(refused).toBeInstanceOf(GateError)
    expect(refused).toMatchObject({ code: "unavailable" })
  }
  expect((await bench.gate.check(network(IP))).allowed).toBe(true)
  expect(await bench.gate.status()).toMatchObject({
    status: "degraded",
    databaseOk: false,
    permanentCount: 1,
  })
})

describe("refused clients", () => {
  const ALL = { limit: 10, offset: 0 }

  test("are listed with the entry that let them in last, if one has ended", async () => {
    const bench = await open()
    await bench.grant("192.0.2.1", 60)
    await bench.gate.addPermanent(network("192.0.2.0/24"))
    await bench.gate.addPermanent(network("192.0.2.2"))
    bench.clock.advance(1000)
    await bench.gate.removePermanent(network("192.0.2.2"))
    bench.clock.advance(1000)
    await bench.gate.removePermanent(network("192.0.2.0/24"))
    bench.clock.advance(58_000)
    await bench.sweeper.sweep()
    const { refused } = bench.path
    for (const ip of ["192.0.2.1", "192.0.2.2", "198.51.100.1", "192.0.2.1"]) {
      bench.clock.advance(1000)
      refused.see(address(ip))
    }
    const at = (seconds: number) => NOW + 60_000 + seconds * 1000
    const wide = { list: "perm", ip: "192.0.2.0/24", endedAt: NOW + 2000, how: "removed" } as const
    expect(await bench.gate.refused(ALL)).toEqual([
      {
        ip: "192.0.2.1",
        count: 2,
        firstAt: at(1),
        lastAt: at(4),
        lastEntry: { list: "temp", ip: "192.0.2.1", endedAt: NOW + 60_000, how: "expired" },
      },
      { ip: "198.51.100.1", count: 1, firstAt: at(3), lastAt: at(3), lastEntry: null },
      { ip: "192.0.2.2", count: 1, firstAt: at(2), lastAt: at(2), lastEntry: wide },
    ])
    expect((await bench.gate.refused({ limit: 1, offset: 1 })).map(({ ip }) => ip)).toEqual(["198.51.100.1"])
    expect(await bench.gate.refused({ limit: 1, offset: 3 })).toEqual([])
  })
})
