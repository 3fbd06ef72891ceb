// ipgate logs: what happened to the two lists, newest first, or as it happens.

import { Command, Option } from "commander"
import { AUDIT_ACTIONS, type AuditAction, type AuditQuery, type AuditRecord } from "../../src/core/audit.ts"
import { formatDuration } from "../../src/core/duration.ts"
import { explainNetwork } from "../../src/core/explain.ts"
import type { Gate } from "../../src/core/gate.ts"
import { Network } from "../../src/core/network.ts"
import { LARGEST_LIMIT } from "../../src/core/page.ts"
import { auditRecordToJson } from "../../src/wire/codec.ts"
import type { CommandEnv } from "../command-env.ts"
import { UsageError } from "../exit.ts"
import { eachRow } from "../pages.ts"
import { readSince, shortTime } from "../times.ts"

type Options = { action?: AuditAction; ip?: string; since?: string; limit?: string; follow?: boolean }
type Filter = Pick<AuditQuery, "action" | "network">

const DEFAULT_ROWS = 50
const FOLLOW_INTERVAL = 1_000
const TITLES = ["TIME", "ACTION", "IP", "TTL", "CLIENT", "REASON"]

export function logsCommand(env: CommandEnv): Command {
  return new Command("logs")
    .summary("show the audit log")
    .description("Show what happened to the lists, newest first.")
    .addOption(new Option("--action <action>", "only this action").choices([...AUDIT_ACTIONS]))
    .option("--ip <ip|cidr>", "only this entry, in any spelling")
    .option("--since <time>", "only since a time, or for the last 4h")
    .option("-n, --limit <count>", `at most so many rows (default ${DEFAULT_ROWS}, with --since all)`)
    .option("-f, --follow", "go on, and show each change as it happens")
    .addHelpText(
      "before",
      `Examples:
  ipgate logs -n 20
  ipgate logs --since 4h --action expire_temp
  ipgate logs --ip 203.0.113.7 --json
`,
    )
    .action(async (options: Options) => {
      const filter = filterOf(options)
      const since = options.since === undefined ? null : readSince(options.since, env.process.clock.wall())
      const wanted = rowsOf(options)
      await env.withGate(async (gate) => {
        const records: AuditRecord[] = []
        for await (const record of eachRow((page) => gate.audit({ ...filter, ...page }), wanted)) {
          if (since !== null && record.at < since) break
          records.push(record)
        }
        if (!options.follow) {
          if (env.out.isJson) env.out.json(records.map(auditRecordToJson))
          else env.out.table(TITLES, records.map(row))
          return
        }
        await follow(env, gate, filter, records)
      })
    })
}

function filterOf({ action, ip }: Options): Filter {
  const network = ip === undefined ? undefined : Network.parse(ip)
  if (network === null) throw new UsageError(explainNetwork(ip ?? ""))
  return { ...(action === undefined ? {} : { action }), ...(network === undefined ? {} : { network }) }
}

function rowsOf({ limit, since }: Options): number {
  if (limit === undefined) return since === undefined ? DEFAULT_ROWS : Number.POSITIVE_INFINITY
  if (!/^[1-9][0-9]{0,8}$/.test(limit)) throw new UsageError(`"${limit}" is no number of rows`)
  return Number(limit)
}

function row({ at, action, ip, ttlSeconds, actor, reason }: AuditRecord): string[] {
  return [
    shortTime(at),
    action,
    ip ?? "-",
    ttlSeconds === null ? "-" : formatDuration(ttlSeconds),
    actor ?? "-",
    reason ?? "-",
  ]
}

/** Oldest first from here on, one line each, until the process is ended. */
async function follow(
  env: CommandEnv,
  gate: Gate,
  filter: Filter,
  first: readonly AuditRecord[],
): Promise<never> {
  const show = (records: readonly AuditRecord[]) => {
    for (const record of records.toReversed()) {
      if (env.out.isJson) env.out.json(auditRecordToJson(record))
      else env.out.line(row(record).join("  "))
    }
  }
  show(first)
  let known = first
  for (;;) {
    await env.process.sleep(FOLLOW_INTERVAL)
    const newest = await gate.audit({ ...filter, limit: LARGEST_LIMIT, offset: 0 })
    show(newest.slice(0, unseen(newest, known)))
    known = newest
  }
}

/** How many rows at the head of `newest` come before the first place where it goes on as `known` does. */
function unseen(newest: readonly AuditRecord[], known: readonly AuditRecord[]): number {
  const texts = newest.map((record) => JSON.stringify(record))
  const tail = known.map((record) => JSON.stringify(record))
  for (let start = 0; start < texts.length; start++) {
    if (texts.slice(start).every((text, i) => i >= tail.length || text === tail[i])) return start
  }
  return texts.length
}
