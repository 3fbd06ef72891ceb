// Gives both lists out as entry lines, a piece at a time.

import { formatEntryLine } from "../core/entry-line.ts"
import { Network } from "../core/network.ts"
import { printable } from "../core/printable.ts"
import type { Connection } from "./connection.ts"
import { readList } from "./read-snapshot.ts"
import { readChunk } from "./snapshot.ts"
import { listTemporary } from "./statements.ts"
import { textOf } from "./stored-columns.ts"

const PIECE_ROWS = 20_000

/**
 * `receive` gets whole lines, each of which an import takes: a damaged row whose text is no network is left out, as it is
 * of the decisions. Nothing else is asked of the connection meanwhile, so the state is one.
 */
export function exportEntries(
  connection: Connection,
  now: number,
  receive: (lines: Uint8Array<ArrayBuffer>) => void,
): void {
  const encoder = new TextEncoder()
  const send = (lines: string) => receive(encoder.encode(`${lines}\n`))
  for (const family of [4, 6] as const) {
    readList(connection, "perm", family, (chunk) => {
      const lines: string[] = []
      readChunk(chunk, (network) => lines.push(network.toString()))
      if (lines.length > 0) send(lines.join("\n"))
    })
  }
  for (let offset = 0; ; offset += PIECE_ROWS) {
    const { rows } = connection.execute(listTemporary({ limit: PIECE_ROWS, offset }, now))
    if (rows.length === 0) return
    const lines: string[] = []
    for (const row of rows) {
      const ip = textOf(row.ip)
      if (Network.parse(ip) === null) continue
      lines.push(formatEntryLine(ip, { until: Number(row.expires_at) }, printable(textOf(row.reason))))
    }
    if (lines.length > 0) send(lines.join("\n"))
  }
}
