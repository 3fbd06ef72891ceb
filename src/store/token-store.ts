// The named tokens in the database.

import type { StoredToken, TokenUse } from "../core/token.ts"

/** What was wanted of a token that is named. `unchanged`: it was so before. */
export type Revoked = "revoked" | "unchanged" | "absent"

/** Rejects as `Store` does. */
export interface TokenStore {
  /** All of them, by name. */
  tokens(): Promise<StoredToken[]>
  /** `conflict` if the name is there, whether it counts or not: a name in the log means one token. */
  addToken(token: StoredToken): Promise<"added" | "conflict">
  revokeToken(name: string, at: number): Promise<Revoked>
  recordTokenUses(uses: readonly TokenUse[]): Promise<void>
}
