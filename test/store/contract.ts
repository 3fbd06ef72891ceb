// The contract of `Store`, as one suite for every implementation.

import { afterEach, describe, expect, test } from "bun:test"
import { copyFileSync, mkdirSync, readdirSync, renameSync, statSync, unlinkSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import fc from "fast-check"
import type { AuditRecord } from "../../src/core/audit.ts"
import type { Change, Outcome } from "../../src/core/change.ts"
import { LATEST_TIME } from "../../src/core/clock.ts"
import { LONGEST_REASON, LONGEST_TTL_SECONDS } from "../../src/core/entry.ts"
import type { Network } from "../../src/core/network.ts"
import { readChunk, type SnapshotChunk } from "../../src/store/snapshot.ts"
import type { AuditSliceQuery, Store, StoreConfig } from "../../src/store/store.ts"
import { fault } from "../faults/fault.ts"
import { network } from "../support/parsed.ts"
import { copyDatabase, temporaryPaths } from "../support/temp-store.ts"
import {
  addPermanent,
  addTemporary,
  CLIENT,
  deletePermanent,
  deleteTemporary,
  expireTemporary,
  logOf,
  NOW,
  permanentOf,
  recordOf,
  temporaryOf,
} from "./changes.ts"
import { LARGE, largeDatabase } from "./large-database.ts"

type OpenOptions = { readonly path?: string; readonly now?: number; readonly auditRows?: number }

type SnapshotEntry = {
  readonly list: "perm" | "temp"
  readonly network: Network
  readonly expiresAt: number
}

/** Runs the whole contract over the stores that `make` makes. */
export function describeStore(name: string, make: (config: StoreConfig) => Store): void {
  describe(name, () => {
    const newPath = temporaryPaths()
    const large = largeDatabase()
    const opened: Store[] = []
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()))
    })

    function made({ path = newPath(), auditRows = 1000 }: OpenOptions = {}): Store {
      const store = make({ path, auditRows })
      opened.push(store)
      return store
    }

    async function open(options: OpenOptions = {}): Promise<Store> {
      const store = made(options)
      await store.open(options.now ?? NOW)
      return store
    }

    /** Closes a store that has its file at `path`, and opens what another process would find there. */
    async function reopened(store: Store, path: string, options: OpenOptions = {}): Promise<Store> {
      await store.close()
      return open({ ...options, path: copyDatabase(path, newPath()) })
    }

    describe("open", () => {
      test("makes a missing file and says so, and says no when it is there", async () => {
        const path = newPath()
        const first = made({ path })
        expect(await first.open(NOW)).toEqual({ created: true, ended: 0 })
        await first.close()
        const second = made({ path: copyDatabase(path, newPath()) })
        expect(await second.open(NOW)).toEqual({ created: false, ended: 0 })
      })

      test("makes files and directory for the owner alone, whatever the umask", async () => {
        const path = join(newPath("state"), "deep", "gate.db")
        const umask = process.umask(0)
        try {
          const store = await open({ path })
          await store.commit([addPermanent("192.0.2.1")])
        } finally {
          process.umask(umask)
        }
        const modes = [dirname(path), path, `${path}-wal`].map((file) => statSync(file).mode & 0o777)
        expect(modes).toEqual([0o700, 0o600, 0o600])
      })

      test("takes a path as it is, whatever its characters", async () => {
        const path = join(newPath("a directory"), "50%41 off? #1 [é]&a=b+c;'.db")
        const first = await open({ path })
        await first.commit([addPermanent("192.0.2.1")])
        expect(readdirSync(dirname(path)).toSorted()).toEqual([basename(path), `${basename(path)}-wal`])
        const second = await reopened(first, path)
        expect(await permanentOf(second)).toEqual(["192.0.2.1"])
      })

      test("leaves the mode of a directory that is there", async () => {
        const directory = newPath("state")
        mkdirSync(directory, { mode: 0o750 })
        await open({ path: join(directory, "gate.db") })
        expect(statSync(directory).mode & 0o777).toBe(0o750)
      })

      test("finds all that was committed before", async () => {
        const path = newPath()
        const first = await open({ path })
        const changes = [addPermanent("2001:db8::/32"), addPermanent("10.0.0.0/8"), addTemporary("192.0.2.1")]
        const { after } = await first.commit(changes)
        const second = await reopened(first, path)
        expect(await permanentOf(second)).toEqual(["10.0.0.0/8", "2001:db8::/32"])
        expect(await temporaryOf(second)).toEqual([{ ip: "192.0.2.1", reason: "", expiresAt: NOW + 60_000 }])
        expect(await logOf(second)).toEqual(changes.map(recordOf))
        expect((await second.commit([])).before).toBe(after)
      })

      test("records what ended meanwhile, oldest first, at the moment it ended, and only once", async () => {
        const path = newPath()
        const first = await open({ path })
        const changes = [
          addTemporary("192.0.2.9", { ttlSeconds: 30 }),
          addTemporary("2001:db8::1", { ttlSeconds: 10 }),
          addTemporary("192.0.2.2", { ttlSeconds: 10 }),
          addTemporary("192.0.2.3", { ttlSeconds: 60 }),
          addTemporary("192.0.2.4", { ttlSeconds: 61 }),
          addPermanent("192.0.2.2"),
        ]
        await first.commit(changes)
        const path2 = newPath()
        await first.close()
        const second = made({ path: copyDatabase(path, path2) })
        expect(await second.open(NOW + 60_000)).toEqual({ created: false, ended: 4 })
        const expired = [
          expireTemporary("192.0.2.2", NOW + 10_000),
          expireTemporary("2001:db8::1", NOW + 10_000),
          expireTemporary("192.0.2.9", NOW + 30_000),
          expireTemporary("192.0.2.3", NOW + 60_000),
        ]
        const records = [...changes, ...expired].map(recordOf)
        expect(await logOf(second)).toEqual(records)
        expect((await temporaryOf(second)).map(({ ip }) => ip)).toEqual(["192.0.2.4"])
        expect(await permanentOf(second)).toEqual(["192.0.2.2"])
        const third = await reopened(second, path2, { now: NOW + 60_500 })
        expect(await logOf(third)).toEqual(records)
      })

      test("refuses every operation before it and after close", async () => {
        const operations: Array<(store: Store) => Promise<unknown>> = [
          (store) => store.commit([addPermanent("192.0.2.1")]),
          (store) => store.snapshot(() => {}),
          (store) => store.listPermanent({ limit: 1, offset: 0 }),
          (store) => store.listTemporary({ limit: 1, offset: 0 }, NOW),
          (store) => store.audit({ limit: 1, offset: 0 }),
          (store) => store.auditSlice({ after: null, limit: 1 }),
          (store) => store.import(new Uint8Array(), { at: NOW, by: null, prune: null }),
          (store) => store.export(NOW, () => {}),
          (store) => store.ping(),
          (store) => store.probe(),
        ]
        const early = made()
        const closed = await open()
        await closed.close()
        for (const operation of operations) {
          for (const store of [early, closed]) {
            expect(await codeOf(operation(store))).toBe("unavailable")
          }
        }
      })

      test("is followed by a close after which the file alone is the whole database", async () => {
        const path = newPath()
        const store = await open({ path })
        await store.commit([addPermanent("192.0.2.1"), addTemporary("192.0.2.2")])
        await store.close()
        const alone = newPath()
        copyFileSync(path, alone)
        const next = await open({ path: alone })
        expect(await permanentOf(next)).toEqual(["192.0.2.1"])
        expect((await temporaryOf(next)).map(({ ip }) => ip)).toEqual(["192.0.2.2"])
      })

      test("may be followed by close at any time, more than once", async () => {
        const [early, twice] = [made(), await open()]
        const refused = made({ path: dirname(newPath()) })
        expect(await codeOf(refused.open(NOW))).toBe("unavailable")
        for (const store of [early, twice, twice, refused]) expect(await store.close()).toBeUndefined()
      })

      test("tells why a path cannot be opened", async () => {
        const directory = newPath("directory")
        mkdirSync(directory)
        const store = made({ path: directory })
        const failure = await store.open(NOW).catch((error) => error)
        expect(failure).toMatchObject({ name: "GateError", code: "unavailable" })
        expect(failure.message).toContain(directory)
      })
    })

    describe("commit", () => {
      type Row = {
        readonly title: string
        readonly before: readonly Change[]
        readonly change: Change
        readonly outcome: Outcome
        readonly permanent?: readonly string[]
        readonly temporary?: ReadonlyArray<readonly [ip: string, expiresAt: number, reason: string]>
      }
      const ended = NOW + 60_000
      const rows: Row[] = [
        {
          title: "a new permanent entry",
          before: [],
          change: addPermanent("10.0.0.0/8"),
          outcome: "added",
          permanent: ["10.0.0.0/8"],
        },
        {
          title: "a permanent entry that is there",
          before: [addPermanent("10.0.0.0/8")],
          change: addPermanent("10.0.0.0/8", { at: NOW + 1 }),
          outcome: "conflict",
          permanent: ["10.0.0.0/8"],
        },
        {
          title: "a permanent entry of the same address and another length",
          before: [addPermanent("10.0.0.0/8")],
          change: addPermanent("10.0.0.0/9"),
          outcome: "added",
          permanent: ["10.0.0.0/8", "10.0.0.0/9"],
        },
        {
          title: "a permanent entry that is on the temporary list",
          before: [addTemporary("192.0.2.1")],
          change: addPermanent("192.0.2.1"),
          outcome: "added",
          permanent: ["192.0.2.1"],
          temporary: [["192.0.2.1", ended, ""]],
        },
        {
          title: "the removal of a permanent entry",
          before: [addPermanent("2001:db8::/32"), addTemporary("2001:db8::/32")],
          change: deletePermanent("2001:db8::/32"),
          outcome: "removed",
          temporary: [["2001:db8::/32", ended, ""]],
        },
        {
          title: "the removal of a permanent entry that is absent, while a wider one is there",
          before: [addPermanent("10.0.0.0/8")],
          change: deletePermanent("10.0.0.0/9"),
          outcome: "absent",
          permanent: ["10.0.0.0/8"],
        },
        {
          title: "a new temporary entry",
          before: [],
          change: addTemporary("192.0.2.1", { ttlSeconds: 5, reason: "a visitor" }),
          outcome: "added",
          temporary: [["192.0.2.1", NOW + 5000, "a visitor"]],
        },
        {
          title: "a temporary entry that is there",
          before: [addTemporary("192.0.2.1", { reason: "a visitor" })],
          change: addTemporary("192.0.2.1", { at: NOW + 1, ttlSeconds: 7 }),
          outcome: "replaced",
          temporary: [["192.0.2.1", NOW + 7001, ""]],
        },
        {
          title: "the removal of a temporary entry",
          before: [addTemporary("192.0.2.1"), addPermanent("192.0.2.1")],
          change: deleteTemporary("192.0.2.1"),
          outcome: "removed",
          permanent: ["192.0.2.1"],
        },
        {
          title: "the removal of a temporary entry that is absent",
          before: [addPermanent("192.0.2.1"), addTemporary("192.0.2.2")],
          change: deleteTemporary("192.0.2.1"),
          outcome: "absent",
          permanent: ["192.0.2.1"],
          temporary: [["192.0.2.2", ended, ""]],
        },
        {
          title: "an expiry",
          before: [addTemporary("192.0.2.1")],
          change: expireTemporary("192.0.2.1", ended),
          outcome: "removed",
        },
        {
          title: "an expiry of an entry that was granted anew",
          before: [addTemporary("192.0.2.1"), addTemporary("192.0.2.1", { at: NOW + 1 })],
          change: expireTemporary("192.0.2.1", ended),
          outcome: "absent",
          temporary: [["192.0.2.1", ended + 1, ""]],
        },
        {
          title: "an expiry of an entry that is absent",
          before: [addPermanent("192.0.2.1")],
          change: expireTemporary("192.0.2.1", ended),
          outcome: "absent",
          permanent: ["192.0.2.1"],
        },
      ]
      test.each(rows)(
        "$title: $outcome",
        async ({ before, change, outcome, permanent = [], temporary = [] }) => {
          const store = await open()
          const { after: revision } = await store.commit(before)
          const effective = outcome === "added" || outcome === "replaced" || outcome === "removed"
          expect(await store.commit([change])).toEqual({
            before: revision,
            after: revision + (effective ? 1 : 0),
            outcomes: [outcome],
          })
          const written = effective ? [...before, change] : before
          expect(await logOf(store)).toEqual(written.map(recordOf))
          expect(await permanentOf(store)).toEqual([...permanent])
          expect(await temporaryOf(store)).toEqual(
            temporary.map(([ip, expiresAt, reason]) => ({ ip, reason, expiresAt })),
          )
        },
      )

      test("keeps the order inside a group, also for one entry that comes, goes and comes again", async () => {
        const store = await open()
        const steps: ReadonlyArray<readonly [Change, Outcome]> = [
          [addPermanent("192.0.2.1", { at: NOW + 1 }), "added"],
          [addPermanent("192.0.2.1", { at: NOW + 2 }), "conflict"],
          [deletePermanent("192.0.2.1", { at: NOW + 3 }), "removed"],
          [deletePermanent("192.0.2.1", { at: NOW + 4 }), "absent"],
          [addPermanent("192.0.2.1", { at: NOW + 5 }), "added"],
          [addTemporary("192.0.2.1", { at: NOW + 6 }), "added"],
          [addTemporary("192.0.2.1", { at: NOW + 7, reason: "again" }), "replaced"],
          [expireTemporary("192.0.2.1", NOW + 60_006), "absent"],
          [expireTemporary("192.0.2.1", NOW + 60_007), "removed"],
          [deleteTemporary("192.0.2.1", { at: NOW + 8 }), "absent"],
          [addTemporary("192.0.2.1", { at: NOW + 9, ttlSeconds: 1 }), "added"],
        ]
        const { outcomes, before, after } = await store.commit(steps.map(([change]) => change))
        expect(outcomes).toEqual(steps.map(([, outcome]) => outcome))
        const written = steps.filter(([, outcome]) => outcome !== "conflict" && outcome !== "absent")
        expect(after - before).toBe(written.length)
        expect(await logOf(store)).toEqual(written.map(([change]) => recordOf(change)))
        expect(await permanentOf(store)).toEqual(["192.0.2.1"])
        expect(await temporaryOf(store)).toEqual([{ ip: "192.0.2.1", reason: "", expiresAt: NOW + 1009 }])
      })

      test(
        fault("J-19", "a group of changes of which one is refused", "neither an entry nor a record of any"),
        async () => {
          const store = await open()
          await store.commit([addPermanent("192.0.2.1"), addTemporary("192.0.2.2")])
          const log = await logOf(store)
          const refused = [
            addTemporary("192.0.2.3", { ttlSeconds: 0 }),
            addTemporary("192.0.2.3", { ttlSeconds: LONGEST_TTL_SECONDS + 1 }),
            addTemporary("192.0.2.3", { ttlSeconds: 1.5 }),
            addTemporary("192.0.2.3", { expiresAt: LATEST_TIME + 1 }),
            addTemporary("192.0.2.3", { expiresAt: -1 }),
          ]
          for (const change of refused) {
            const group = [deletePermanent("192.0.2.1"), deleteTemporary("192.0.2.2"), change]
            expect(await codeOf(store.commit([...group, addPermanent("192.0.2.4")]))).toBe("failed")
            expect(await permanentOf(store)).toEqual(["192.0.2.1"])
            expect((await temporaryOf(store)).map(({ ip }) => ip)).toEqual(["192.0.2.2"])
            expect(await logOf(store)).toEqual(log)
          }
          expect((await store.commit([addPermanent("192.0.2.4")])).outcomes).toEqual(["added"])
        },
      )

      test("does nothing with an empty group", async () => {
        const store = await open()
        expect(await store.commit([])).toEqual({ before: 0, after: 0, outcomes: [] })
        expect(await logOf(store)).toEqual([])
      })

      test("keeps texts and numbers at their limits", async () => {
        const store = await open()
        const changes = [
          addTemporary("255.255.255.255", { reason: "\u{1f6aa}".repeat(LONGEST_REASON) }),
          addTemporary("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", {
            reason: 'it\'s "quoted"; -- é %_\ufffd',
          }),
          addTemporary("0.0.0.0/0", { ttlSeconds: LONGEST_TTL_SECONDS, expiresAt: LATEST_TIME }),
          addTemporary("::/0", { at: 0, ttlSeconds: 1 }),
          addPermanent("::/0", { at: -62_135_596_800_000 }),
        ]
        await store.commit(changes)
        expect(await logOf(store)).toEqual(changes.map(recordOf))
        expect((await temporaryOf(store)).map(({ ip, expiresAt }) => [ip, expiresAt])).toEqual([
          ["::/0", 1000],
          ["255.255.255.255", NOW + 60_000],
          ["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NOW + 60_000],
          ["0.0.0.0/0", LATEST_TIME],
        ])
      })

      test("records who did it, or nobody", async () => {
        const store = await open()
        const nobody = { op: "add_perm", network: network("192.0.2.1"), at: NOW, by: null } as const
        const ipv6 = { ...nobody, network: network("192.0.2.2"), by: network("2001:db8::1").address }
        await store.commit([addPermanent("192.0.2.3"), nobody, ipv6])
        expect((await logOf(store)).map(({ actor }) => actor)).toEqual([CLIENT, null, "2001:db8::1"])
      })

      test(fault(
        "J-19",
        "random groups of changes",
        "entries and records are those of a simple model",
      ), async () => {
        const universe = ["192.0.2.1", "192.0.2.0/24", "0.0.0.0/0", "2001:db8::1", "::/0", "c000:201::"]
        const change = fc
          .tuple(fc.constantFrom(...universe), fc.nat({ max: 4 }), fc.integer({ min: 1, max: 3 }))
          .map(([ip, kind, seconds]): Change => {
            const option = { ttlSeconds: seconds, at: NOW }
            if (kind === 0) return addPermanent(ip)
            if (kind === 1) return deletePermanent(ip)
            if (kind === 2) return addTemporary(ip, { ...option, reason: `for ${seconds} s` })
            if (kind === 3) return deleteTemporary(ip)
            return expireTemporary(ip, NOW + seconds * 1000)
          })
        const groups = fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 8 })
        await fc.assert(
          fc.asyncProperty(groups, async (groups) => {
            const store = await open()
            const model = new Model()
            for (const group of groups) {
              const before = model.log.length
              const outcomes = group.map((change) => model.apply(change))
              expect(await store.commit(group)).toEqual({ before, after: model.log.length, outcomes })
            }
            expect(await logOf(store)).toEqual(model.log)
            expect(new Set(await permanentOf(store))).toEqual(model.permanent)
            expect(new Map((await temporaryOf(store)).map((entry) => [entry.ip, entry]))).toEqual(
              model.temporary,
            )
            await store.close()
          }),
          { numRuns: 8 },
        )
      }, 20_000)
    })

    describe("lists", () => {
      const sorted = [
        "0.0.0.0/0",
        "9.255.255.255",
        "10.0.0.0/8",
        "10.0.0.0/9",
        "10.0.0.0",
        "10.0.0.1",
        "128.0.0.0/1",
        "200.0.0.0",
        "::/0",
        "::",
        "::1",
        "100::/64",
        "2001:db8::/32",
        "2001:db8::/33",
        "2001:db8::",
        "2001:db8:0:1::",
        "ffff::",
      ]
      const shuffled = sorted.toSorted((a, b) => (Bun.hash(a) < Bun.hash(b) ? -1 : 1))

      test("permanent: IPv4 before IPv6, then by address, then by prefix length, in pages", async () => {
        const store = await open()
        expect(await store.listPermanent({ limit: 10, offset: 0 })).toEqual([])
        await store.commit(shuffled.map((ip) => addPermanent(ip)))
        expect(await permanentOf(store)).toEqual(sorted)
        const page = async (limit: number, offset: number) =>
          (await store.listPermanent({ limit, offset })).map(({ ip }) => ip)
        expect(await page(5, 0)).toEqual(sorted.slice(0, 5))
        expect(await page(5, 5)).toEqual(sorted.slice(5, 10))
        expect(await page(1000, 16)).toEqual(sorted.slice(16))
        expect(await page(1000, 17)).toEqual([])
        expect(await page(1000, Number.MAX_SAFE_INTEGER)).toEqual([])
      })

      test("temporary: the soonest to end first, then as the permanent list, in pages", async () => {
        const store = await open()
        const early = sorted.filter((_, i) => i % 2 === 1)
        const late = sorted.filter((_, i) => i % 2 === 0)
        const seconds = (ip: string) => (early.includes(ip) ? 5 : 3600)
        await store.commit(shuffled.map((ip) => addTemporary(ip, { ttlSeconds: seconds(ip) })))
        const all = [...early, ...late]
        expect((await temporaryOf(store)).map(({ ip }) => ip)).toEqual(all)
        const page = async (limit: number, offset: number, now = NOW) =>
          (await store.listTemporary({ limit, offset }, now)).map(({ ip }) => ip)
        expect(await page(6, 0)).toEqual(all.slice(0, 6))
        expect(await page(6, 6)).toEqual(all.slice(6, 12))
        expect(await page(1000, 17)).toEqual([])
        expect(await page(1000, Number.MAX_SAFE_INTEGER)).toEqual([])
        expect(await page(1000, 0, NOW + 4999)).toEqual(all)
        expect(await page(1000, 0, NOW + 5000)).toEqual(late)
        expect(await page(2, 1, NOW + 5000)).toEqual(late.slice(1, 3))
      })
    })

    describe("snapshot", () => {
      test("of empty lists has no entry", async () => {
        expect((await snapshotOf(await open())).entries).toEqual([])
      })

      test("hands over what the lists hold, both lists and both families", async () => {
        const store = await open()
        const ips = ["0.0.0.0/0", "10.0.0.0/8", "255.255.255.255", "::/0", "2001:db8::/64", "ffff::ffff"]
        const permanent = ips.map((ip) => addPermanent(ip))
        const temporary = ips.map((ip, i) =>
          addTemporary(ip, { expiresAt: i === 0 ? LATEST_TIME : NOW + i * 1000 + 0x1_0000_0000 * i }),
        )
        await store.commit([...permanent, ...temporary])
        const { entries, bad } = await snapshotOf(store)
        expect(bad).toBe(0)
        const perm = entries.filter(({ list }) => list === "perm").map(({ network }) => String(network))
        expect(perm).toEqual(await permanentOf(store))
        const temp = entries
          .filter(({ list }) => list === "temp")
          .map(({ network, expiresAt }) => ({ ip: String(network), reason: "", expiresAt }))
        expect(temp.sort((a, b) => a.expiresAt - b.expiresAt)).toEqual(await temporaryOf(store))
      })

      test("comes whole and in chunks when there are many entries", async () => {
        const store = await open({ path: copyDatabase(await large(), newPath()) })
        const { entries, bad, chunks } = await snapshotOf(store)
        expect(bad).toBe(0)
        expect(chunks.length).toBeGreaterThan(LARGE.length)
        for (const [list, family, count] of LARGE) {
          const own = entries.filter((entry) => entry.list === list && entry.network.family === family)
          expect(own.length).toBe(count)
          const low = family === 4 ? "word0" : "word3"
          expect(own.findIndex(({ network }, i) => network.address[low] !== i)).toBe(-1)
        }
      }, 20_000)
    })

    describe("audit", () => {
      const changes = [
        addPermanent("10.0.0.0/8", { at: NOW }),
        addPermanent("10.0.0.1", { at: NOW }),
        addTemporary("10.0.0.1", { at: NOW }),
        deletePermanent("10.0.0.1", { at: NOW }),
        addTemporary("10.0.0.1", { at: NOW - 5000, reason: "again" }),
        expireTemporary("10.0.0.1", NOW + 55_000),
        deletePermanent("10.0.0.0/8", { at: NOW }),
      ]
      const newest = changes.map(recordOf).reverse()

      async function filled(): Promise<Store> {
        const store = await open()
        for (const change of changes) await store.commit([change])
        return store
      }

      test("is newest first by order of writing, whatever the clock said, in pages", async () => {
        const store = await filled()
        expect(await store.audit({ limit: 100, offset: 0 })).toEqual(newest)
        expect(await store.audit({ limit: 3, offset: 0 })).toEqual(newest.slice(0, 3))
        expect(await store.audit({ limit: 3, offset: 3 })).toEqual(newest.slice(3, 6))
        expect(await store.audit({ limit: 3, offset: 6 })).toEqual(newest.slice(6))
        expect(await store.audit({ limit: 3, offset: 7 })).toEqual([])
        expect(await store.audit({ limit: 3, offset: Number.MAX_SAFE_INTEGER })).toEqual([])
      })

      test("is filtered by action, by network and by both, with pages of what is left", async () => {
        const store = await filled()
        const all = { limit: 100, offset: 0 }
        const of = (keep: (record: AuditRecord) => boolean) => newest.filter(keep)
        const action = "add_temp"
        const added = of((record) => record.action === action)
        expect(added.length).toBe(2)
        expect(await store.audit({ ...all, action })).toEqual(added)
        expect(await store.audit({ limit: 1, offset: 1, action })).toEqual(added.slice(1))
        const host = of(({ ip }) => ip === "10.0.0.1")
        expect(host.length).toBe(5)
        expect(await store.audit({ ...all, network: network("::ffff:10.0.0.1") })).toEqual(host)
        expect(await store.audit({ limit: 2, offset: 1, network: network("10.0.0.1/32") })).toEqual(
          host.slice(1, 3),
        )
        expect(await store.audit({ ...all, action: "delete_perm", network: network("10.0.0.1") })).toEqual(
          of((record) => record.action === "delete_perm" && record.ip === "10.0.0.1"),
        )
        expect(await store.audit({ ...all, action: "delete_temp" })).toEqual([])
        expect(await store.audit({ ...all, network: network("10.0.0.0/9") })).toEqual([])
      })

      test("is read with its ids too: the newest rows, or those after an id, oldest first", async () => {
        const store = await filled()
        const rows = changes.map((change, i) => ({ id: i + 1, record: recordOf(change) }))
        const whole = { oldest: 1, newest: 7 }
        const read = (query: Partial<AuditSliceQuery>) =>
          store.auditSlice({ after: null, limit: 100, ...query })
        expect(await read({})).toEqual({ ...whole, rows })
        expect(await read({ limit: 2 })).toEqual({ ...whole, rows: rows.slice(5) })
        expect(await read({ limit: 0 })).toEqual({ ...whole, rows: [] })
        expect(await read({ after: 0, limit: 2 })).toEqual({ ...whole, rows: rows.slice(0, 2) })
        expect(await read({ after: 5 })).toEqual({ ...whole, rows: rows.slice(5) })
        expect(await read({ after: 7 })).toEqual({ ...whole, rows: [] })
        expect(await read({ after: Number.MAX_SAFE_INTEGER })).toEqual({ ...whole, rows: [] })
        const ip = network("10.0.0.1")
        const host = rows.filter(({ record }) => record.ip === "10.0.0.1")
        expect(await read({ network: ip })).toEqual({ ...whole, rows: host })
        expect(await read({ network: ip, limit: 2 })).toEqual({ ...whole, rows: host.slice(-2) })
        expect(await read({ network: ip, after: 3, limit: 2 })).toEqual({
          ...whole,
          rows: host.filter(({ id }) => id > 3).slice(0, 2),
        })
        expect(await read({ network: ip, action: "add_temp", after: 0 })).toEqual({
          ...whole,
          rows: host.filter(({ record }) => record.action === "add_temp"),
        })
      })

      test("tells the ids of an empty log, and of one whose oldest rows are gone", async () => {
        expect(await (await open()).auditSlice({ after: null, limit: 9 })).toEqual({
          oldest: 0,
          newest: 0,
          rows: [],
        })
        const store = await open({ auditRows: 2 })
        await store.commit(changes)
        const rows = changes.map((change, i) => ({ id: i + 1, record: recordOf(change) })).slice(-2)
        expect(await store.auditSlice({ after: 0, limit: 9 })).toEqual({ oldest: 6, newest: 7, rows })
      })

      test("keeps the newest rows only, and the revision counts on", async () => {
        const store = await open({ auditRows: 5 })
        const steps = Array.from({ length: 12 }, (_, i) => addPermanent(`192.0.2.${i}`, { at: NOW + i }))
        for (const [i, step] of steps.entries()) {
          expect(await store.commit([step])).toEqual({ before: i, after: i + 1, outcomes: ["added"] })
          expect(await logOf(store)).toEqual(steps.slice(Math.max(0, i - 4), i + 1).map(recordOf))
        }
      })

      test("keeps the newest rows only, also of one large group", async () => {
        const store = await open({ auditRows: 5 })
        const steps = Array.from({ length: 300 }, (_, i) =>
          addPermanent(`10.0.${i >> 8}.${i & 255}`, { at: NOW - i }),
        )
        expect(await store.commit(steps)).toMatchObject({ before: 0, after: 300 })
        expect(await logOf(store)).toEqual(steps.slice(-5).map(recordOf))
        expect((await permanentOf(store)).length).toBe(300)
      })

      test("keeps the newest rows only, also when many entries ended while the gate was down", async () => {
        const path = newPath()
        const first = await open({ path, auditRows: 5 })
        await first.commit(
          Array.from({ length: 20 }, (_, i) => addTemporary(`192.0.2.${i}`, { ttlSeconds: 20 - i })),
        )
        const second = await reopened(first, path, { now: NOW + 60_000, auditRows: 5 })
        expect((await logOf(second)).map(({ action, ip }) => [action, ip])).toEqual(
          [4, 3, 2, 1, 0].map((i) => ["expire_temp", `192.0.2.${i}`]),
        )
        expect(await second.commit([])).toMatchObject({ before: 40 })
      })

      test("goes by the number of rows of the latest opening", async () => {
        const path = newPath()
        const first = await open({ path, auditRows: 5 })
        const steps = Array.from({ length: 9 }, (_, i) => addPermanent(`192.0.2.${i}`))
        await first.commit(steps.slice(0, 5))
        const second = await reopened(first, path, { auditRows: 3 })
        await second.commit(steps.slice(5, 6))
        expect(await logOf(second)).toEqual(steps.slice(3, 6).map(recordOf))
      })
    })

    test("ping and probe are fulfilled while the database works, and change nothing", async () => {
      const store = await open()
      await store.commit([addPermanent("192.0.2.1"), addTemporary("192.0.2.2")])
      const log = await logOf(store)
      expect(await store.ping()).toBeUndefined()
      expect(await store.probe()).toBeUndefined()
      expect(await permanentOf(store)).toEqual(["192.0.2.1"])
      expect(await logOf(store)).toEqual(log)
      expect(await store.commit([])).toMatchObject({ before: 2, after: 2 })
    })

    describe("a file that is no longer where it was opened", () => {
      const changes: ReadonlyArray<readonly [title: string, change: (path: string) => void]> = [
        ["because it was removed", (path) => unlinkSync(path)],
        ["because it was moved", (path) => renameSync(path, `${path}.moved`)],
        [
          "because another one took its place",
          (path) => renameSync(copyDatabase(path, `${path}.copy`), path),
        ],
        ["because its directory was moved", (path) => renameSync(dirname(path), `${dirname(path)}.moved`)],
      ]
      test.each(changes)(
        "%s takes no change: nobody is told that something is durable which is not",
        async (_, change) => {
          const path = join(newPath("state"), "gate.db")
          const store = await open({ path })
          await store.commit([addPermanent("192.0.2.1")])
          change(path)
          const asked = [
            store.commit([addPermanent("192.0.2.2")]),
            store.import(new TextEncoder().encode("192.0.2.3\n"), { at: NOW, by: null, prune: null }),
            store.ping(),
            store.probe(),
          ]
          expect(await Promise.all(asked.map(codeOf))).toEqual(["failed", "failed", "failed", "failed"])
          expect(await permanentOf(store)).toEqual(["192.0.2.1"])
        },
      )

      test("takes changes again when it is back", async () => {
        const path = newPath()
        const store = await open({ path })
        renameSync(path, `${path}.moved`)
        expect(await codeOf(store.commit([addPermanent("192.0.2.1")]))).toBe("failed")
        renameSync(`${path}.moved`, path)
        expect((await store.commit([addPermanent("192.0.2.1")])).outcomes).toEqual(["added"])
      })
    })

    test("answers calls that were made at the same time, each with its own answer", async () => {
      const store = await open()
      const ips = Array.from({ length: 20 }, (_, i) => `192.0.2.${i}`)
      const answers = await Promise.all(ips.map((ip) => store.commit([addPermanent(ip)])))
      expect(answers.map(({ before, outcomes }) => [before, ...outcomes])).toEqual(
        ips.map((_, i) => [i, "added"]),
      )
      const pages = await Promise.all(ips.map((_, offset) => store.listPermanent({ limit: 1, offset })))
      expect(pages.map(([entry]) => entry?.ip)).toEqual(ips)
    })
  })
}

/** What the two lists and the log must hold, in the plainest form. */
class Model {
  readonly permanent = new Set<string>()
  readonly temporary = new Map<string, { ip: string; reason: string; expiresAt: number }>()
  readonly log: AuditRecord[] = []

  apply(change: Change): Outcome {
    const outcome = this.outcomeOf(change)
    if (outcome !== "conflict" && outcome !== "absent") this.log.push(recordOf(change))
    return outcome
  }

  private outcomeOf(change: Change): Outcome {
    const ip = change.network.toString()
    switch (change.op) {
      case "add_perm": {
        const there = this.permanent.has(ip)
        this.permanent.add(ip)
        return there ? "conflict" : "added"
      }
      case "delete_perm":
        return this.permanent.delete(ip) ? "removed" : "absent"
      case "add_temp": {
        const there = this.temporary.has(ip)
        this.temporary.set(ip, { ip, reason: change.reason ?? "", expiresAt: change.expiresAt })
        return there ? "replaced" : "added"
      }
      case "delete_temp":
        return this.temporary.delete(ip) ? "removed" : "absent"
      case "expire_temp":
        if (this.temporary.get(ip)?.expiresAt !== change.expiresAt) return "absent"
        this.temporary.delete(ip)
        return "removed"
    }
  }
}

async function snapshotOf(store: Store) {
  const chunks: SnapshotChunk[] = []
  await store.snapshot((chunk) => chunks.push(chunk))
  const entries: SnapshotEntry[] = []
  let bad = 0
  for (const chunk of chunks) {
    bad += readChunk(chunk, (network, expiresAt) => entries.push({ list: chunk.list, network, expiresAt }))
  }
  return { chunks, entries, bad }
}

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => "fulfilled",
    (error) => error.code,
  )
}
