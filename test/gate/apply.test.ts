// Taking commits and imports into the allowlist: only what took effect, and a large import in slices.

import { describe, expect, test } from "bun:test"
import { Allowlist } from "../../src/core/allowlist.ts"
import type { Change, Outcome } from "../../src/core/change.ts"
import { EndedEntries } from "../../src/core/ended-entries.ts"
import { addChunk, applyCommitted, applyImported, applyLateImport } from "../../src/gate/apply.ts"
import { entryKey } from "../../src/store/entry-key.ts"
import type { SnapshotChunk } from "../../src/store/snapshot.ts"
import { TemporaryLines } from "../../src/store/temporary-lines.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { address, network } from "../support/parsed.ts"

const NOW = Date.UTC(2026, 0, 1)
const IP = "192.0.2.1"

function permanentChunk(ips: readonly string[]): SnapshotChunk {
  const keys = ips.map((ip) => entryKey(network(ip)))
  return { list: "perm", family: 4, records: new Uint8Array(Buffer.concat(keys)) }
}

function temporary(ips: readonly string[], until: number): SnapshotChunk[] {
  const lines = new TemporaryLines()
  for (const ip of ips) lines.add({ network: network(ip), until, reason: null })
  return lines.chunks()
}

describe("a commit", () => {
  const base = { network: network(IP), at: NOW, by: null }
  const add: Change = { ...base, op: "add_perm" }
  const remove: Change = { ...base, op: "delete_perm" }
  const grant: Change = { ...base, op: "add_temp", ttlSeconds: 60, expiresAt: NOW + 60_000, reason: null }
  const revoke: Change = { ...base, op: "delete_temp" }
  const expire: Change = { op: "expire_temp", network: network(IP), at: NOW, expiresAt: NOW + 60_000 }

  function after(
    before: readonly Change[],
    changes: ReadonlyArray<readonly [Change, Outcome]>,
    wait = 0,
  ): boolean {
    const clock = new FakeClock(NOW)
    const allowlist = new Allowlist(clock)
    for (const change of before) allowlist.apply(change)
    clock.advance(wait)
    const outcomes = changes.map(([, outcome]) => outcome)
    applyCommitted(
      allowlist,
      new EndedEntries(),
      changes.map(([change]) => change),
      { before: 0, after: 0, outcomes },
    )
    clock.stepWall(-wait)
    return allowlist.allows(address(IP))
  }

  test("takes effect as the outcomes say, in order", () => {
    expect(after([], [[add, "added"]])).toBe(true)
    expect(after([], [[grant, "added"]])).toBe(true)
    expect(after([grant], [[grant, "replaced"]])).toBe(true)
    expect(after([add], [[remove, "removed"]])).toBe(false)
    expect(after([grant], [[revoke, "removed"]])).toBe(false)
    const both = [
      [add, "added"],
      [remove, "removed"],
    ] as const
    expect(after([], both)).toBe(false)
    expect(after([add], [...both].reverse())).toBe(true)
  })

  test("has no effect where there was none", () => {
    expect(after([], [[add, "conflict"]])).toBe(false)
    expect(after([add], [[remove, "absent"]])).toBe(true)
    expect(after([grant], [[revoke, "absent"]])).toBe(true)
    expect(after([], [])).toBe(false)
  })

  test("of an expiry ends what it saw, and nothing that was granted since", () => {
    const later: Change = { ...base, op: "add_temp", ttlSeconds: 90, expiresAt: NOW + 90_000, reason: null }
    expect(after([grant], [[expire, "removed"]], 60_000)).toBe(false)
    expect(after([grant], [[expire, "absent"]], 60_000)).toBe(false)
    expect(after([later], [[expire, "absent"]], 60_000)).toBe(true)
    const renewed = [
      [expire, "removed"],
      [later, "added"],
      [expire, "absent"],
    ] as const
    expect(after([grant], renewed, 60_000)).toBe(true)
  })

  test("is told with the ids of its rows: what had no effect has none, also in front of what had one", () => {
    const changes = [add, grant, remove, revoke]
    const outcomes = ["conflict", "added", "absent", "removed"] as const
    const allowlist = new Allowlist(new FakeClock(NOW))
    const committed = { before: 10, after: 12, outcomes }
    const events = applyCommitted(allowlist, new EndedEntries(), changes, committed)
    expect(events.map((event) => event.kind === "change" && [event.id, event.record.action])).toEqual([
      [11, "add_temp"],
      [12, "delete_temp"],
    ])
  })

  test("of what is added or replaced is not remembered as an end; of what is removed it is", () => {
    const ended = new EndedEntries()
    const lastEnd = () => ended.lastCovering(address(IP), NOW)
    const commit = (change: Change, outcome: Outcome) =>
      applyCommitted(new Allowlist(new FakeClock(NOW)), ended, [change], {
        before: 0,
        after: 1,
        outcomes: [outcome],
      })
    commit(add, "added")
    commit(grant, "added")
    commit(grant, "replaced")
    expect(lastEnd()).toBeNull()
    commit(remove, "removed")
    expect(lastEnd()).toEqual({ list: "perm", ip: IP, endedAt: NOW, how: "removed" })
  })
})

describe("an import", () => {
  test("adds and takes off", async () => {
    const allowlist = new Allowlist(new FakeClock(NOW))
    for (const ip of ["10.0.0.0/8", "11.0.0.0/8"]) allowlist.addPermanent(network(ip))
    allowlist.addTemporary(network(IP), NOW + 1000)
    await applyImported(allowlist, {
      present: [
        permanentChunk(["11.0.0.0/8", "12.0.0.0/8"]),
        ...temporary([IP, "2001:db8::/32"], NOW + 5000),
      ],
      absent: [permanentChunk(["10.0.0.0/8"])],
    })
    expect([allowlist.permanentCount, allowlist.temporaryCount]).toEqual([2, 2])
    const asked = ["10.0.0.1", "11.0.0.1", "12.0.0.1", "2001:db8::1"]
    expect(asked.map((ip) => allowlist.allows(address(ip)))).toEqual([false, true, true, true])
    expect(allowlist.check(network(IP)).matches[0]?.expiresAt).toBe(NOW + 5000)
  })

  test("lets everybody in throughout who is let in before and after it", async () => {
    const allowlist = new Allowlist(new FakeClock(NOW))
    const ips = Array.from({ length: 500 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`)
    for (const ip of ["192.0.2.0/24", "198.51.100.0/24", ...ips]) allowlist.addPermanent(network(ip))
    const asked = [IP, "198.51.100.1"].map(address)
    let pauses = 0
    const parts = {
      present: [
        permanentChunk(["192.0.2.0/25", "192.0.2.128/25"]),
        ...temporary(["198.51.100.0/24"], NOW + 1000),
      ],
      absent: [permanentChunk(["192.0.2.0/24", "198.51.100.0/24", ...ips])],
    }
    await applyImported(allowlist, parts, async () => {
      pauses++
      expect(asked.map((one) => allowlist.allows(one))).toEqual([true, true])
    })
    expect(pauses).toBeGreaterThan(3)
    expect(allowlist.permanentCount).toBe(2)
  })

  test("of many entries lets decisions have their turn in between, and is complete at its end", async () => {
    const allowlist = new Allowlist(new FakeClock(NOW))
    const ips = Array.from({ length: 5000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`)
    let done = false
    const applied = applyImported(allowlist, { present: [permanentChunk(ips)], absent: [] }).then(() => {
      done = true
    })
    const counts: number[] = []
    while (!done) {
      counts.push(allowlist.permanentCount)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await applied
    expect(counts.length).toBeGreaterThan(5)
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
    expect(ips.every((ip) => allowlist.check(network(ip)).allowed)).toBe(true)
    expect(allowlist.permanentCount).toBe(5000)
    await applyImported(allowlist, { present: [], absent: [permanentChunk(ips)] })
    expect(allowlist.permanentCount).toBe(0)
  })
})

test("an import whose caller has given up holds at once, what it adds and what it takes off", () => {
  const allowlist = new Allowlist(new FakeClock(NOW))
  for (const ip of ["10.0.0.0/8", "11.0.0.0/8"]) allowlist.addPermanent(network(ip))
  const events = applyLateImport(allowlist, {
    added: 2,
    replaced: 0,
    unchanged: 1,
    removed: 1,
    duplicates: 0,
    ended: 0,
    before: 3,
    after: 6,
    present: [permanentChunk(["11.0.0.0/8", "12.0.0.0/8"]), ...temporary([IP], NOW + 1000)],
    absent: [permanentChunk(["10.0.0.0/8"])],
  })
  expect(events).toEqual([{ kind: "reload", id: 6 }])
  const asked = ["10.0.0.1", "11.0.0.1", "12.0.0.1", IP]
  expect(asked.map((ip) => allowlist.allows(address(ip)))).toEqual([false, true, true, true])
  expect([allowlist.permanentCount, allowlist.temporaryCount]).toEqual([2, 1])
})

test("records that are no network are counted, and change nothing", () => {
  const allowlist = new Allowlist(new FakeClock(NOW))
  const records = new Uint8Array([4, 10, 0, 0, 1, 8, 4, 192, 0, 2, 1, 32, 4, 0, 0, 0, 0, 33])
  expect(addChunk(allowlist, { list: "perm", family: 4, records })).toBe(2)
  expect(allowlist.permanentCount).toBe(1)
  expect([IP, "10.0.0.1"].map((ip) => allowlist.allows(address(ip)))).toEqual([true, false])
})
