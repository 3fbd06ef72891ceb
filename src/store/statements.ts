// The SQL of the changes, of their audit rows, of the lists, and of the audit query.

import type { Family } from "../core/address.ts"
import type { AuditQuery } from "../core/audit.ts"
import type { Change, Outcome } from "../core/change.ts"
import type { ListName } from "../core/entry.ts"
import type { FeedFilter } from "../core/feed.ts"
import type { Page } from "../core/page.ts"
import type { Statement, Value } from "./connection.ts"
import { entryKey } from "./entry-key.ts"
import type { AuditSliceQuery, ImportOptions } from "./store.ts"
import { byteColumns, numberColumns } from "./stored-columns.ts"

/** What one change does to the lists, and how the numbers of rows that its statements affect tell what came of it. */
export type ListStatements = {
  readonly statements: readonly Statement[]
  readonly outcomeOf: (affected: readonly number[]) => Outcome
}

/** Whether there was something to change is asked by the change itself, so nothing can come between. */
export function listStatements(change: Change): ListStatements {
  const key = entryKey(change.network)
  switch (change.op) {
    case "add_perm":
      return {
        statements: [
          {
            sql: "INSERT INTO permanent (key, ip) VALUES (?, ?) ON CONFLICT DO NOTHING",
            args: [key, change.network.toString()],
          },
        ],
        outcomeOf: ([added]) => (added === 1 ? "added" : "conflict"),
      }
    case "delete_perm":
      return {
        statements: [{ sql: "DELETE FROM permanent WHERE key = ?", args: [key] }],
        outcomeOf: removal,
      }
    case "add_temp":
      return {
        statements: [
          { sql: "DELETE FROM temporary WHERE key = ?", args: [key] },
          {
            sql: "INSERT INTO temporary (key, ip, expires_at, reason) VALUES (?, ?, ?, ?)",
            args: [key, change.network.toString(), change.expiresAt, change.reason],
          },
        ],
        outcomeOf: ([removed]) => (removed === 1 ? "replaced" : "added"),
      }
    case "delete_temp":
      return {
        statements: [{ sql: "DELETE FROM temporary WHERE key = ?", args: [key] }],
        outcomeOf: removal,
      }
    case "expire_temp":
      return {
        statements: [
          { sql: "DELETE FROM temporary WHERE key = ? AND expires_at = ?", args: [key, change.expiresAt] },
        ],
        outcomeOf: removal,
      }
  }
}

function removal([removed]: readonly number[]): Outcome {
  return removed === 1 ? "removed" : "absent"
}

/** The audit rows of these changes, in their order, with the canonical text of each network. */
export function auditRowsOf(changes: readonly Change[]): Statement {
  const rows = changes.map((change) => {
    const { op, network, at } = change
    const [ttlSeconds, reason] = op === "add_temp" ? [change.ttlSeconds, change.reason] : [null, null]
    const [actor, token] = op === "expire_temp" ? [null, null] : who(change)
    // In the order of the columns below.
    return [at, op, network.toString(), ttlSeconds, reason, actor, token]
  })
  return {
    sql: `INSERT INTO audit (at, action, ip, ttl_seconds, reason, actor, token)
          SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6
          FROM json_each(?)`,
    args: [JSON.stringify(rows)],
  }
}

type Source = Pick<ImportOptions, "at" | "by" | "token">

/** The columns actor and token. */
function who({ by, token }: Pick<Source, "by" | "token">): [actor: string | null, token: string | null] {
  return [by === null ? null : by.toString(), token ?? null]
}

/** Records and removes, oldest first, every entry that ended at or before `now`, each with the moment it ended. */
export function expireEnded(now: number): Statement[] {
  return [
    {
      sql: `INSERT INTO audit (at, action, ip)
            SELECT expires_at, 'expire_temp', ip FROM temporary WHERE expires_at <= ? ORDER BY expires_at, key`,
      args: [now],
    },
    { sql: "DELETE FROM temporary WHERE expires_at <= ?", args: [now] },
  ]
}

/** Takes the entries with these hexadecimal keys off the permanent list, each with its audit row. */
export function removePermanentKeys(keys: readonly string[], source: Source): Statement[] {
  const json = JSON.stringify(keys)
  return [
    {
      sql: `INSERT INTO audit (at, action, ip, actor, token)
            SELECT ?, 'delete_perm', ip, ?, ? FROM permanent WHERE key IN (SELECT unhex(value) FROM json_each(?))`,
      args: [source.at, ...who(source), json],
    },
    { sql: "DELETE FROM permanent WHERE key IN (SELECT unhex(value) FROM json_each(?))", args: [json] },
  ]
}

export function listPermanent({ limit, offset }: Page): Statement {
  return {
    sql: `SELECT ${byteColumns("ip")} FROM permanent ORDER BY key LIMIT ? OFFSET ?`,
    args: [limit, offset],
  }
}

export function listTemporary({ limit, offset }: Page, now: number): Statement {
  return {
    sql: `SELECT ${byteColumns("ip", "reason")}, ${numberColumns("expires_at")} FROM temporary
          WHERE temporary.expires_at > ? ORDER BY temporary.expires_at, key LIMIT ? OFFSET ?`,
    args: [now, limit, offset],
  }
}

export function auditRows({ limit, offset, ...filter }: AuditQuery): Statement {
  const { where, args } = auditFilter(filter, [])
  return {
    sql: `${AUDIT_COLUMNS} ${where} ORDER BY id DESC LIMIT ? OFFSET ?`,
    args: [...args, limit, offset],
  }
}

/** With `after` ascending, without it the newest first. */
export function auditSlice({ after, limit, ...filter }: AuditSliceQuery): Statement {
  const { where, args } = auditFilter(filter, after === null ? [] : [["id > ?", after]])
  const order = after === null ? "DESC" : "ASC"
  return { sql: `${AUDIT_COLUMNS} ${where} ORDER BY id ${order} LIMIT ?`, args: [...args, limit] }
}

/** The id of the oldest row, or 0. */
export const OLDEST: Statement = { sql: "SELECT coalesce(min(id), 0) AS oldest FROM audit", args: [] }

const AUDIT_COLUMNS = `SELECT id, ${numberColumns("at", "ttl_seconds")},
  ${byteColumns("action", "ip", "reason", "actor", "token")} FROM audit`

type Condition = readonly [sql: string, argument: Value]

function auditFilter({ action, network }: FeedFilter, more: readonly Condition[]) {
  const conditions: Condition[] = [...more]
  if (action !== undefined) conditions.push(["audit.action = ?", action])
  if (network !== undefined) conditions.push(["audit.ip = ?", network.toString()])
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.map(([sql]) => sql).join(" AND ")}`
  return { where, args: conditions.map(([, argument]) => argument) }
}

/** As a literal: `char(10)` would be worked out anew for each row. */
const LINE_FEED = "'\n'"

/**
 * One chunk of a list as a single row, because one row for 50,000 entries crosses the driver far faster than 50,000
 * rows: how many entries of one family follow the key `after`, `rows` at most; their keys, one behind the other; their
 * texts and, on the temporary list, their ends in milliseconds, each on a line of its own and in the order of the keys.
 * As blobs, because the driver cuts a text at its first zero.
 */
export function snapshotChunk(list: ListName, family: Family, after: Uint8Array, rows: number): Statement {
  const table = list === "perm" ? "permanent" : "temporary"
  const ends = list === "perm" ? "" : `, CAST(group_concat(expires_at, ${LINE_FEED}) AS BLOB) AS ends`
  return {
    sql: `SELECT count(*) AS count, CAST(group_concat(key, '') AS BLOB) AS keys,
                 CAST(group_concat(ip, ${LINE_FEED}) AS BLOB) AS texts ${ends}
          FROM (SELECT * FROM ${table} WHERE key > ? AND key < ? ORDER BY key LIMIT ?)`,
    args: [after, new Uint8Array([family + 1]), rows],
  }
}

/** Hexadecimal key and canonical text. */
export type PermanentRow = readonly [key: string, ip: string]
export type TemporaryRow = readonly [
  key: string,
  ip: string,
  until: number,
  ttlSeconds: number,
  reason: string | null,
]

/** Puts many rows on the permanent list; the second statement affects those that were not there. */
export function addPermanentRows(rows: readonly PermanentRow[], source: Source): Statement[] {
  const json = JSON.stringify(rows)
  return [
    {
      sql: `INSERT INTO audit (at, action, ip, actor, token)
            SELECT ?, 'add_perm', value ->> 1, ?, ? FROM json_each(?)
            WHERE NOT EXISTS (SELECT 1 FROM permanent WHERE key = unhex(value ->> 0))`,
      args: [source.at, ...who(source), json],
    },
    {
      sql: `INSERT INTO permanent (key, ip)
            SELECT unhex(value ->> 0), value ->> 1 FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`,
      args: [json],
    },
  ]
}

/** Puts many rows on the temporary list; the second statement affects those that are replaced. */
export function addTemporaryRows(rows: readonly TemporaryRow[], source: Source): Statement[] {
  const json = JSON.stringify(rows)
  return [
    {
      sql: `INSERT INTO audit (at, action, ip, ttl_seconds, reason, actor, token)
            SELECT ?, 'add_temp', value ->> 1, value ->> 3, value ->> 4, ?, ? FROM json_each(?)`,
      args: [source.at, ...who(source), json],
    },
    { sql: "DELETE FROM temporary WHERE key IN (SELECT unhex(value ->> 0) FROM json_each(?))", args: [json] },
    {
      sql: `INSERT INTO temporary (key, ip, expires_at, reason)
            SELECT unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 4 FROM json_each(?)`,
      args: [json],
    },
  ]
}
