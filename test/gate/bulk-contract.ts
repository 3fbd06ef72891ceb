// The part of the contract of `Gate` that is about bulks: import and export.

import { afterEach, describe, expect, test } from "bun:test"
import { GateError } from "../../src/core/errors.ts"
import type { Gate, ImportCounts } from "../../src/core/gate.ts"
import { FakeClock } from "../support/fake-clock.ts"
import type { OpenGate } from "../support/gate-openers.ts"
import { network } from "../support/parsed.ts"
import { temporaryPaths } from "../support/temp-store.ts"

const NOW = Date.UTC(2026, 4, 17, 13, 5, 2, 123)
const ALL = { limit: 1000, offset: 0 }
const NOTHING: ImportCounts = { added: 0, replaced: 0, unchanged: 0, removed: 0, duplicates: 0, ended: 0 }

/** Runs the part of the contract over the gates that `open` opens. */
export function describeBulkGate(name: string, open: OpenGate): void {
  describe(name, () => {
    const newPath = temporaryPaths()
    const closings: Array<() => Promise<void>> = []
    afterEach(async () => {
      await Promise.all(closings.splice(0).map((close) => close()))
    })

    async function opened() {
      const clock = new FakeClock(NOW)
      const gate = await open(newPath(), clock)
      closings.push(gate.close)
      return { ...gate, clock }
    }

    test("an import is durable, recorded, and holds for the next decision", async () => {
      const { gate, actor, clock } = await opened()
      await gate.addPermanent(network("10.0.0.0/8"))
      await gate.addTemporary({ network: network("192.0.2.1"), ttlSeconds: 5, reason: "old" })
      const lines = ["10.0.0.0/8", "2001:db8::/32", "2001:db8::/32", "192.0.2.1\t60\tnew", "192.0.2.2\t30"]
      const gone = `192.0.2.3\t${new Date(NOW).toISOString()}`
      expect(await gate.import({ lines: text([...lines, gone]), prune: null })).toEqual({
        added: 2,
        replaced: 1,
        unchanged: 1,
        removed: 0,
        duplicates: 1,
        ended: 1,
      })
      expect(await allowed(gate, ["10.9.9.9", "2001:db8::9", "192.0.2.1", "192.0.2.2", "192.0.2.3"])).toEqual(
        [true, true, true, true, false],
      )
      expect(await gate.status()).toMatchObject({ permanentCount: 2, temporaryCount: 2, databaseOk: true })
      expect(await gate.listPermanent(ALL)).toEqual([{ ip: "10.0.0.0/8" }, { ip: "2001:db8::/32" }])
      expect(await gate.listTemporary(ALL)).toEqual([
        { ip: "192.0.2.2", reason: "", expiresAt: NOW + 30_000 },
        { ip: "192.0.2.1", reason: "new", expiresAt: NOW + 60_000 },
      ])
      const log = (await gate.audit(ALL)).reverse().slice(2)
      expect(log.map(({ action, ip, ttlSeconds, reason }) => [action, ip, ttlSeconds, reason])).toEqual([
        ["add_perm", "2001:db8::/32", null, null],
        ["add_temp", "192.0.2.1", 60, "new"],
        ["add_temp", "192.0.2.2", 30, null],
      ])
      expect(new Set(log.map((record) => `${record.actor} ${record.at}`))).toEqual(
        new Set([`${actor} ${NOW}`]),
      )
      clock.advance(30_000)
      expect(await allowed(gate, ["192.0.2.1", "192.0.2.2"])).toEqual([true, false])
      clock.advance(30_000)
      expect(await allowed(gate, ["192.0.2.1"])).toEqual([false])
    })

    test("pruning takes permanent entries off, for the next decision too, and never more than it may", async () => {
      const { gate } = await opened()
      for (const ip of ["10.0.0.0/8", "11.0.0.0/8", "::/0"]) await gate.addPermanent(network(ip))
      const error = await gate
        .import({ lines: text(["11.0.0.0/8"]), prune: { maxRemovals: 1 } })
        .catch((e) => e)
      expect(error).toBeInstanceOf(GateError)
      expect(error.code).toBe("invalid")
      expect(error.message).toContain("would remove 2 permanent entries, and at most 1 may go")
      expect(await allowed(gate, ["10.0.0.1", "11.0.0.1", "::1"])).toEqual([true, true, true])
      expect(await gate.import({ lines: text(["11.0.0.0/8"]), prune: { maxRemovals: 2 } })).toEqual({
        ...NOTHING,
        unchanged: 1,
        removed: 2,
      })
      expect(await allowed(gate, ["10.0.0.1", "11.0.0.1", "::1"])).toEqual([false, true, false])
      expect(await gate.listPermanent(ALL)).toEqual([{ ip: "11.0.0.0/8" }])
      expect(await gate.import({ lines: text([]), prune: { maxRemovals: 1 } })).toEqual({
        ...NOTHING,
        removed: 1,
      })
      expect(await gate.status()).toMatchObject({ permanentCount: 0 })
    })

    test("a bulk with bad lines changes nothing, and every one of them is named", async () => {
      const { gate } = await opened()
      const lines = Array.from({ length: 40 }, (_, i) => `10.0.0.${i + 1}/8`)
      const error = await gate.import({ lines: text(["192.0.2.1", ...lines]), prune: null }).catch((e) => e)
      expect(error).toBeInstanceOf(GateError)
      expect(error.code).toBe("invalid")
      const told = error.message.split("\n")
      expect(told.length).toBe(40)
      expect(told[0]).toBe('line 2: "10.0.0.1/8" has host bits set; did you mean 10.0.0.0/8 or 10.0.0.1?')
      expect(told[39]).toStartWith('line 41: "10.0.0.40/8"')
      expect(await gate.listPermanent(ALL)).toEqual([])
      expect(await gate.audit(ALL)).toEqual([])
      // The question was bad, and not the database.
      expect(await gate.status()).toMatchObject({ status: "ok", databaseOk: true, permanentCount: 0 })
    })

    test("changes at the same time as imports leave memory and database the same", async () => {
      const { gate } = await opened()
      const ips = ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
      for (let round = 0; round < 5; round++) {
        await Promise.allSettled([
          ...ips.map((ip) => gate.addPermanent(network(ip))),
          gate.import({ lines: text(["192.0.2.1", "192.0.2.2", "192.0.2.3\t60"]), prune: null }),
          ...ips.map((ip) => gate.removePermanent(network(ip))),
          gate.import({ lines: text(["192.0.2.1"]), prune: { maxRemovals: 3 } }),
          gate.addPermanent(network("192.0.2.2")),
          gate.removeTemporary(network("192.0.2.3")),
        ])
        const [permanent, temporary] = [await gate.listPermanent(ALL), await gate.listTemporary(ALL)]
        const listed = new Set([...permanent, ...temporary].map(({ ip }) => ip))
        expect(await allowed(gate, ips)).toEqual(ips.map((ip) => listed.has(ip)))
        expect(await gate.status()).toMatchObject({
          permanentCount: permanent.length,
          temporaryCount: temporary.length,
        })
      }
    })

    test("an export is all entries that have not ended, and goes in again as it came out", async () => {
      const { gate, clock } = await opened()
      expect(await exported(gate)).toEqual([])
      await gate.addPermanent(network("2001:db8::/32"))
      await gate.addPermanent(network("10.0.0.0/8"))
      await gate.addTemporary({ network: network("192.0.2.1"), ttlSeconds: 60, reason: "it's é \u{1f6aa}" })
      await gate.addTemporary({ network: network("192.0.2.2"), ttlSeconds: 30, reason: null })
      const lines = await exported(gate)
      expect(lines).toEqual([
        "10.0.0.0/8",
        "2001:db8::/32",
        `192.0.2.2\t${new Date(NOW + 30_000).toISOString()}`,
        `192.0.2.1\t${new Date(NOW + 60_000).toISOString()}\tit's é \u{1f6aa}`,
      ])
      clock.advance(30_000)
      expect(await exported(gate)).toEqual(lines.toSpliced(2, 1))
      const { gate: other } = await opened()
      expect(await other.import({ lines: text(lines), prune: null })).toEqual({ ...NOTHING, added: 4 })
      expect(await exported(other)).toEqual(lines)
    })

    test("thousands of entries go in and come out", async () => {
      const { gate } = await opened()
      const lines = Array.from({ length: 30_000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`)
      expect(await gate.import({ lines: text(lines), prune: null })).toMatchObject({ added: 30_000 })
      expect(await gate.status()).toMatchObject({ permanentCount: 30_000 })
      expect(await allowed(gate, ["10.0.0.0", "10.117.47.255", "10.117.48.0"])).toEqual([true, true, false])
      expect(await exported(gate)).toEqual(lines)
    }, 20_000)
  })
}

function text(lines: readonly string[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""))
}

async function allowed(gate: Gate, ips: readonly string[]): Promise<boolean[]> {
  const answers = await Promise.all(ips.map((ip) => gate.check(network(ip))))
  return answers.map(({ allowed }) => allowed)
}

async function exported(gate: Gate): Promise<string[]> {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let all = ""
  for await (const piece of gate.export()) all += decoder.decode(piece, { stream: true })
  const lines = all.split("\n")
  expect(lines.at(-1)).toBe("")
  return lines.slice(0, -1)
}
