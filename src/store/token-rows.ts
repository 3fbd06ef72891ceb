// The table of the named tokens.

import type { StoredToken, TokenUse } from "../core/token.ts"
import type { Connection, Row, Statement } from "./connection.ts"
import { byteColumns, numberColumns, numberOrNull, textOf, textOrNull } from "./stored-columns.ts"
import type { Revoked } from "./token-store.ts"

const TOKENS: Statement = {
  sql: `SELECT ${byteColumns("name", "digest", "scope", "within")},
               ${numberColumns("max_ttl_seconds", "created_at", "expires_at", "last_used_at", "revoked_at")}
        FROM tokens ORDER BY tokens.name`,
  args: [],
}

export function readTokens(connection: Connection): StoredToken[] {
  return connection.execute(TOKENS).rows.map(toStoredToken)
}

/** Durable when it returns. */
export function insertToken(connection: Connection, token: StoredToken): "added" | "conflict" {
  const [inserted] = connection.batch([
    {
      sql: `INSERT INTO tokens (name, digest, scope, max_ttl_seconds, within, created_at, expires_at)
            VALUES (?, unhex(?), ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING`,
      args: [
        token.name,
        token.digest,
        token.scope,
        token.maxTtlSeconds,
        token.within,
        token.createdAt,
        token.expiresAt,
      ],
    },
  ])
  return inserted?.rowsAffected === 1 ? "added" : "conflict"
}

/** Durable when it returns. The first revocation is the one that is remembered. */
export function markRevoked(connection: Connection, name: string, at: number): Revoked {
  const [found, revoked] = connection.batch([
    { sql: "SELECT 1 FROM tokens WHERE name = ?", args: [name] },
    { sql: "UPDATE tokens SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL", args: [at, name] },
  ])
  if (revoked?.rowsAffected === 1) return "revoked"
  return found?.rows.length === 1 ? "unchanged" : "absent"
}

export function updateUses(connection: Connection, uses: readonly TokenUse[]): void {
  connection.batch(
    uses.map(({ name, at }) => ({
      sql: "UPDATE tokens SET last_used_at = ? WHERE name = ?",
      args: [at, name],
    })),
  )
}

function toStoredToken(row: Row): StoredToken {
  return {
    name: textOf(row.name),
    digest: row.digest instanceof ArrayBuffer ? Buffer.from(row.digest).toString("hex") : "",
    scope: textOf(row.scope),
    maxTtlSeconds: numberOrNull(row.max_ttl_seconds),
    within: textOrNull(row.within),
    createdAt: Number(row.created_at),
    expiresAt: numberOrNull(row.expires_at),
    lastUsedAt: numberOrNull(row.last_used_at),
    revokedAt: numberOrNull(row.revoked_at),
  }
}
