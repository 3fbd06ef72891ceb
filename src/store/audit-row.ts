// Rows of the audit log, as the rest of the product has them.

import { type AuditDetail, type AuditRecord, isAuditAction } from "../core/audit.ts"
import { GateError } from "../core/errors.ts"
import type { Row } from "./connection.ts"
import { numberOrNull, textOf, textOrNull } from "./stored-columns.ts"

/** Throws `failed` for a row that no version of ours has written. */
export function toAuditRecord(row: Row): AuditRecord {
  const action = textOf(row.action)
  if (!isAuditAction(action))
    throw new GateError("failed", "database failure: the log has a row of unknown action")
  return {
    at: Number(row.at),
    action,
    ip: textOrNull(row.ip),
    ttlSeconds: numberOrNull(row.ttl_seconds),
    reason: textOrNull(row.reason),
    actor: textOrNull(row.actor),
  }
}

export function toAuditDetail(row: Row): AuditDetail {
  return { id: Number(row.id), ...toAuditRecord(row), token: textOrNull(row.token) }
}
