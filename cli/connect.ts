// On-line or off-line: which gate a command gets. There is no fallback from one to the other.

import { openRemoteGate, openRemoteTokens } from "../src/app/remote.ts"
import type { Config } from "../src/config/config.ts"
import type { Gate } from "../src/core/gate.ts"
import type { TokenRegistry } from "../src/core/token.ts"
import { clientToken } from "./client-token.ts"
import type { GlobalOptions, ProcessEnv } from "./command-env.ts"
import { UsageError } from "./exit.ts"

export type OpenGate = {
  readonly gate: Gate
  readonly tokens: TokenRegistry
  /** The database that was made because there was none: a name with a typing error, perhaps. */
  readonly madeDatabaseAt: string | null
  readonly close: () => Promise<void>
}

/** Throws `UsageError` for options that exclude each other. */
export async function connect(
  options: GlobalOptions,
  config: Config,
  process: ProcessEnv,
): Promise<OpenGate> {
  if (options.offline) {
    if (options.server !== undefined) throw new UsageError("--offline and --server exclude each other")
    const { openLocalGate } = await import("../src/app/local.ts")
    const { gate, tokens, created, close } = await openLocalGate(config.databasePath, process.clock)
    return { gate, tokens, madeDatabaseAt: created ? config.databasePath : null, close }
  }
  if (options.db !== undefined) {
    throw new UsageError(
      "--db goes with --offline: a running server has its own database",
      "add --offline, or use --server",
    )
  }
  const token = () => clientToken(config, process)
  return {
    gate: openRemoteGate(config.server, token),
    tokens: openRemoteTokens(config.server, token),
    madeDatabaseAt: null,
    close: async () => {},
  }
}
