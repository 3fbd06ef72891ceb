// What ends a server, and what makes it reload. Listens from before the start on, so no signal finds the default action.

import type { Log } from "../src/log/log.ts"
import type { ProcessEnv } from "./command-env.ts"
import { EXIT } from "./exit.ts"

export type ServerSignals = {
  /**
   * Fulfilled by the first SIGTERM or SIGINT, or by an error that nobody has caught: then nobody knows what state the
   * process is in, and a supervisor starts a new one. A second signal ends the process at once.
   */
  readonly stopped: Promise<"signal" | "fault">
  /** Calls `reload` for each SIGHUP from now on, and once for those that came before. */
  onReload(reload: () => void): void
}

export function watchSignals({ untilSignal, untilFault, exitNow }: ProcessEnv, log: Log): ServerSignals {
  const end = Promise.withResolvers<"signal" | "fault">()
  let stopping = false
  let isDue = false
  let reload: () => void = () => {
    isDue = true
  }
  untilSignal((signal) => {
    if (signal === "SIGHUP") {
      if (!stopping) reload()
    } else if (stopping) exitNow(EXIT.failed)
    else {
      stopping = true
      log.info(`stopping on ${signal}`, { event: "server.stop" })
      end.resolve("signal")
    }
  })
  untilFault((cause) => {
    log.error("an error that nobody has caught: stopping", { event: "server.fault", cause })
    stopping = true
    end.resolve("fault")
  })
  return {
    stopped: end.promise,
    onReload: (handle) => {
      reload = handle
      if (isDue && !stopping) reload()
    },
  }
}
