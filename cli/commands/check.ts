// ipgate check: is this address let in, by which entry, and for how long?

import { Command } from "commander"
import { coverageToJson } from "../../src/wire/answers.ts"
import type { CommandEnv } from "../command-env.ts"
import { EXIT } from "../exit.ts"
import { readTargets } from "../targets.ts"
import { remaining } from "../times.ts"

export function checkCommand(env: CommandEnv): Command {
  return new Command("check")
    .summary("is an address let in, and by which entry?")
    .description(
      "Say whether addresses are let in, by which entry, and for how long. Exits with 1 if one is not.",
    )
    .argument("<ip...>", "addresses or networks; - reads them from standard input, one a line")
    .addHelpText(
      "before",
      `Examples:
  ipgate check 203.0.113.7
  ipgate check 203.0.113.7 --quiet && echo "let in"
`,
    )
    .action(async (texts: string[]) => {
      const networks = await readTargets(texts, env.process.readInput)
      const answers = await env.withGate((gate) =>
        Promise.all(networks.map(async (network) => ({ network, coverage: await gate.check(network) }))),
      )
      if (env.out.isJson)
        env.out.json(answers.map(({ network, coverage }) => coverageToJson(network, coverage)))
      const now = env.process.clock.wall()
      for (const { network, coverage } of answers) {
        const match = coverage.matches[0]
        if (match === undefined) env.out.line(`${network} denied: no entry contains it`)
        else if (match.expiresAt === null) env.out.line(`${network} allowed by permanent ${match.ip}`)
        else
          env.out.line(
            `${network} allowed by temporary ${match.ip} (${remaining(match.expiresAt, now)} left)`,
          )
      }
      if (answers.some(({ coverage }) => !coverage.allowed)) env.exitWith(EXIT.failed)
    })
}
