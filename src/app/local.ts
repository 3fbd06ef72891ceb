// The gate over the database itself, for the command line with --offline, while no server holds the file.

import { AUDIT_LOG_ROWS } from "../core/audit.ts"
import type { Clock } from "../core/clock.ts"
import type { Gate } from "../core/gate.ts"
import { OFFLINE } from "../core/principal.ts"
import type { TokenRegistry } from "../core/token.ts"
import { loadDriver } from "../store/load-driver.ts"
import { loadAllowlist } from "./load-allowlist.ts"
import { assembleWritePath } from "./write-path.ts"

/**
 * Makes the database if there is none, which `created` tells. Rejects with `unavailable` if a server holds it. `close`
 * gives it free at the latest with the process.
 */
export async function openLocalGate(
  path: string,
  clock: Clock,
): Promise<{ gate: Gate; tokens: TokenRegistry; created: boolean; close: () => Promise<void> }> {
  const { LibsqlStore } = await loadDriver()
  const store = new LibsqlStore({ path, auditRows: AUDIT_LOG_ROWS })
  const { created } = await store.open(clock.wall())
  const { allowlist } = await loadAllowlist(store, clock)
  const { gate, tokens } = await assembleWritePath(store, allowlist, clock, clock.mono())
  return {
    gate: gate.as(null, OFFLINE),
    tokens: tokens.as(null, OFFLINE),
    created,
    close: () => store.close(),
  }
}
