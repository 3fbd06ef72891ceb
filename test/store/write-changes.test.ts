// A group of changes in one transaction: what each does, in which order the log tells it, and what is checked of the ids.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import type { Change } from "../../src/core/change.ts"
import { GateError } from "../../src/core/errors.ts"
import { toAuditRecord } from "../../src/store/audit-row.ts"
import { Connection } from "../../src/store/connection.ts"
import { MIGRATIONS, rotationTrigger } from "../../src/store/schema.ts"
import { auditSlice } from "../../src/store/statements.ts"
import { writeChanges } from "../../src/store/write-changes.ts"
import {
  addPermanent,
  addTemporary,
  deletePermanent,
  deleteTemporary,
  expireTemporary,
  NOW,
  recordOf,
} from "./changes.ts"

let connection: Connection
beforeEach(() => {
  connection = Connection.inMemory()
  connection.batch([...MIGRATIONS.flat(), ...rotationTrigger(1_000)])
})
afterEach(() => connection.close())

const write = (before: number, ...changes: Change[]) =>
  connection.transaction(() => writeChanges(connection, before, changes))
const log = () => connection.execute("SELECT * FROM audit ORDER BY id").rows
const permanent = () => connection.execute("SELECT ip FROM permanent ORDER BY key").rows.map(({ ip }) => ip)
const temporary = () => connection.execute("SELECT ip, expires_at, reason FROM temporary ORDER BY key").rows

describe("a group of changes", () => {
  test("is made in its order, also where several are for one network, and the log tells those that took effect", () => {
    const end = NOW + 60_000
    const reason = 'it\'s a "quote", a back\\slash, and é\u{1f6aa}'
    const group: Array<readonly [Change, string]> = [
      [addPermanent("192.0.2.1"), "added"],
      [addPermanent("192.0.2.1"), "conflict"],
      [deletePermanent("192.0.2.2"), "absent"],
      [addTemporary("2001:db8::/48", { ttlSeconds: 60, reason }), "added"],
      [addTemporary("2001:db8::/48", { ttlSeconds: 90 }), "replaced"],
      [expireTemporary("2001:db8::/48", end), "absent"],
      [expireTemporary("2001:db8::/48", NOW + 90_000), "removed"],
      [deleteTemporary("2001:db8::/48"), "absent"],
      [deletePermanent("192.0.2.1"), "removed"],
      [addPermanent("192.0.2.1", { at: NOW + 1 }), "added"],
      [addTemporary("192.0.2.1", { reason }), "added"],
    ]
    const { before, after, outcomes } = write(0, ...group.map(([change]) => change))
    expect(outcomes).toEqual(group.map(([, outcome]) => outcome) as typeof outcomes)
    const told = group.filter(([, outcome]) => ["added", "replaced", "removed"].includes(outcome))
    expect({ before, after }).toEqual({ before: 0, after: told.length })
    const { rows } = connection.execute(auditSlice({ after: 0, limit: 100 }))
    expect(rows.map(toAuditRecord)).toEqual(told.map(([change]) => recordOf(change)))
    expect(rows.map(({ id }) => id)).toEqual(told.map((_, i) => i + 1))
    expect(permanent()).toEqual(["192.0.2.1"])
    expect(temporary()).toEqual([{ ip: "192.0.2.1", expires_at: end, reason }])
  })

  test("without any effect leaves no row and no gap in the ids", () => {
    expect(write(0, addPermanent("192.0.2.1"))).toMatchObject({ before: 0, after: 1 })
    expect(write(1, addPermanent("192.0.2.1"), deleteTemporary("192.0.2.1"))).toEqual({
      before: 1,
      after: 1,
      outcomes: ["conflict", "absent"],
    })
    expect(write(1, deletePermanent("192.0.2.1"))).toMatchObject({ before: 1, after: 2 })
    expect(log()).toHaveLength(2)
  })

  test("names the token of each change, or none", () => {
    write(0, { ...addPermanent("192.0.2.1"), token: "deploy" } as Change, addPermanent("192.0.2.2"))
    expect(log().map(({ token }) => token)).toEqual(["deploy", null])
  })

  test("whose rows do not follow the newest one that is known is not written", () => {
    write(0, addPermanent("192.0.2.1"))
    let failure: unknown
    try {
      write(0, addPermanent("192.0.2.2"), deletePermanent("192.0.2.1"))
    } catch (cause) {
      failure = cause
    }
    expect(String(failure)).toContain("the newest record is 3 in place of 2")
    // Not one of ours: what the file holds is asked before the next change.
    expect(failure).not.toBeInstanceOf(GateError)
    expect(permanent()).toEqual(["192.0.2.1"])
    expect(log()).toHaveLength(1)
  })
})
