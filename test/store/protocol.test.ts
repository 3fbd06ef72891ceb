// Messages between the threads: what goes in comes out, after the copy that drops every method.

import { expect, test } from "bun:test"
import type { AuditQuery } from "../../src/core/audit.ts"
import type { Change } from "../../src/core/change.ts"
import {
  type ChangeMessage,
  fromChangeMessage,
  fromQueryMessage,
  toChangeMessage,
  toQueryMessage,
} from "../../src/store/protocol.ts"
import { network } from "../support/parsed.ts"
import {
  addPermanent,
  addTemporary,
  deletePermanent,
  deleteTemporary,
  expireTemporary,
  NOW,
  recordOf,
} from "./changes.ts"

const NETWORKS = ["10.0.0.0/8", "192.0.2.1", "0.0.0.0/0", "::/0", "2001:db8::/32", "::fffe:0:0/95", "::1"]

test.each(NETWORKS)("changes of %s", (ip) => {
  const nobody: Change = { op: "add_perm", network: network(ip), at: NOW, by: null }
  const changes = [
    addPermanent(ip),
    nobody,
    deletePermanent(ip),
    addTemporary(ip, { reason: "a visitor", ttlSeconds: 7 }),
    addTemporary(ip),
    deleteTemporary(ip),
    expireTemporary(ip, NOW),
  ]
  for (const change of changes) {
    const copy = fromChangeMessage(structuredClone(toChangeMessage(change)))
    expect(copy.network.equals(change.network)).toBe(true)
    expect(recordOf(copy)).toEqual(recordOf(change))
    expect(Object.keys(copy).sort()).toEqual(Object.keys(change).sort())
    if (change.op === "add_temp" || change.op === "expire_temp") {
      expect(copy).toMatchObject({ expiresAt: change.expiresAt })
    }
  }
})

test("audit queries, with and without filters", () => {
  const page = { limit: 3, offset: 7 }
  const queries: AuditQuery[] = [
    page,
    { ...page, action: "add_temp" },
    { ...page, network: network("2001:db8::/32") },
    { ...page, network: network("192.0.2.1"), action: "expire_temp" },
  ]
  for (const query of queries) {
    expect(fromQueryMessage<AuditQuery>(structuredClone(toQueryMessage(query)))).toEqual(query)
  }
})

test.each(["10.0.0.5/8", "any", ""])("text that is no network never passes for one: %p", (text) => {
  const change: ChangeMessage = { ...toChangeMessage(expireTemporary("192.0.2.1", NOW)), network: text }
  expect(() => fromChangeMessage(change)).toThrow("internal error")
  const query = { limit: 1, offset: 0, network: text }
  expect(() => fromQueryMessage<AuditQuery>(query)).toThrow("internal error")
})
