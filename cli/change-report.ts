// What a command that changes the lists tells: lines for people, one JSON document for programs.

import type { AuditAction } from "../src/core/audit.ts"
import type { ListName } from "../src/core/entry.ts"
import { GateError, type GateErrorCode } from "../src/core/errors.ts"
import type { Network } from "../src/core/network.ts"
import type { CommandEnv } from "./command-env.ts"
import { EXIT, failureOf } from "./exit.ts"

/** What became of one target on one list. */
export type ChangeResult = {
  readonly ip: string
  readonly list: ListName | null
  readonly result: "added" | "replaced" | "unchanged" | "removed" | "absent" | "error"
  /** The audit record that was written. */
  readonly action: AuditAction | null
  readonly expires?: string | null
  /** Of an error, as `hint`. */
  readonly message?: string
  readonly hint?: string | undefined
  /** Of an error that ended the run, so that nothing behind it was tried. */
  readonly exitCode?: number
  /** Members that only one command has. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** The same for people. */
  readonly line: string
  readonly warning?: string
}

const ENDS_THE_RUN: readonly GateErrorCode[] = ["unauthorized", "forbidden", "unavailable"]

/**
 * Tries the change on every target. One that the database refuses does not keep the others from being tried; a gate
 * that is out of reach, or refuses the token, ends the run. If nothing has come of any target before, it throws; else
 * the error is the last result, so that nobody takes what was done before for not done. For the same reason `change`
 * tells what it has done before it throws.
 */
export async function eachTarget(
  networks: readonly Network[],
  change: (network: Network) => AsyncIterable<ChangeResult>,
): Promise<ChangeResult[]> {
  const results: ChangeResult[] = []
  for (const [i, network] of networks.entries()) {
    try {
      for await (const result of change(network)) results.push(result)
    } catch (error) {
      if (!(error instanceof GateError)) throw error
      const ends = ENDS_THE_RUN.includes(error.code)
      if (ends && results.length === 0) throw error
      const ip = network.toString()
      const { message, hint, exitCode } = failureOf(error)
      const failed = { ip, list: null, result: "error", action: null, message, hint } as const
      if (!ends) {
        results.push({ ...failed, line: `${ip}: ${message}` })
        continue
      }
      const left = networks.length - i - 1
      const rest = left === 0 ? "" : ` (${left} more not tried)`
      results.push({ ...failed, exitCode, line: `${ip}: ${message}${rest}` })
      break
    }
  }
  return results
}

export type ReportOptions = { readonly dryRun: boolean; readonly errorUnchanged: boolean }

/** Prints the results and sets the exit code: that of an error that ended the run, 1 if any failed, 3 if nothing changed and that was asked for. */
export function reportChanges(
  { out, exitWith }: CommandEnv,
  results: readonly ChangeResult[],
  { dryRun, errorUnchanged }: ReportOptions,
): void {
  const isChange = ({ result }: ChangeResult) =>
    result === "added" || result === "replaced" || result === "removed"
  const changed = results.some(isChange)
  const failed = results.some(({ result }) => result === "error")
  if (out.isJson) {
    out.json({
      changed,
      dry_run: dryRun,
      results: results.map((result) => ({
        ip: result.ip,
        list: result.list,
        result: result.result,
        changed: isChange(result),
        action: result.action,
        ...(result.expires === undefined ? {} : { expires: result.expires }),
        ...(result.message === undefined ? {} : { message: result.message, hint: result.hint ?? null }),
        ...result.extra,
      })),
    })
  }
  for (const result of results) {
    if (result.result === "error") out.error(result.line, result.hint)
    else out.line(dryRun && isChange(result) ? `would have ${result.line}` : result.line)
    if (result.warning !== undefined) out.warn(result.warning)
  }
  if (failed) exitWith(results.at(-1)?.exitCode ?? EXIT.failed)
  else if (!changed && errorUnchanged) exitWith(EXIT.unchanged)
}
