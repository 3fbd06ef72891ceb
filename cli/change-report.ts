// What a command that changes the lists tells: lines for people, one JSON document for programs.

import type { AuditAction } from "../src/core/audit.ts"
import type { ListName } from "../src/core/entry.ts"
import { GateError, type GateErrorCode } from "../src/core/errors.ts"
import type { Network } from "../src/core/network.ts"
import type { CommandEnv } from "./command-env.ts"
import { EXIT } from "./exit.ts"

/** What became of one target on one list. */
export type ChangeResult = {
  readonly ip: string
  readonly list: ListName | null
  readonly result: "added" | "replaced" | "unchanged" | "removed" | "absent" | "error"
  /** The audit record that was written. */
  readonly action: AuditAction | null
  readonly expires?: string | null
  readonly message?: string
  /** Members that only one command has. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** The same for people. */
  readonly line: string
  readonly warning?: string
}

const ENDS_THE_RUN: readonly GateErrorCode[] = ["unauthorized", "forbidden", "unavailable"]

/**
 * Tries the change on every target. One that the database refuses does not keep the others from being tried; a gate
 * that is out of reach, or refuses the token, ends the run.
 */
export async function eachTarget(
  networks: readonly Network[],
  change: (network: Network) => Promise<ChangeResult[]>,
): Promise<ChangeResult[]> {
  const results: ChangeResult[] = []
  for (const network of networks) {
    try {
      results.push(...(await change(network)))
    } catch (error) {
      if (!(error instanceof GateError) || ENDS_THE_RUN.includes(error.code)) throw error
      const ip = network.toString()
      const { message } = error
      results.push({ ip, list: null, result: "error", action: null, message, line: `${ip}: ${message}` })
    }
  }
  return results
}

export type ReportOptions = { readonly dryRun: boolean; readonly errorUnchanged: boolean }

/** Prints the results and sets the exit code: 1 if any failed, 3 if nothing changed and that was asked for. */
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
        ...(result.message === undefined ? {} : { message: result.message }),
        ...result.extra,
      })),
    })
  }
  for (const result of results) {
    if (result.result === "error") out.error(result.line)
    else out.line(dryRun && isChange(result) ? `would have ${result.line}` : result.line)
    if (result.warning !== undefined) out.warn(result.warning)
  }
  if (failed) exitWith(EXIT.failed)
  else if (!changed && errorUnchanged) exitWith(EXIT.unchanged)
}
