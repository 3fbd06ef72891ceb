// ipgate list: what is on the two lists.

import { Command } from "commander"
import { toTime } from "../../src/wire/answers.ts"
import type { CommandEnv } from "../command-env.ts"
import { UsageError } from "../exit.ts"
import { remaining, shortTime } from "../times.ts"
import { permanentList, temporaryList, wholeList } from "../whole-list.ts"

export function listCommand(env: CommandEnv): Command {
  return new Command("list")
    .summary("show the two lists")
    .description("Show the permanent list, and the temporary one with the soonest to end first.")
    .option("--temp", "only the temporary list")
    .option("--perm", "only the permanent list")
    .addHelpText(
      "before",
      `Examples:
  ipgate list
  ipgate list --temp --json
`,
    )
    .action(async (options: { temp?: boolean; perm?: boolean }) => {
      if (options.temp && options.perm)
        throw new UsageError("--temp and --perm exclude each other", "leave both out for both lists")
      const { permanent, temporary } = await env.withGate(async (gate) => ({
        permanent: options.temp ? [] : (await wholeList(permanentList(gate))).rows,
        temporary: options.perm ? [] : (await wholeList(temporaryList(gate))).rows,
      }))
      if (env.out.isJson) {
        env.out.json([
          ...permanent.map(({ ip }) => ({ list: "perm", ip, expires: null, reason: null })),
          ...temporary.map(({ ip, expiresAt, reason }) => ({
            list: "temp",
            ip,
            expires: toTime(expiresAt),
            reason,
          })),
        ])
        return
      }
      const now = env.process.clock.wall()
      env.out.table(
        ["LIST", "IP", "EXPIRES", "REMAINING", "REASON"],
        [
          ...permanent.map(({ ip }) => ["perm", ip, "-", "-", "-"]),
          ...temporary.map(({ ip, expiresAt, reason }) => [
            "temp",
            ip,
            shortTime(expiresAt),
            remaining(expiresAt, now),
            reason || "-",
          ]),
        ],
      )
    })
}
