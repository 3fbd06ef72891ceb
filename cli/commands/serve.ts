// ipgate serve: the server, in the foreground.

import { Command } from "commander"
import { ReloadRecord } from "../../src/app/reload-record.ts"
import type { RunningServer } from "../../src/app/running-server.ts"
import { CONFIG_KEYS } from "../../src/config/keys.ts"
import { misspeltVariables } from "../../src/config/misspelt-variables.ts"
import type { Flags } from "../../src/config/settings.ts"
import type { Log } from "../../src/log/log.ts"
import { ServiceManager, watchdogInterval } from "../../src/systemd/service-manager.ts"
import type { CommandEnv } from "../command-env.ts"
import { EXIT } from "../exit.ts"
import { reload } from "../reload.ts"
import { serverLog } from "../server-log.ts"
import { checkServerSettings, readServerSettings } from "../server-settings.ts"
import { watchSignals } from "../server-signals.ts"

type Options = Flags & { readonly check?: boolean }

export function serveCommand(env: CommandEnv): Command {
  const command = new Command("serve")
    .summary("run the server")
    .description(
      "Run the server in the foreground, on its own database. On the first start it makes an API token.",
    )
  for (const { optionOf, option, description, fallback } of CONFIG_KEYS) {
    if (optionOf !== "serve") continue
    const isSaid = fallback !== null && fallback.length > 0
    command.option(option, `${description}${isSaid ? ` (default ${[fallback].flat().join(" ")})` : ""}`)
  }
  return command
    .option("--check", "check the configuration and the token, and do not start")
    .addHelpText(
      "before",
      `Examples:
  ipgate serve
  ipgate serve --listen 127.0.0.1:9000 --db file:/srv/ipgate/ipgate.db
  ipgate serve --listen 0.0.0.0:8765 --trusted-proxies 192.0.2.10
`,
    )
    .action(async ({ check, ...flags }: Options) => {
      if (check) {
        checkServerSettings(env, flags)
        env.out.line("the configuration is valid")
      } else await serve(env, flags)
    })
}

async function serve(env: CommandEnv, flags: Flags): Promise<void> {
  const { config, origins, tokens, madeTokenAt } = readServerSettings(env, flags, "start")
  const { process } = env
  const { log, flush } = serverLog(process, config)
  if (madeTokenAt !== null) log.info(`made an API token in ${madeTokenAt}`, { event: "token.create" })
  if (process.userId === 0) {
    log.warn("runs as root, which it does not need: give it a user of its own", { event: "server.root" })
  }
  for (const misspelt of misspeltVariables(process.environment))
    log.warn(misspelt, { event: "config.variable" })
  const signals = watchSignals(process, log)
  const manager = await openServiceManager(env, log)
  const { takeShortSlices } = await import("../../src/linux/short-slices.ts")
  if (!takeShortSlices())
    log.debug("decisions may wait for whole slices of a busy processor", { event: "server.start" })
  const { startServer } = await import("../../src/app/server.ts")
  const record = new ReloadRecord(process.clock.wall())
  const { processors } = process
  const server = await startServer({ ...config, processors }, tokens, process.clock, log, record)
  reportTo(manager, server, env)

  signals.onReload(() => {
    manager.reloading()
    const problem = reload({ env, flags, startedWith: origins, server, log, record })
    manager.ready(problem === null ? server.summary() : `the last reload failed: ${problem}`)
  })
  const why = await signals.stopped
  manager.stopping()
  await server.stop()
  log.info("stopped", { event: "server.stop" })
  manager.leave()
  await flush()
  if (why === "fault") env.exitWith(EXIT.failed)
}

/** systemd, if it has started this process; otherwise nobody. */
async function openServiceManager({ process }: CommandEnv, log: Log): Promise<ServiceManager> {
  if (process.environment.NOTIFY_SOCKET === undefined) return new ServiceManager()
  const { openSystemd } = await import("../../src/systemd/sd-notify.ts")
  const systemd = openSystemd()
  if (!("problem" in systemd)) return new ServiceManager(systemd)
  log.warn("systemd cannot be told that the server is ready: libsystemd.so.0 is missing", {
    event: "systemd.error",
    cause: systemd.problem,
  })
  return new ServiceManager()
}

function reportTo(manager: ServiceManager, server: RunningServer, { process }: CommandEnv): void {
  manager.ready(server.summary())
  const interval = watchdogInterval(process.environment, process.processId)
  if (interval !== null) manager.keepAlive(interval, () => server.summary())
}
