// ipgate allow: let addresses and networks in, for good or for a time.

import { Command } from "commander"
import { formatDuration } from "../../src/core/duration.ts"
import { explainReason } from "../../src/core/entry.ts"
import { GateError } from "../../src/core/errors.ts"
import type { Gate, Match } from "../../src/core/gate.ts"
import type { Network } from "../../src/core/network.ts"
import { toTime } from "../../src/wire/answers.ts"
import { type ChangeResult, eachTarget, reportChanges } from "../change-report.ts"
import type { CommandEnv } from "../command-env.ts"
import { UsageError } from "../exit.ts"
import { isListed } from "../is-listed.ts"
import { readTargets } from "../targets.ts"
import { readTtl, readUntil, shortTime } from "../times.ts"
import { explainWide } from "../wide-network.ts"

type Options = {
  ttl?: string
  until?: string
  reason?: string
  dryRun?: boolean
  force?: boolean
  errorUnchanged?: boolean
}

/** What shall be done with each target. */
type Plan = { readonly ttlSeconds: number | null; readonly reason: string | null; readonly dryRun: boolean }

export function allowCommand(env: CommandEnv): Command {
  return new Command("allow")
    .summary("let addresses or networks in")
    .description("Let addresses or networks in: permanently, or with --ttl or --until for a time.")
    .argument("<ip|cidr...>", "addresses or networks; - reads them from standard input, one a line")
    .option("-t, --ttl <duration>", "for how long: 90s, 30m, 8h, 1h30m, 7d")
    .option("--until <time>", "until when: 2026-11-21T18:00:00Z, 2026-11-21 18:00, or 18:00")
    .option("-r, --reason <text>", "why; with --ttl or --until")
    .option("--dry-run", "say what would be done, and do nothing")
    .option("--force", "allow a network wider than /8 (IPv4) or /32 (IPv6)")
    .option("--error-unchanged", "exit with 3 if nothing had to be changed")
    .addHelpText(
      "before",
      `Examples:
  ipgate allow 203.0.113.7 --ttl 8h -r "on call"
  ipgate allow 192.0.2.0/28 2001:db8:1::/64
  ipgate allow - --ttl 1d < addresses.txt
`,
    )
    .action(async (texts: string[], options: Options) => {
      const plan = planOf(options, env.process.clock.wall())
      const networks = await readTargets(texts, env.process.readInput)
      refuseWide(networks, options.force === true)
      const results = await env.withGate((gate) =>
        eachTarget(networks, async function* (network) {
          yield await allow(gate, network, plan)
        }),
      )
      reportChanges(env, results, { dryRun: plan.dryRun, errorUnchanged: options.errorUnchanged === true })
    })
}

function planOf(options: Options, now: number): Plan {
  if (options.ttl !== undefined && options.until !== undefined) {
    throw new UsageError("--ttl and --until exclude each other")
  }
  const ttlSeconds =
    options.ttl !== undefined
      ? readTtl(options.ttl)
      : options.until !== undefined
        ? readUntil(options.until, now)
        : null
  if (options.reason !== undefined && ttlSeconds === null) {
    throw new UsageError("--reason belongs to a temporary entry", "add --ttl or --until")
  }
  const fault = options.reason === undefined ? null : explainReason(options.reason)
  if (fault !== null) throw new UsageError(fault)
  return { ttlSeconds, reason: options.reason || null, dryRun: options.dryRun === true }
}

function refuseWide(networks: readonly Network[], force: boolean): void {
  if (force) return
  for (const network of networks) {
    const why = explainWide(network)
    if (why !== null) throw new UsageError(why, "add --force if you mean it")
  }
}

async function allow(
  gate: Gate,
  network: Network,
  { ttlSeconds, reason, dryRun }: Plan,
): Promise<ChangeResult> {
  const ip = network.toString()
  if (ttlSeconds === null) {
    const present = dryRun
      ? isListed((await gate.check(network)).matches, network, "perm")
      : await isConflict(gate.addPermanent(network))
    return present
      ? {
          ip,
          list: "perm",
          result: "unchanged",
          action: null,
          expires: null,
          line: `${ip} is already allowed permanently`,
        }
      : {
          ip,
          list: "perm",
          result: "added",
          action: "add_perm",
          expires: null,
          line: `allowed ${ip} permanently`,
        }
  }
  if (dryRun) {
    const { matches } = await gate.check(network)
    const result = isListed(matches, network, "temp") ? "replaced" : "added"
    return {
      ip,
      list: "temp",
      result,
      action: "add_temp",
      expires: null,
      line: `allowed ${ip} for ${formatDuration(ttlSeconds)}`,
      ...permanentBeside(network, matches),
    }
  }
  const { result, expiresAt } = await gate.addTemporary({ network, ttlSeconds, reason })
  const until = `until ${shortTime(expiresAt)} (${formatDuration(ttlSeconds)})`
  return {
    ip,
    list: "temp",
    result,
    action: "add_temp",
    expires: toTime(expiresAt),
    line: `allowed ${ip} ${until}${result === "replaced" ? ", in place of the earlier lifetime" : ""}${reason === null ? "" : `: ${reason}`}`,
    ...permanentBeside(network, await matchesNow(gate, network)),
  }
}

/** What is done stays done where it cannot be asked what else lets the network in; then there is nothing to warn of. */
async function matchesNow(gate: Gate, network: Network): Promise<readonly Match[]> {
  try {
    return (await gate.check(network)).matches
  } catch (error) {
    if (error instanceof GateError) return []
    throw error
  }
}

/** A warning where a permanent entry lets the same addresses in: there the end of a lifetime ends nothing. */
function permanentBeside(network: Network, matches: readonly Match[]): Pick<ChangeResult, "warning"> {
  const permanent = matches.find(({ list }) => list === "perm")
  if (permanent === undefined) return {}
  return { warning: `${network} is allowed by permanent ${permanent.ip} too, and stays so after that` }
}

async function isConflict(addition: Promise<unknown>): Promise<boolean> {
  try {
    await addition
    return false
  } catch (error) {
    if (error instanceof GateError && error.code === "conflict") return true
    throw error
  }
}
