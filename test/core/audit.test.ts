// Audit actions: the five names of the service document, and no other text.

import { describe, expect, test } from "bun:test"
import { AUDIT_ACTIONS, AUDIT_LOG_ROWS, isAuditAction } from "../../src/core/audit.ts"

describe("isAuditAction", () => {
  test.each(["add_temp", "delete_temp", "add_perm", "delete_perm", "expire_temp"])("%s is one", (text) => {
    expect(isAuditAction(text)).toBe(true)
  })

  test.each([
    "",
    "expire_perm",
    "ADD_TEMP",
    "add_temp ",
    " add_temp",
    "add_temp\n",
    "add-temp",
    "add",
    "add_temp,add_perm",
    "add_t%",
    "0",
    "length",
    "toString",
    "__proto__",
    "constructor",
  ])("%j is none", (text) => {
    expect(isAuditAction(text)).toBe(false)
  })

  test("there are five, and the log keeps 200,000 rows", () => {
    expect(AUDIT_ACTIONS).toHaveLength(5)
    expect(AUDIT_LOG_ROWS).toBe(200_000)
  })
})
