// The part of the contract of `Store` that is about bulks: import and export.

import { afterEach, describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Change } from "../../src/core/change.ts"
import { LONGEST_TTL_SECONDS } from "../../src/core/entry.ts"
import type { ImportCounts } from "../../src/core/gate.ts"
import { readChunk, type SnapshotChunk } from "../../src/store/snapshot.ts"
import type { ImportOptions, Store, StoreConfig } from "../../src/store/store.ts"
import { fault } from "../faults/fault.ts"
import { address } from "../support/parsed.ts"
import { copyDatabase, temporaryPaths } from "../support/temp-store.ts"
import {
  addPermanent,
  addTemporary,
  CLIENT,
  deletePermanent,
  expireTemporary,
  logOf,
  NOW,
  permanentOf,
  recordOf,
  temporaryOf,
} from "./changes.ts"
import { LARGE, largeDatabase, largeList } from "./large-database.ts"

const LONG_IMPORT = fault("D-07", "a long import while other calls are made", "they are answered")

const NOTHING: ImportCounts = { added: 0, replaced: 0, unchanged: 0, removed: 0, duplicates: 0, ended: 0 }

/** An hour from `NOW`, as a line says it. */
const LATER = new Date(NOW + 3_600_000).toISOString()

/** Runs the part of the contract over the stores that `make` makes. */
export function describeBulk(name: string, make: (config: StoreConfig) => Store): void {
  describe(name, () => {
    const newPath = temporaryPaths()
    const large = largeDatabase()
    const opened: Store[] = []
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()))
    })

    async function open({ path = newPath(), auditRows = 100_000 } = {}): Promise<Store> {
      const store = make({ path, auditRows })
      opened.push(store)
      await store.open(NOW)
      return store
    }

    describe("import", () => {
      type Row = {
        readonly title: string
        readonly before?: readonly Change[]
        readonly lines: readonly string[]
        readonly prune?: { readonly maxRemovals: number }
        readonly counts: Partial<ImportCounts>
        /** What is written to the log. */
        readonly changes: readonly Change[]
        readonly permanent?: readonly string[]
        readonly temporary?: ReadonlyArray<readonly [ip: string, expiresAt: number, reason: string]>
      }
      const rows: Row[] = [
        { title: "nothing", lines: [], counts: {}, changes: [] },
        {
          title: "permanent entries, in the order of the lists",
          lines: ["2001:db8::/32", "10.0.0.0/8", "::ffff:9.0.0.1", "10.0.0.0"],
          counts: { added: 4 },
          changes: ["9.0.0.1", "10.0.0.0/8", "10.0.0.0", "2001:db8::/32"].map((ip) => addPermanent(ip)),
          permanent: ["9.0.0.1", "10.0.0.0/8", "10.0.0.0", "2001:db8::/32"],
        },
        {
          title: "temporary entries, by lifetime or by the time of their end",
          lines: ["192.0.2.1\t60", `192.0.2.2\t${LATER}\ta visitor`, '::1\t2s\tit\'s "quoted", \u{1f6aa}'],
          counts: { added: 3 },
          changes: [
            addTemporary("192.0.2.1"),
            addTemporary("192.0.2.2", { ttlSeconds: 3600, reason: "a visitor" }),
            addTemporary("::1", { ttlSeconds: 2, reason: 'it\'s "quoted", \u{1f6aa}' }),
          ],
          temporary: [
            ["::1", NOW + 2000, 'it\'s "quoted", \u{1f6aa}'],
            ["192.0.2.1", NOW + 60_000, ""],
            ["192.0.2.2", NOW + 3_600_000, "a visitor"],
          ],
        },
        {
          title: "the end of a lifetime that is no whole number of seconds",
          lines: [`192.0.2.1\t${new Date(NOW + 1).toISOString()}`],
          counts: { added: 1 },
          changes: [addTemporary("192.0.2.1", { ttlSeconds: 1, expiresAt: NOW + 1 })],
          temporary: [["192.0.2.1", NOW + 1, ""]],
        },
        {
          title: "the longest lifetime",
          lines: [`192.0.2.1\t${LONGEST_TTL_SECONDS}`],
          counts: { added: 1 },
          changes: [addTemporary("192.0.2.1", { ttlSeconds: LONGEST_TTL_SECONDS })],
          temporary: [["192.0.2.1", NOW + LONGEST_TTL_SECONDS * 1000, ""]],
        },
        {
          title: "entries that are there: permanent ones stay, temporary ones are replaced",
          before: [addPermanent("10.0.0.0/8"), addTemporary("192.0.2.1", { reason: "old" })],
          lines: ["10.0.0.0/8", "10.0.0.0/9", "192.0.2.1\t5\tnew", "192.0.2.2\t5"],
          counts: { added: 2, unchanged: 1, replaced: 1 },
          changes: [
            addPermanent("10.0.0.0/9"),
            addTemporary("192.0.2.1", { ttlSeconds: 5, reason: "new" }),
            addTemporary("192.0.2.2", { ttlSeconds: 5 }),
          ],
          permanent: ["10.0.0.0/8", "10.0.0.0/9"],
          temporary: [
            ["192.0.2.1", NOW + 5000, "new"],
            ["192.0.2.2", NOW + 5000, ""],
          ],
        },
        {
          title: "a network on both lists, and lines that repeat one: the first counts",
          lines: ["192.0.2.1", "192.0.2.1\t5\tfirst", "192.0.2.1/32", "::ffff:c000:201\t7\tsecond"],
          counts: { added: 2, duplicates: 2 },
          changes: [addPermanent("192.0.2.1"), addTemporary("192.0.2.1", { ttlSeconds: 5, reason: "first" })],
          permanent: ["192.0.2.1"],
          temporary: [["192.0.2.1", NOW + 5000, "first"]],
        },
        {
          title: "temporary entries whose time has passed: they are left out",
          before: [addTemporary("192.0.2.1")],
          lines: [
            `192.0.2.1\t${new Date(NOW).toISOString()}`,
            "192.0.2.2\t2020-01-01T00:00:00Z",
            "192.0.2.3\t1",
          ],
          counts: { added: 1, ended: 2 },
          changes: [addTemporary("192.0.2.3", { ttlSeconds: 1 })],
          temporary: [
            ["192.0.2.3", NOW + 1000, ""],
            ["192.0.2.1", NOW + 60_000, ""],
          ],
        },
        {
          title: "after the expiry of what has ended by now is recorded",
          before: [addTemporary("192.0.2.1", { at: NOW - 61_000 }), addTemporary("192.0.2.2")],
          lines: ["192.0.2.1\t60"],
          counts: { added: 1 },
          changes: [expireTemporary("192.0.2.1", NOW - 1000), addTemporary("192.0.2.1")],
          temporary: [
            ["192.0.2.1", NOW + 60_000, ""],
            ["192.0.2.2", NOW + 60_000, ""],
          ],
        },
        {
          title: "with pruning: permanent entries that are not named go, temporary ones stay",
          before: [
            ...["10.0.0.0/8", "10.0.0.0/9", "2001:db8::1"].map((ip) => addPermanent(ip)),
            addTemporary("192.0.2.1"),
          ],
          lines: ["10.0.0.0/9", "10.0.0.0/10"],
          prune: { maxRemovals: 2 },
          counts: { added: 1, unchanged: 1, removed: 2 },
          changes: [
            deletePermanent("10.0.0.0/8"),
            deletePermanent("2001:db8::1"),
            addPermanent("10.0.0.0/10"),
          ],
          permanent: ["10.0.0.0/9", "10.0.0.0/10"],
          temporary: [["192.0.2.1", NOW + 60_000, ""]],
        },
        {
          title: "with pruning: a temporary line does not keep a permanent entry",
          before: [addPermanent("192.0.2.1")],
          lines: ["192.0.2.1\t60"],
          prune: { maxRemovals: 1 },
          counts: { added: 1, removed: 1 },
          changes: [deletePermanent("192.0.2.1"), addTemporary("192.0.2.1")],
          temporary: [["192.0.2.1", NOW + 60_000, ""]],
        },
        {
          title: "with pruning, of nothing: the permanent list is empty",
          before: [addPermanent("192.0.2.1"), addPermanent("::/0")],
          lines: [],
          prune: { maxRemovals: 5 },
          counts: { removed: 2 },
          changes: [deletePermanent("192.0.2.1"), deletePermanent("::/0")],
        },
      ]
      test.each(rows)(
        "$title",
        async ({ before = [], lines, prune = null, counts, changes, permanent = [], temporary = [] }) => {
          const store = await open()
          await store.commit(before)
          const { present, absent, ...told } = await store.import(text(lines), options({ prune }))
          const revisions = { before: before.length, after: before.length + changes.length }
          expect(told).toEqual({ ...NOTHING, ...counts, ...revisions })
          expect(await logOf(store)).toEqual([...before, ...changes].map(recordOf))
          expect(await permanentOf(store)).toEqual([...permanent])
          expect(await temporaryOf(store)).toEqual(
            temporary.map(([ip, expiresAt, reason]) => ({ ip, reason, expiresAt })),
          )
          expect((await store.commit([])).before).toBe(before.length + changes.length)
          expect(entriesOf(present).size).toBe(told.added + told.replaced + told.unchanged)
          expect(entriesOf(absent).size).toBe(told.removed)
        },
      )

      const bad: ReadonlyArray<readonly [title: string, lines: readonly string[], message: RegExp]> = [
        [
          "host bits",
          ["10.0.0.0/8", "10.0.0.5/8"],
          /^line 2: "10\.0\.0\.5\/8" has host bits set; did you mean/,
        ],
        ["no address", ["example.org"], /^line 1: "example\.org" is not an IP address or CIDR$/],
        ["an empty line", ["10.0.0.0/8", "", "10.0.0.0/9"], /^line 2: .*empty/],
        ["a line end of another system", ["192.0.2.1\r"], /^line 1: .*white space/],
        ["a bad lifetime", ["192.0.2.1\tsoon"], /^line 1: the lifetime must be/],
        ["a day that there is not", ["192.0.2.1\t2026-02-31T00:00:00Z"], /^line 1: "2026-02-31" is no day/],
        ["no lifetime at all", ["192.0.2.1\t0"], /^line 1: the lifetime must be/],
        ["too long a lifetime", [`192.0.2.1\t${LONGEST_TTL_SECONDS + 1}`], /^line 1: the lifetime must be/],
        ["a bad reason", ["192.0.2.1\t60\ta\u0000b"], /^line 1: reason contains/],
        ["too many columns", ["192.0.2.1\t60\ta\tb"], /^line 1: there are more than three columns$/],
        ["two bad lines", ["1", "192.0.2.1", "2"], /^line 1: .*\nline 3: [^\n]*$/],
      ]
      test.each(bad)("refuses all for %s, and changes nothing", async (_, lines, message) => {
        const store = await open()
        const before = [addPermanent("192.0.2.9"), addTemporary("192.0.2.9", { at: NOW - 100_000 })]
        await store.commit(before)
        const prune = { maxRemovals: 1000 }
        const error = await refusal(store.import(text(lines), options({ prune })))
        expect(error.code).toBe("invalid")
        expect(error.message).toMatch(message)
        await expectUntouched(store, before)
      })

      test("names a hundred bad lines, and counts the others", async () => {
        const store = await open()
        const lines = Array.from({ length: 250 }, (_, i) => (i % 2 === 0 ? "?" : `192.0.2.${i}`))
        const { code, message } = await refusal(store.import(text(lines), options()))
        expect(code).toBe("invalid")
        const told = message.split("\n")
        expect(told.length).toBe(101)
        expect(told[99]).toStartWith("line 199: ")
        expect(told[100]).toBe("and 25 more")
      })

      test("refuses what is not UTF-8, with the line", async () => {
        const store = await open()
        const bytes = new Uint8Array([...text(["192.0.2.1", "192.0.2.2\t60\t"]), 0xc3, 0x28])
        const { code, message } = await refusal(store.import(bytes, options()))
        expect([code, message]).toEqual(["invalid", "line 3: not valid UTF-8"])
        await expectUntouched(store, [])
      })

      test("refuses to prune more than it may, and changes nothing", async () => {
        const store = await open()
        const before = ["192.0.2.1", "192.0.2.2", "2001:db8::1"].map((ip) => addPermanent(ip))
        await store.commit(before)
        const { code, message } = await refusal(
          store.import(text(["192.0.2.1", "192.0.2.3"]), options({ prune: { maxRemovals: 1 } })),
        )
        expect(code).toBe("invalid")
        expect(message).toContain("would remove 2 permanent entries, and at most 1 may go")
        await expectUntouched(store, before)
        const told = await store.import(text(["192.0.2.1"]), options({ prune: { maxRemovals: 2 } }))
        expect(told).toMatchObject({ removed: 2, unchanged: 1 })
      })

      test("changes nothing if the database refuses, and works on", async () => {
        const store = await open()
        await store.commit([addPermanent("192.0.2.9")])
        const at = Date.UTC(9999, 11, 31)
        const lines = text(["192.0.2.1", "192.0.2.2\t90000"])
        expect((await refusal(store.import(lines, { ...options(), at }))).code).toBe("failed")
        await expectUntouched(store, [addPermanent("192.0.2.9")])
        expect(await store.import(text(["192.0.2.1"]), options())).toMatchObject({ added: 1 })
      })

      test("takes many entries, and tells what is on the lists because of them", async () => {
        const store = await open()
        const ip = (i: number) => `10.${i >> 8}.${i & 255}.0/24`
        const old = Array.from({ length: 5001 }, (_, i) => addPermanent(ip(i + 50_000)))
        await store.commit(old)
        const lines = [
          ...Array.from({ length: 5001 }, (_, i) => ip(i)),
          ...Array.from({ length: 3 }, (_, i) => `2001:db8::${i.toString(16)}`),
          ...Array.from({ length: 5001 }, (_, i) => `2001:db8::${i.toString(16)}\t60\tnumber ${i}`),
        ].sort((a, b) => (Bun.hash(a) < Bun.hash(b) ? -1 : 1))
        const told = await store.import(text(lines), options({ prune: { maxRemovals: 5001 } }))
        expect(told).toMatchObject({ ...NOTHING, added: 10_005, removed: 5001 })
        expect(entriesOf(told.absent)).toEqual(new Set(old.map(({ network }) => `perm ${network} 0`)))
        const snapshot: SnapshotChunk[] = []
        await store.snapshot((chunk) => snapshot.push(chunk))
        expect(entriesOf(told.present)).toEqual(entriesOf(snapshot))
        expect((await permanentOf(store)).length).toBe(5004)
        expect(new Set((await temporaryOf(store)).map(({ reason }) => reason)).size).toBe(5001)
        expect((await logOf(store)).length).toBe(5001 + 5001 + 10_005)
      }, 20_000)

      test("keeps the newest rows of the log only", async () => {
        const store = await open({ auditRows: 3 })
        await store.import(
          text(["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4\t9", "192.0.2.5\t9"]),
          options(),
        )
        expect((await logOf(store)).map(({ ip }) => ip)).toEqual(["192.0.2.3", "192.0.2.4", "192.0.2.5"])
        expect((await store.commit([])).before).toBe(5)
      })

      test("records who did it, or nobody", async () => {
        const store = await open()
        await store.import(text(["192.0.2.1", "192.0.2.2\t60"]), options())
        await store.import(text([]), { ...options({ prune: { maxRemovals: 1 } }), by: null })
        expect((await logOf(store)).map(({ actor }) => actor)).toEqual([CLIENT, CLIENT, null])
      })

      test("tells what it changed: added to and taken from the lists before, that is the lists after", async () => {
        const ips = ["192.0.2.1", "192.0.2.0/24", "2001:db8::1", "::/0"]
        const change = fc
          .tuple(fc.constantFrom(...ips), fc.integer({ min: 0, max: 9 }))
          .map(([ip, seconds]) =>
            seconds === 0 ? addPermanent(ip) : addTemporary(ip, { ttlSeconds: seconds }),
          )
        const line = fc
          .tuple(fc.constantFrom(...ips), fc.integer({ min: 0, max: 9 }))
          .map(([ip, seconds]) => (seconds === 0 ? ip : `${ip}\t${seconds}`))
        const some = <T>(values: fc.Arbitrary<T>) => fc.array(values, { maxLength: 6 })
        await fc.assert(
          fc.asyncProperty(some(change), some(line), fc.boolean(), async (before, lines, prunes) => {
            const store = await open()
            await store.commit(before)
            const state = async () => {
              const chunks: SnapshotChunk[] = []
              await store.snapshot((chunk) => chunks.push(chunk))
              return new Map([...entriesOf(chunks)].map((entry) => [keyOf(entry), entry]))
            }
            const expected = await state()
            const prune = prunes ? { maxRemovals: 4 } : null
            const { present, absent } = await store.import(text(lines), options({ prune }))
            for (const entry of entriesOf(absent)) expect(expected.delete(keyOf(entry))).toBe(true)
            for (const entry of entriesOf(present)) expected.set(keyOf(entry), entry)
            expect(await state()).toEqual(expected)
            await store.close()
          }),
          { numRuns: 8 },
        )
      }, 20_000)

      test(LONG_IMPORT, async () => {
        const store = await open()
        const lines = Array.from({ length: 3000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`)
        const answers = await Promise.all([
          store.import(text(lines), options()),
          store.ping(),
          store.commit([addPermanent("192.0.2.1")]),
          store.listPermanent({ limit: 1, offset: 3000 }),
        ])
        expect([answers[0].added, answers[2].outcomes, answers[3]]).toEqual([
          3000,
          ["added"],
          [{ ip: "192.0.2.1" }],
        ])
      })

      async function expectUntouched(store: Store, before: readonly Change[]): Promise<void> {
        const lists = await Promise.all([permanentOf(store), temporaryOf(store), logOf(store)])
        const added = (op: Change["op"]) => before.filter((change) => change.op === op)
        expect(lists[0]).toEqual(added("add_perm").map(({ network }) => String(network)))
        expect(lists[1].map(({ ip }) => ip)).toEqual(added("add_temp").map(({ network }) => String(network)))
        expect(lists[2]).toEqual(before.map(recordOf))
      }
    })

    describe("export", () => {
      test("of empty lists is nothing", async () => {
        expect(await exported(await open())).toEqual([])
      })

      test("is one line an entry: the permanent list, then the temporary entries that end after now", async () => {
        const store = await open()
        await store.commit([
          ...["2001:db8::/32", "10.0.0.0/8", "192.0.2.1"].map((ip) => addPermanent(ip)),
          addTemporary("192.0.2.1", { ttlSeconds: 3600, reason: 'it\'s "quoted", \u{1f6aa}' }),
          addTemporary("192.0.2.2", { ttlSeconds: 60 }),
          addTemporary("192.0.2.3", { ttlSeconds: 30 }),
          addTemporary("192.0.2.4", { ttlSeconds: 30, at: NOW - 30_000 }),
        ])
        const permanent = ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"]
        const last = `192.0.2.1\t${LATER}\tit's "quoted", \u{1f6aa}`
        const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString()
        expect(await exported(store)).toEqual([
          ...permanent,
          `192.0.2.3\t${at(30)}`,
          `192.0.2.2\t${at(60)}`,
          last,
        ])
        expect(await exported(store, NOW + 60_000)).toEqual([...permanent, last])
      })

      test("goes in again as it came out", async () => {
        const store = await open()
        const ips = ["0.0.0.0/0", "10.0.0.0/8", "255.255.255.255", "::/0", "2001:db8::/64", "ffff::ffff"]
        await store.commit(ips.map((ip) => addPermanent(ip)))
        await store.commit(
          ips.map((ip, i) => addTemporary(ip, { ttlSeconds: 10 - i, reason: `number ${i}` })),
        )
        const lines = await exported(store)
        const other = await open()
        expect(await other.import(text(lines), options())).toMatchObject({ ...NOTHING, added: 12 })
        expect(await exported(other)).toEqual(lines)
        expect(await temporaryOf(other)).toEqual(await temporaryOf(store))
        expect(await store.import(text(lines), options({ prune: { maxRemovals: 0 } }))).toMatchObject({
          ...NOTHING,
          unchanged: 6,
          replaced: 6,
        })
      })

      test("comes whole, and in pieces of whole lines, when there are many entries", async () => {
        const store = await open({ path: copyDatabase(await large(), newPath()) })
        let count = 0
        const lines = await exported(store, NOW, () => count++)
        expect(count).toBeGreaterThan(LARGE.length)
        const temporary = largeList("temp").map((ip) => `${ip}\t9999-12-31T23:59:59.999Z`)
        expect(lines).toEqual([...largeList("perm"), ...temporary])
      }, 20_000)

      test("is one state, also if the lists are changed meanwhile", async () => {
        const store = await open({ path: copyDatabase(await large(), newPath()) })
        let moved: Promise<unknown> | undefined
        const lines = await exported(store, NOW, () => {
          // The entry that went out first moves to where the export has not been yet.
          moved ??= store.commit([deletePermanent("0.0.0.0"), addPermanent("ffff::")])
        })
        expect(await moved).toMatchObject({ outcomes: ["removed", "added"] })
        expect([lines.includes("0.0.0.0"), lines.includes("ffff::")]).toEqual([true, false])
      }, 20_000)
    })
  })
}

function options({ prune = null }: Partial<Pick<ImportOptions, "prune">> = {}): ImportOptions {
  return { at: NOW, by: address(CLIENT), prune }
}

function text(lines: readonly string[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""))
}

/** The lines of an export; `each` is called with every piece as it comes. */
async function exported(store: Store, now = NOW, each: () => void = () => {}): Promise<string[]> {
  let all = ""
  await store.export(now, (piece) => {
    all += new TextDecoder("utf-8", { fatal: true }).decode(piece)
    expect(all).toEndWith("\n")
    each()
  })
  return all.split("\n").slice(0, -1)
}

/** Entries as `list network expiry`. */
function entriesOf(chunks: readonly SnapshotChunk[]): Set<string> {
  const entries = new Set<string>()
  for (const chunk of chunks) {
    const bad = readChunk(chunk, (network, expiresAt) => entries.add(`${chunk.list} ${network} ${expiresAt}`))
    expect(bad).toBe(0)
  }
  return entries
}

/** An entry of `entriesOf` without its expiry. */
function keyOf(entry: string): string {
  return entry.slice(0, entry.lastIndexOf(" "))
}

async function refusal(call: Promise<unknown>): Promise<{ code: string; message: string }> {
  return call.then(
    () => ({ code: "fulfilled", message: "" }),
    (error) => error,
  )
}
