// The contract of `Gate`, as one suite for every way to have one.

import { afterEach, describe, expect, test } from "bun:test"
import type { AuditRecord } from "../../src/core/audit.ts"
import { LATEST_TIME } from "../../src/core/clock.ts"
import { LONGEST_REASON, LONGEST_TTL_SECONDS } from "../../src/core/entry.ts"
import { GateError } from "../../src/core/errors.ts"
import type { Gate } from "../../src/core/gate.ts"
import { fault } from "../faults/fault.ts"
import { FakeClock } from "../support/fake-clock.ts"
import type { OpenGate } from "../support/gate-openers.ts"
import { network } from "../support/parsed.ts"
import { copyDatabase, temporaryPaths } from "../support/temp-store.ts"

const NOW = Date.UTC(2026, 4, 17, 13, 5, 2, 123)
const ALL = { limit: 1000, offset: 0 }

/** Runs the whole contract over the gates that `open` opens. */
export function describeGate(name: string, open: OpenGate): void {
  describe(name, () => {
    const newPath = temporaryPaths()
    let closings: Array<() => Promise<void>> = []
    afterEach(async () => {
      await Promise.all(closings.map((close) => close()))
      closings = []
    })

    async function opened(clock = new FakeClock(NOW), path = newPath()) {
      const gate = await open(path, clock)
      let closing: Promise<void> | undefined
      const close = () => {
        closing ??= gate.close()
        return closing
      }
      closings.push(close)
      return { ...gate, close, clock, path }
    }

    describe("permanent entries", () => {
      test(
        fault(
          "A-14",
          "one network added, asked and removed in different spellings, through both gates",
          "one entry, and one removal",
        ),
        async () => {
          const { gate, actor } = await opened()
          const added = record("add_perm", "192.0.2.1", { actor })
          expect(await gate.addPermanent(network("192.0.2.1"))).toBe("added")
          expect(await gate.listPermanent(ALL)).toEqual([{ ip: "192.0.2.1" }])
          expect(await logOf(gate)).toEqual([added])

          for (const spelling of ["192.0.2.1", "192.0.2.1/32", "::ffff:c000:201", "::ffff:192.0.2.1/128"]) {
            const error = await gate.addPermanent(network(spelling)).catch((error) => error)
            expect(error).toBeInstanceOf(GateError)
            expect(error.code).toBe("conflict")
            expect(error.message).toBe("192.0.2.1 is already on the permanent list")
          }
          expect(await gate.listPermanent(ALL)).toEqual([{ ip: "192.0.2.1" }])
          expect(await logOf(gate)).toEqual([added])

          expect(await gate.removePermanent(network("::ffff:192.0.2.1"))).toBe("removed")
          expect(await gate.removePermanent(network("192.0.2.1"))).toBe("absent")
          expect(await gate.listPermanent(ALL)).toEqual([])
          expect(await logOf(gate)).toEqual([added, record("delete_perm", "192.0.2.1", { actor })])
        },
      )

      test("are listed IPv4 before IPv6, then by address, then by prefix length, in pages", async () => {
        const { gate } = await opened()
        const sorted = [
          "9.0.0.0",
          "10.0.0.0/8",
          "10.0.0.0/9",
          "10.0.0.0",
          "::/0",
          "2001:db8::/32",
          "2001:db8::",
        ]
        for (const i of [4, 2, 6, 0, 3, 5, 1]) await gate.addPermanent(network(sorted[i] as string))
        const page = async (limit: number, offset: number) =>
          (await gate.listPermanent({ limit, offset })).map(({ ip }) => ip)
        expect(await page(1000, 0)).toEqual(sorted)
        expect(await page(3, 0)).toEqual(sorted.slice(0, 3))
        expect(await page(3, 3)).toEqual(sorted.slice(3, 6))
        expect(await page(3, 6)).toEqual(sorted.slice(6))
        expect(await page(1, 7)).toEqual([])
        expect(await page(1, Number.MAX_SAFE_INTEGER)).toEqual([])
      })

      test(
        fault(
          "J-16",
          "many calls at once for one entry, through both gates",
          "one is told added, one entry, one record",
        ),
        async () => {
          const { gate } = await opened()
          for (let round = 0; round < 4; round++) {
            const ip = network(`192.0.2.${round}`)
            const answers = await Promise.all(
              Array.from({ length: 50 }, () => gate.addPermanent(ip).catch((error) => error.code)),
            )
            expect(answers.filter((answer) => answer === "added").length).toBe(1)
            expect(answers.filter((answer) => answer === "conflict").length).toBe(49)
          }
          expect((await gate.listPermanent(ALL)).length).toBe(4)
          expect((await logOf(gate)).map(({ action, ip }) => [action, ip])).toEqual(
            [0, 1, 2, 3].map((round) => ["add_perm", `192.0.2.${round}`]),
          )
        },
      )
    })

    describe("temporary entries", () => {
      test("are added, replaced and removed", async () => {
        const { gate, actor, clock } = await opened()
        const ip = network("2001:db8:1:2::/64")
        expect(await gate.addTemporary({ network: ip, ttlSeconds: 3600, reason: "a visitor" })).toEqual({
          result: "added",
          expiresAt: NOW + 3_600_000,
        })
        expect(await gate.listTemporary(ALL)).toEqual([
          { ip: "2001:db8:1:2::/64", reason: "a visitor", expiresAt: NOW + 3_600_000 },
        ])
        clock.advance(1500)
        expect(await gate.addTemporary({ network: ip, ttlSeconds: 60, reason: null })).toEqual({
          result: "replaced",
          expiresAt: NOW + 61_500,
        })
        expect(await gate.listTemporary(ALL)).toEqual([
          { ip: "2001:db8:1:2::/64", reason: "", expiresAt: NOW + 61_500 },
        ])
        expect(await gate.removeTemporary(ip)).toBe("removed")
        expect(await gate.removeTemporary(ip)).toBe("absent")
        expect(await gate.listTemporary(ALL)).toEqual([])
        const at = NOW + 1500
        expect(await logOf(gate)).toEqual([
          record("add_temp", "2001:db8:1:2::/64", { actor, ttlSeconds: 3600, reason: "a visitor" }),
          record("add_temp", "2001:db8:1:2::/64", { actor, ttlSeconds: 60, at }),
          record("delete_temp", "2001:db8:1:2::/64", { actor, at }),
        ])
      })

      test("are listed the soonest to end first, then as the permanent list, in pages", async () => {
        const { gate } = await opened()
        const sorted = ["192.0.2.2", "::1", "192.0.2.1", "192.0.2.9", "2001:db8::/32"]
        const ttl = (ip: string) => (sorted.indexOf(ip) < 2 ? 30 : 60)
        for (const i of [3, 1, 4, 0, 2]) {
          const ip = sorted[i] as string
          await gate.addTemporary({ network: network(ip), ttlSeconds: ttl(ip), reason: null })
        }
        const page = async (limit: number, offset: number) =>
          (await gate.listTemporary({ limit, offset })).map(({ ip }) => ip)
        expect(await page(1000, 0)).toEqual(sorted)
        expect(await page(2, 1)).toEqual(sorted.slice(1, 3))
        expect(await page(1, 5)).toEqual([])
        expect(await page(1, Number.MAX_SAFE_INTEGER)).toEqual([])
      })

      test(
        fault(
          "C-07",
          "questions just before, at and after the end of an entry, through both gates",
          "decision, list and check agree",
        ),
        async () => {
          const { gate, clock } = await opened()
          const ip = network("192.0.2.1")
          await gate.addTemporary({ network: ip, ttlSeconds: 60, reason: null })
          clock.advance(59_999)
          expect((await gate.check(ip)).allowed).toBe(true)
          expect((await gate.listTemporary(ALL)).length).toBe(1)
          expect((await gate.status()).temporaryCount).toBe(1)
          clock.advance(1)
          expect(await gate.check(ip)).toEqual({ allowed: false, matches: [] })
          expect(await gate.listTemporary(ALL)).toEqual([])
          expect((await gate.status()).temporaryCount).toBe(0)
        },
      )

      test("that ended are recorded before what follows, at the moment they ended", async () => {
        const { gate, actor, clock } = await opened()
        const [renewed, removed] = [network("192.0.2.1"), network("192.0.2.2")]
        await gate.addTemporary({ network: renewed, ttlSeconds: 60, reason: null })
        await gate.addTemporary({ network: removed, ttlSeconds: 61, reason: null })
        clock.advance(100_000)
        const again = await gate.addTemporary({ network: renewed, ttlSeconds: 5, reason: "again" })
        expect(again).toEqual({ result: "added", expiresAt: NOW + 105_000 })
        expect(await gate.removeTemporary(removed)).toBe("absent")
        const log = await logOf(gate)
        const of = (ip: string) => log.filter((record) => record.ip === ip)
        const at = NOW + 100_000
        expect(of("192.0.2.1")).toEqual([
          record("add_temp", "192.0.2.1", { actor, ttlSeconds: 60 }),
          record("expire_temp", "192.0.2.1", { at: NOW + 60_000 }),
          record("add_temp", "192.0.2.1", { actor, at, ttlSeconds: 5, reason: "again" }),
        ])
        expect(of("192.0.2.2")).toEqual([
          record("add_temp", "192.0.2.2", { actor, ttlSeconds: 61 }),
          record("expire_temp", "192.0.2.2", { at: NOW + 61_000 }),
        ])
      })

      test("do not end later when the wall clock is set back", async () => {
        const { gate, clock } = await opened()
        const ip = network("192.0.2.1")
        await gate.addTemporary({ network: ip, ttlSeconds: 60, reason: null })
        clock.stepWall(-3_600_000)
        clock.advance(59_999)
        expect((await gate.check(ip)).allowed).toBe(true)
        expect((await gate.listTemporary(ALL)).length).toBe(1)
        clock.advance(1)
        expect((await gate.check(ip)).allowed).toBe(false)
        expect(await gate.listTemporary(ALL)).toEqual([])
      })

      test(
        fault(
          "C-06 J-02",
          "a lifetime of ten years and a reason of 500 characters, through both gates",
          "kept and listed",
        ),
        async () => {
          const { gate, actor } = await opened()
          const odd = `it's "quoted" \\ % _ é `
          const grant = {
            network: network("0.0.0.0/0"),
            ttlSeconds: LONGEST_TTL_SECONDS,
            reason: odd + "\u{1f6aa}".repeat(LONGEST_REASON - odd.length),
          }
          const expiresAt = NOW + LONGEST_TTL_SECONDS * 1000
          expect(await gate.addTemporary(grant)).toEqual({ result: "added", expiresAt })
          expect(await gate.listTemporary(ALL)).toEqual([
            { ip: "0.0.0.0/0", reason: grant.reason, expiresAt },
          ])
          const { ttlSeconds, reason } = grant
          expect(await logOf(gate)).toEqual([record("add_temp", "0.0.0.0/0", { actor, ttlSeconds, reason })])
        },
      )

      test.each([
        ["before 1970", -1],
        ["too late for a lifetime to end in a year of four digits", LATEST_TIME - 59_999],
      ])("are refused while the clock is wrong (%s); permanent ones are not", async (_, now) => {
        const { gate } = await opened(new FakeClock(now))
        const ip = network("192.0.2.1")
        const error = await gate.addTemporary({ network: ip, ttlSeconds: 60, reason: null }).catch((e) => e)
        expect(error).toBeInstanceOf(GateError)
        expect([error.code, error.message]).toEqual([
          "failed",
          "the clock of this machine is wrong: no temporary entry can be added",
        ])
        expect(await gate.listTemporary(ALL)).toEqual([])
        expect(await logOf(gate)).toEqual([])
        expect(await gate.addPermanent(ip)).toBe("added")
        expect((await logOf(gate)).map(({ at }) => at)).toEqual([now])
      })
    })

    describe("check", () => {
      test("names every entry that lets in: permanent first, then the narrowest first", async () => {
        const { gate } = await opened()
        const expiresAt = NOW + 60_000
        for (const ip of ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "::/0"])
          await gate.addPermanent(network(ip))
        for (const ip of ["0.0.0.0/0", "10.1.2.0/24", "10.1.2.3"]) {
          await gate.addTemporary({ network: network(ip), ttlSeconds: 60, reason: null })
        }
        expect(await gate.check(network("::ffff:10.1.2.3"))).toEqual({
          allowed: true,
          matches: [
            ...["10.1.2.3", "10.1.0.0/16", "10.0.0.0/8"].map((ip) => ({ list: "perm", ip, expiresAt: null })),
            ...["10.1.2.3", "10.1.2.0/24", "0.0.0.0/0"].map((ip) => ({ list: "temp", ip, expiresAt })),
          ] as never,
        })
        expect((await gate.check(network("10.1.2.0/23"))).matches.map(({ ip }) => ip)).toEqual([
          "10.1.0.0/16",
          "10.0.0.0/8",
          "0.0.0.0/0",
        ])
        expect((await gate.check(network("2001:db8::1"))).matches.map(({ ip }) => ip)).toEqual(["::/0"])
      })

      test("says no when nothing lets in", async () => {
        const { gate } = await opened()
        await gate.addPermanent(network("10.0.0.0/9"))
        for (const ip of ["10.128.0.0", "10.0.0.0/8", "2001:db8::1", "::/0", "0.0.0.0/0"]) {
          expect(await gate.check(network(ip))).toEqual({ allowed: false, matches: [] })
        }
      })

      test(fault(
        "J-18",
        "changes, each followed by a question at once, through both gates",
        "the answer knows the change",
      ), async () => {
        const { gate } = await opened()
        const worker = async (number: number) => {
          for (let round = 0; round < 8; round++) {
            const ip = network(`10.${number}.${round}.0/24`)
            const asked = network(`10.${number}.${round}.7`)
            await gate.addPermanent(ip)
            expect((await gate.check(asked)).matches.length).toBe(1)
            await gate.addTemporary({ network: ip, ttlSeconds: 60, reason: null })
            expect((await gate.check(asked)).matches.length).toBe(2)
            await gate.removePermanent(ip)
            expect((await gate.check(asked)).matches.length).toBe(1)
            await gate.removeTemporary(ip)
            expect((await gate.check(asked)).allowed).toBe(false)
          }
        }
        await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(worker))
        expect(await gate.status()).toMatchObject({ permanentCount: 0, temporaryCount: 0 })
      }, 20_000)
    })

    describe("audit", () => {
      test("is newest first, filtered by action, by network and by both, in pages", async () => {
        const { gate } = await opened()
        const [host, net] = [network("192.0.2.1"), network("192.0.2.0/24")]
        await gate.addPermanent(host)
        await gate.addPermanent(net)
        await gate.addTemporary({ network: host, ttlSeconds: 60, reason: null })
        await gate.removePermanent(host)
        await gate.removePermanent(net)
        const all = await gate.audit(ALL)
        const seen = (records: AuditRecord[]) => records.map(({ action, ip }) => `${action} ${ip}`)
        expect(seen(all)).toEqual([
          "delete_perm 192.0.2.0/24",
          "delete_perm 192.0.2.1",
          "add_temp 192.0.2.1",
          "add_perm 192.0.2.0/24",
          "add_perm 192.0.2.1",
        ])
        expect(await gate.audit({ limit: 2, offset: 1 })).toEqual(all.slice(1, 3))
        expect(await gate.audit({ limit: 2, offset: 5 })).toEqual([])
        expect(await gate.audit({ limit: 2, offset: Number.MAX_SAFE_INTEGER })).toEqual([])
        const filtered = async (query: object) => seen(await gate.audit({ ...ALL, ...query }))
        expect(await filtered({ action: "add_perm" })).toEqual([
          "add_perm 192.0.2.0/24",
          "add_perm 192.0.2.1",
        ])
        expect(await filtered({ action: "add_perm", limit: 1, offset: 1 })).toEqual(["add_perm 192.0.2.1"])
        expect(await filtered({ network: net })).toEqual([
          "delete_perm 192.0.2.0/24",
          "add_perm 192.0.2.0/24",
        ])
        expect(await filtered({ network: network("::ffff:192.0.2.1"), action: "add_temp" })).toEqual([
          "add_temp 192.0.2.1",
        ])
        expect(await filtered({ action: "expire_temp" })).toEqual([])
      })
    })

    describe("status", () => {
      test("tells counts, running time and the health of the database", async () => {
        const { gate, clock } = await opened()
        expect(await gate.status()).toEqual({
          status: "ok",
          uptime: "0s",
          permanentCount: 0,
          temporaryCount: 0,
          databaseOk: true,
        })
        await gate.addPermanent(network("192.0.2.1"))
        await gate.addPermanent(network("192.0.2.2"))
        await gate.addTemporary({ network: network("192.0.2.2"), ttlSeconds: 864_000, reason: null })
        clock.stepWall(7_200_000)
        clock.advance((((3 * 24 + 4) * 60 + 12) * 60 + 5) * 1000)
        expect(await gate.status()).toEqual({
          status: "ok",
          uptime: "3d4h12m5s",
          permanentCount: 2,
          temporaryCount: 1,
          databaseOk: true,
        })
      })
    })

    test("all that was acknowledged is there for the next one that opens the file", async () => {
      const { gate, close, path, clock, actor } = await opened()
      await gate.addPermanent(network("2001:db8::/32"))
      await gate.addTemporary({ network: network("192.0.2.1"), ttlSeconds: 60, reason: "short" })
      await gate.addTemporary({ network: network("192.0.2.2"), ttlSeconds: 600, reason: "long" })
      const log = await logOf(gate)
      await close()
      clock.advance(60_000)
      const { gate: next } = await opened(clock, copyDatabase(path, newPath()))
      expect(await next.listPermanent(ALL)).toEqual([{ ip: "2001:db8::/32" }])
      expect(await next.listTemporary(ALL)).toEqual([
        { ip: "192.0.2.2", reason: "long", expiresAt: NOW + 600_000 },
      ])
      expect(await logOf(next)).toEqual([...log, record("expire_temp", "192.0.2.1", { at: NOW + 60_000 })])
      const asked = ["2001:db8::1", "192.0.2.1", "192.0.2.2"]
      const answers = await Promise.all(asked.map((ip) => next.check(network(ip))))
      expect(answers.map(({ allowed }) => allowed)).toEqual([true, false, true])
      expect(await next.addTemporary({ network: network("192.0.2.2"), ttlSeconds: 1, reason: null })).toEqual(
        {
          result: "replaced",
          expiresAt: NOW + 61_000,
        },
      )
      expect((await logOf(next)).at(-1)).toEqual(
        record("add_temp", "192.0.2.2", { at: NOW + 60_000, ttlSeconds: 1, actor }),
      )
    })
  })
}

/** A record as it was written at `NOW` by nobody, but for what is said otherwise. */
function record(action: AuditRecord["action"], ip: string, rest: Partial<AuditRecord> = {}): AuditRecord {
  return { at: NOW, action, ip, ttlSeconds: null, reason: null, actor: null, ...rest }
}

/** The whole log, oldest first. */
async function logOf(gate: Gate): Promise<AuditRecord[]> {
  return (await gate.audit(ALL)).reverse()
}
