// What an import would do to the lists as they are: for a dry run.

import { linesOf, linesOfPieces, parseEntryLine, parseExportedLine } from "../../src/core/entry-line.ts"
import type { Gate, ImportCounts } from "../../src/core/gate.ts"
import { shortTime } from "../times.ts"

export type Comparison = {
  readonly counts: ImportCounts
  /** A line for each entry that would be touched: `+` added, `~` replaced, `=` unchanged, `-` removed; temporary ones with their end. */
  readonly lines: readonly string[]
}

/** Reads the lists through an export, and changes nothing. */
export async function compare(
  gate: Gate,
  wanted: Uint8Array,
  now: number,
  prune: boolean,
): Promise<Comparison> {
  const permanent = new Set<string>()
  const temporary = new Set<string>()
  for await (const line of linesOfPieces(gate.export())) {
    const entry = parseExportedLine(line)
    if (typeof entry !== "string")
      (entry.until === null ? permanent : temporary).add(entry.network.toString())
  }
  const lines: string[] = []
  const counts = { added: 0, replaced: 0, unchanged: 0, removed: 0, duplicates: 0, ended: 0 }
  const seen = { permanent: new Set<string>(), temporary: new Set<string>() }
  for (const line of linesOf(wanted)) {
    const entry = parseEntryLine(line, now)
    if (typeof entry === "string") continue
    const { network, until } = entry
    const ip = network.toString()
    const mine = until === null ? seen.permanent : seen.temporary
    const held = until === null ? permanent : temporary
    if (until !== null && until <= now) counts.ended++
    else if (mine.has(ip)) counts.duplicates++
    else {
      mine.add(ip)
      const kind = !held.has(ip) ? "added" : until === null ? "unchanged" : "replaced"
      counts[kind]++
      const end = until === null ? "" : ` until ${shortTime(until)}`
      lines.push(`${{ added: "+", replaced: "~", unchanged: "=" }[kind]} ${ip}${end}`)
    }
  }
  if (prune) {
    for (const ip of permanent) {
      if (seen.permanent.has(ip)) continue
      counts.removed++
      lines.push(`- ${ip}`)
    }
  }
  return { counts, lines }
}
