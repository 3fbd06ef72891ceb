// A reload of `serve`: everything new is read and checked first, so a mistake leaves all of the old in force.

import type { ReloadRecord } from "../src/app/reload-record.ts"
import type { RunningServer } from "../src/app/running-server.ts"
import type { KeyOrigin } from "../src/config/config.ts"
import { CONFIG_KEYS } from "../src/config/keys.ts"
import type { Flags } from "../src/config/settings.ts"
import type { LevelledLog } from "../src/log/log.ts"
import type { CommandEnv } from "./command-env.ts"
import { readServerSettings } from "./server-settings.ts"

export type Reloaded = {
  readonly env: CommandEnv
  readonly flags: Flags
  /** What the server was started with. */
  readonly startedWith: readonly KeyOrigin[]
  readonly server: Pick<RunningServer, "apply">
  readonly log: LevelledLog
  readonly record: ReloadRecord
}

/** Synchronous, so that no request sees half of it. Returns what went wrong, or `null`. */
export function reload({ env, flags, startedWith, server, log, record }: Reloaded): string | null {
  const event = "config.reload"
  try {
    const { config, tokens, tokensFrom, origins, file } = readServerSettings(env, flags, "reload")
    const { trustedProxies, clientIpHeader, logRefusals, logLevel } = config
    server.apply({ tokens, trustedProxies, clientIpHeader, logRefusals })
    log.setLevel(logLevel)
    record.succeeded(env.process.clock.wall())
    log.notice("reloaded the configuration", { event, file, tokens: tokens.length, tokens_from: tokensFrom })
    const later = changedForRestart(startedWith, origins)
    if (later.length > 0) {
      log.warn(`${later.join(", ")}: changed, and takes effect with a restart`, { event, restart: later })
    }
    return null
  } catch (error) {
    record.failed()
    const message = error instanceof Error ? error.message : String(error)
    // A configuration with several mistakes has a line for each, and this is one line of the log.
    const problem = message.replaceAll(/\n\s*/g, "; ")
    log.error(`the reload failed, and the old configuration stays in force: ${problem}`, { event })
    return problem
  }
}

/** The keys that only a restart applies, and that differ from what the server was started with. */
function changedForRestart(before: readonly KeyOrigin[], after: readonly KeyOrigin[]): string[] {
  return CONFIG_KEYS.filter(({ takesEffect }) => takesEffect === "restart")
    .map(({ key }) => key)
    .filter((key) => textOf(before, key) !== textOf(after, key))
}

function textOf(origins: readonly KeyOrigin[], key: string): string {
  return JSON.stringify(origins.find((one) => one.key === key)?.value)
}
