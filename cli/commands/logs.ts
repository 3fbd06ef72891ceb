// ipgate logs: what happened to the two lists, newest first, or as it happens.

import { Command, Option } from "commander"
import {
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditDetail,
  type AuditQuery,
  type AuditRecord,
} from "../../src/core/audit.ts"
import { formatDuration } from "../../src/core/duration.ts"
import { explainNetwork } from "../../src/core/explain.ts"
import type { Gate } from "../../src/core/gate.ts"
import { Network } from "../../src/core/network.ts"
import { LARGEST_LIMIT } from "../../src/core/page.ts"
import { quoted } from "../../src/core/printable.ts"
import { keepFollowing } from "../../src/gate/keep-following.ts"
import { auditDetailToJson, auditRecordToJson } from "../../src/wire/answers.ts"
import type { CommandEnv } from "../command-env.ts"
import { UsageError } from "../exit.ts"
import { newestRows } from "../newest-rows.ts"
import { readSince, shortTime } from "../times.ts"

type Options = {
  action?: AuditAction
  ip?: string
  since?: string
  limit?: string
  follow?: boolean
  wide?: boolean
}
type Filter = Pick<AuditQuery, "action" | "network">

const DEFAULT_ROWS = 50
const ENDED: AuditAction = "expire_temp"
const TITLES = ["TIME", "ACTION", "IP", "TTL", "CLIENT", "REASON"]
const WIDE_TITLES = ["ID", "TIME", "ACTION", "IP", "TTL", "CLIENT", "TOKEN", "REASON"]

export function logsCommand(env: CommandEnv): Command {
  return new Command("logs")
    .summary("show the audit log")
    .description("Show what happened to the lists, newest first.")
    .addOption(new Option("--action <action>", "only this action").choices([...AUDIT_ACTIONS]))
    .option("--ip <ip|cidr>", "only this entry, in any spelling")
    .option("--since <time>", "only since a time, or for the last 4h")
    .option("-n, --limit <count>", `at most so many rows (default ${DEFAULT_ROWS}, with --since all)`)
    .option("--wide", "also show the id of each row, and the name of the token that did it")
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
      if (options.follow && options.since !== undefined) {
        throw new UsageError(
          "--follow and --since exclude each other",
          "with --follow, -n says how many earlier rows to show",
        )
      }
      if (options.follow && options.wide) {
        throw new UsageError(
          "--follow and --wide exclude each other",
          "the stream of changes does not say with which token they were made",
        )
      }
      if (options.follow && env.options.offline) {
        throw new UsageError(
          "--follow shows the changes of a running server, and would keep it from its database",
          "leave out --offline, or leave out --follow",
        )
      }
      const filter = filterOf(options)
      const since = options.since === undefined ? null : readSince(options.since, env.process.clock.wall())
      const wanted = rowsOf(options)
      if (options.follow) {
        const tail = Math.min(wanted, LARGEST_LIMIT)
        return env.withGate((gate) => follow(env, gate, filter, tail))
      }
      return env.withGate(async (gate) => {
        const rows = await (since === null
          ? newest(gate, filter, wanted)
          : newestSince(gate, filter, wanted, since))
        if (env.out.isJson) env.out.json(rows.map(options.wide ? auditDetailToJson : auditRecordToJson))
        else if (options.wide) env.out.table(WIDE_TITLES, rows.map(wideRow))
        else env.out.table(TITLES, rows.map(row))
      })
    })
}

/** Up to `wanted` rows, newest first. */
async function newest(gate: Gate, filter: Filter, wanted: number): Promise<AuditDetail[]> {
  return Array.fromAsync(newestRows((page) => gate.auditDetail({ ...filter, ...page }), wanted))
}

/**
 * The same, none from before `since`. The end of an entry has the time at which it ended, and may have been recorded
 * long after that: only a row of another action says that all behind it are older. So these are asked for in any case.
 */
async function newestSince(
  gate: Gate,
  { action, ...filter }: Filter,
  wanted: number,
  since: number,
): Promise<AuditDetail[]> {
  const asked: Filter = action === undefined || action === ENDED ? filter : { ...filter, action }
  const rows: AuditDetail[] = []
  for await (const row of newestRows((page) => gate.auditDetail({ ...asked, ...page }))) {
    if (rows.length === wanted || (row.at < since && row.action !== ENDED)) break
    if (row.at >= since && (action === undefined || row.action === action)) rows.push(row)
  }
  return rows
}

function filterOf({ action, ip }: Options): Filter {
  const network = ip === undefined ? undefined : Network.parse(ip)
  if (network === null) throw new UsageError(explainNetwork(ip ?? ""))
  return { ...(action === undefined ? {} : { action }), ...(network === undefined ? {} : { network }) }
}

function rowsOf({ limit, since }: Options): number {
  if (limit === undefined) return since === undefined ? DEFAULT_ROWS : Number.POSITIVE_INFINITY
  if (!/^[1-9][0-9]{0,8}$/.test(limit)) throw new UsageError(`${quoted(limit)} is no number of rows`)
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

function wideRow({ id, token, ...record }: AuditDetail): string[] {
  const cells = row(record)
  return [String(id), ...cells.slice(0, -1), token ?? "-", ...cells.slice(-1)]
}

/** Oldest first from here on, one line each, until the process is ended; through restarts of the server. */
async function follow(env: CommandEnv, gate: Gate, filter: Filter, tail: number): Promise<void> {
  const stopped = new AbortController()
  env.process.untilSignal(() => stopped.abort())
  env.process.untilUnwritable(() => stopped.abort())
  let lost = false
  const options = { start: { tail }, filter, signal: stopped.signal, sleep: env.process.sleep }
  for await (const event of keepFollowing(gate, options)) {
    if (event.kind === "lost") {
      if (!lost) env.out.warn("the server does not answer; waiting for it")
      lost = true
      continue
    }
    if (lost) env.out.warn("the server answers again")
    lost = false
    if (event.kind === "reload") {
      env.out.warn(
        "more has changed than can be shown one by one, by an import for example: see `ipgate logs`",
      )
    } else if (event.kind === "change") {
      if (env.out.isJson) env.out.json(auditRecordToJson(event.record))
      else env.out.line(row(event.record).join("  "))
    }
  }
}
