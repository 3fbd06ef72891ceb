// ipgate deny: take entries off the lists, and say what still lets the address in.

import { Command } from "commander"
import type { ListName } from "../../src/core/entry.ts"
import { GateError } from "../../src/core/errors.ts"
import type { Gate, Match } from "../../src/core/gate.ts"
import type { Network } from "../../src/core/network.ts"
import { matchToJson } from "../../src/wire/answers.ts"
import { type ChangeResult, eachTarget, reportChanges } from "../change-report.ts"
import type { CommandEnv } from "../command-env.ts"
import { UsageError } from "../exit.ts"
import { isListed } from "../is-listed.ts"
import { readTargets } from "../targets.ts"

type Options = { temp?: boolean; perm?: boolean; dryRun?: boolean; errorUnchanged?: boolean }

const NAMES = { perm: "the permanent list", temp: "the temporary list" } as const

export function denyCommand(env: CommandEnv): Command {
  return new Command("deny")
    .summary("take addresses or networks off the lists")
    .description(
      "Take addresses or networks off the lists. Whatever is on no list is denied already: this removes entries " +
        "that allow, and says which other entry still lets the address in. A network is the entry with that name: " +
        "entries inside it stay.",
    )
    .argument("<ip|cidr...>", "addresses or networks; - reads them from standard input, one a line")
    .option("--temp", "only from the temporary list")
    .option("--perm", "only from the permanent list")
    .option("--dry-run", "say what would be done, and do nothing")
    .option("--error-unchanged", "exit with 3 if nothing had to be changed")
    .addHelpText(
      "before",
      `Examples:
  ipgate deny 203.0.113.7
  ipgate deny 192.0.2.0/28 --perm
`,
    )
    .action(async (texts: string[], options: Options) => {
      if (options.temp && options.perm)
        throw new UsageError("--temp and --perm exclude each other", "leave both out for both lists")
      const lists: ListName[] = options.temp ? ["temp"] : options.perm ? ["perm"] : ["perm", "temp"]
      const networks = await readTargets(texts, env.process.readInput)
      const dryRun = options.dryRun === true
      const results = await env.withGate((gate) =>
        eachTarget(networks, (network) => deny(gate, network, lists, dryRun)),
      )
      reportChanges(env, results, { dryRun, errorUnchanged: options.errorUnchanged === true })
    })
}

/** Whether the target is still let in, as far as that is known. */
type Effect = Required<Pick<ChangeResult, "extra">> & Pick<ChangeResult, "warning">

const NOT_ASKED: Effect = { extra: { effective: null, matched_by: null } }

async function* deny(
  gate: Gate,
  network: Network,
  lists: readonly ListName[],
  dryRun: boolean,
): AsyncGenerator<ChangeResult> {
  const ip = network.toString()
  const removedFrom: ListName[] = []
  let effect = NOT_ASKED
  try {
    for (const list of lists) {
      const removed = dryRun
        ? isListed((await gate.check(network)).matches, network, list)
        : (await removeFrom(gate, network, list, lists)) === "removed"
      if (removed) removedFrom.push(list)
    }
    effect = await effectOf(gate, network, removedFrom)
  } catch (error) {
    yield* removals(ip, removedFrom, effect)
    throw error
  }
  if (removedFrom.length > 0) {
    yield* removals(ip, removedFrom, effect)
    return
  }
  const nowhere = `${ip} is not on ${lists.map((list) => NAMES[list]).join(" or ")}`
  // Whoever wants nobody of a network let in must not take this for it.
  const line = network.isAddress ? nowhere : `${nowhere}; entries inside it stay`
  yield { ip, list: null, result: "absent", action: null, line, ...effect }
}

async function effectOf(gate: Gate, network: Network, removedFrom: readonly ListName[]): Promise<Effect> {
  const ip = network.toString()
  const { matches } = await gate.check(network)
  // In a dry run the entries are still there: what stays is what would not have been removed.
  const still = matches.find((match) => match.ip !== ip || !removedFrom.includes(match.list))
  if (still === undefined) return { extra: { effective: "denied", matched_by: null } }
  return {
    extra: { effective: "allowed", matched_by: matchToJson(still) },
    warning: `${ip} is still allowed by ${describe(still)}`,
  }
}

function removals(
  ip: string,
  removedFrom: readonly ListName[],
  { extra, ...warning }: Effect,
): ChangeResult[] {
  return removedFrom.map((list, i) => ({
    ip,
    list,
    result: "removed",
    action: list === "perm" ? "delete_perm" : "delete_temp",
    extra,
    line: `removed ${ip} from ${NAMES[list]}`,
    ...(i === removedFrom.length - 1 ? warning : {}),
  }))
}

async function removeFrom(
  gate: Gate,
  network: Network,
  list: ListName,
  lists: readonly ListName[],
): Promise<"removed" | "absent"> {
  if (list === "temp") return gate.removeTemporary(network)
  try {
    return await gate.removePermanent(network)
  } catch (cause) {
    // A token may be good for temporary entries alone, and who typed no --perm does not think of the other list.
    if (!(cause instanceof GateError) || cause.code !== "forbidden" || !lists.includes("temp")) throw cause
    throw new GateError("forbidden", cause.message, {
      cause,
      hint: "without --temp, deny also means the permanent list",
    })
  }
}

function describe({ list, ip }: Match): string {
  return `${list === "perm" ? "permanent" : "temporary"} ${ip}`
}
