// ipgate proxy: the configuration of a proxy, filled in for this installation.

import { Command } from "commander"
import { quoted } from "../../src/core/printable.ts"
import type { CommandEnv } from "../command-env.ts"
import { UsageError } from "../exit.ts"
import { PROXIES } from "../proxy/proxies.ts"
import type { ProxyTemplate } from "../proxy/proxy-template.ts"
import { caveat, listenerFor } from "../proxy/where.ts"

type Options = { listen?: string; clientIpHeader?: string; lua?: boolean }

const NAMES = PROXIES.map(({ name }) => name)

export function proxyCommand(env: CommandEnv): Command {
  return new Command("proxy")
    .summary("print a configuration for your proxy")
    .description(
      "Print a complete configuration for a proxy, filled in with the address and the identity header of this installation.",
    )
    .argument("<name>", NAMES.join(", "))
    .option("--listen <address>", "where the proxy asks ipgate, if not where the configuration says")
    .option("--client-ip-header <name>", "X-Real-IP or X-Forwarded-For, if not what the configuration says")
    .option("--lua", "print the script that the configuration of haproxy loads")
    .addHelpText(
      "before",
      `Examples:
  ipgate proxy nginx
  ipgate proxy caddy --listen unix:/run/ipgate/ipgate.sock
  ipgate proxy haproxy --lua
`,
    )
    .action((name: string, { listen: given, clientIpHeader, lua }: Options) => {
      const template = templateOf(name)
      const config = env.config({
        ...(given === undefined ? {} : { listen: [given] }),
        ...(clientIpHeader === undefined ? {} : { clientIpHeader }),
      })
      const listen = listenerFor(template, config.listen)
      const installation = { listen, header: config.clientIpHeader }
      const text = lua ? script(template)(installation) : template.configuration(installation)
      env.process.write(text)
      const remark = caveat(listen, config)
      if (remark !== null) env.out.warn(remark)
    })
}

function templateOf(name: string): ProxyTemplate {
  const template = PROXIES.find((one) => one.name === name.toLowerCase())
  if (template !== undefined) return template
  throw new UsageError(`no configuration for ${quoted(name)}`, `known are ${NAMES.join(", ")}`)
}

function script({ name, script }: ProxyTemplate) {
  if (script !== undefined) return script.text
  throw new UsageError(`--lua goes with haproxy: ${name} needs no script`)
}
