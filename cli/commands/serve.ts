// ipgate serve: the server, in the foreground.

import { Command } from "commander"
import { type Config, ConfigError } from "../../src/config.ts"
import { lineLog } from "../../src/log.ts"
import { checkToken, makeTokenFile, readTokenFile, TokenError } from "../../src/token-file.ts"
import type { CommandEnv } from "../command-env.ts"
import { EXIT, ServeConfigError } from "../exit.ts"

type Options = {
  listen?: string[]
  trustedProxies?: string[]
  clientIpHeader?: string
  socketMode?: string
  socketGroup?: string
  check?: boolean
}

export function serveCommand(env: CommandEnv): Command {
  return new Command("serve")
    .summary("run the server")
    .description(
      "Run the server in the foreground, on its own database. On the first start it makes an API token.",
    )
    .option("--listen <address...>", "host:port or unix:/path; several are possible (default 127.0.0.1:8765)")
    .option("--trusted-proxies <network...>", "who may name the client; default: this machine")
    .option("--client-ip-header <name>", "X-Real-IP (default) or X-Forwarded-For")
    .option("--socket-mode <mode>", "the rights on a unix socket (default 0660)")
    .option("--socket-group <name>", "the group of a unix socket: who else may ask")
    .option("--check", "check the configuration and the token, and do not start")
    .addHelpText(
      "before",
      `Examples:
  ipgate serve
  ipgate serve --listen 127.0.0.1:9000 --db file:/srv/ipgate/ipgate.db
  ipgate serve --listen 0.0.0.0:8765 --trusted-proxies 192.0.2.10
`,
    )
    .action(async (options: Options) => {
      const { config, tokens, madeTokenAt } = prepare(env, options)
      if (options.check) {
        env.out.line("the configuration is valid")
        return
      }
      const { clock, writeError } = env.process
      const log = lineLog(writeError, clock)
      if (madeTokenAt !== null) log.info(`made an API token in ${madeTokenAt}`)
      const { startServer } = await import("../../src/app/server.ts")
      const server = await startServer(config, tokens, clock, log)
      await stopSignal(env, log)
      await server.stop()
      log.info("stopped")
    })
}

type Prepared = { config: Config; tokens: string[]; madeTokenAt: string | null }

/** Everything that can be wrong before the start is exit code 78: a supervisor must not try again. */
function prepare(env: CommandEnv, { check, ...flags }: Options): Prepared {
  try {
    const config = env.config(flags)
    if (config.tokenFile !== null)
      return { config, tokens: readTokenFile(config.tokenFile), madeTokenAt: null }
    if (config.token !== null) {
      checkToken(config.token, "IPGATE_TOKEN")
      return { config, tokens: [config.token], madeTokenAt: null }
    }
    const path = `${config.stateDirectory}/api-token`
    const made = !check && makeTokenFile(path)
    const tokens = check && env.process.readFile(path) === null ? [] : readTokenFile(path)
    return { config, tokens, madeTokenAt: made ? path : null }
  } catch (error) {
    if (error instanceof ConfigError || error instanceof TokenError) {
      throw new ServeConfigError(error.message, { cause: error })
    }
    throw error
  }
}

/** Fulfilled by the first SIGTERM or SIGINT; the second one ends the process at once. */
function stopSignal({ process }: CommandEnv, log: ReturnType<typeof lineLog>): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false
    process.untilSignal((signal) => {
      if (signal === "SIGHUP") {
        log.warn("SIGHUP changes nothing: restart to apply a new configuration or token")
      } else if (stopping) {
        process.exitNow(EXIT.failed)
      } else {
        stopping = true
        log.info(`stopping on ${signal}`)
        resolve()
      }
    })
  })
}
