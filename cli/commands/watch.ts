// ipgate watch: a screen that stays open, with what is open right now, who was refused, and what happens.

import { Command } from "commander"
import type { CommandEnv } from "../command-env.ts"
import { UsageError } from "../exit.ts"
import { listCommand } from "./list.ts"

const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

export function watchCommand(env: CommandEnv): Command {
  return new Command("watch")
    .summary("watch the gate on a screen that stays open")
    .description(
      "Watch the gate: temporary entries as they run out, clients that are refused, and the log. The keys let " +
        "somebody in, extend and remove; ? explains them. Without a terminal it prints the temporary list once.",
    )
    .addHelpText(
      "before",
      `Examples:
  ipgate watch
  ipgate watch --server unix:/run/ipgate/ipgate.sock
`,
    )
    .action(async () => {
      const { options, process, out } = env
      if (options.offline) {
        throw new UsageError(
          "watch shows a running server: an open screen would keep the server from its database",
          "leave out --offline, or use `ipgate list --offline`",
        )
      }
      const terminal = out.isJson || options.quiet ? null : (process.openTerminal?.() ?? null)
      if (terminal === null) {
        await listCommand(env).parseAsync(["--temp"], { from: "user" })
        return
      }
      await env.withGate(async (gate) => {
        // A wrong address or token is told as by any other command, before there is a screen.
        await gate.decisions()
        const { showScreen } = await import("../watch/screen.tsx")
        const stopped = new AbortController()
        process.untilSignal((signal) => {
          env.exitWith(128 + SIGNAL_NUMBERS[signal])
          stopped.abort()
        })
        await showScreen({
          gate,
          clock: process.clock,
          sleep: process.sleep,
          terminal,
          address: env.config().server,
          look: { isColoured: options.color !== false && !process.environment.NO_COLOR },
          signal: stopped.signal,
        })
      })
    })
}
