// ipgate status: does the server run, does its database work, and how much is on the lists?

import { Command } from "commander"
import { GateError } from "../../src/core/errors.ts"
import type { Status } from "../../src/core/status.ts"
import { statusToJson } from "../../src/wire/answers.ts"
import type { CommandEnv } from "../command-env.ts"
import { EXIT } from "../exit.ts"
import { readDuration } from "../times.ts"

const RETRY_INTERVAL = 100

export function statusCommand(env: CommandEnv): Command {
  return new Command("status")
    .summary("is the server well?")
    .description(
      "Say whether the server runs and its database works. Needs no token. Exits with 1 if degraded.",
    )
    .option("--wait <duration>", "wait so long for a server that answers and is well")
    .addHelpText(
      "before",
      `Examples:
  ipgate status
  ipgate status --wait 10s --quiet
`,
    )
    .action(async (options: { wait?: string }) => {
      const wait = options.wait === undefined ? 0 : readDuration(options.wait) * 1000
      const status = await askUntil(env, env.process.clock.mono() + wait)
      if (env.out.isJson) env.out.json(statusToJson(status))
      env.out.line(`ipgate   ${status.status}, up ${status.uptime}`)
      env.out.line(`lists    ${status.permanentCount} permanent, ${status.temporaryCount} temporary`)
      env.out.line(`db       ${status.databaseOk ? "ok" : "does not work: changes fail, decisions go on"}`)
      if (status.status !== "ok") env.exitWith(EXIT.failed)
    })
}

async function askUntil(env: CommandEnv, deadline: number): Promise<Status> {
  for (;;) {
    const last = env.process.clock.mono() >= deadline
    try {
      const status = await env.withGate((gate) => gate.status())
      if (status.status === "ok" || last) return status
    } catch (error) {
      if (last || !(error instanceof GateError) || error.code !== "unavailable") throw error
    }
    await env.process.sleep(RETRY_INTERVAL)
  }
}
