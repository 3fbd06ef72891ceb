// Gives both lists out as entry lines, a piece at a time.

import type { Client } from "@libsql/client/sqlite3"
import { formatEntryLine } from "../core/entry-line.ts"
import { listTemporary, permanentLines } from "./statements.ts"

const PIECE_ROWS = 20_000

/** `receive` gets whole lines. Nothing else is asked of the connection meanwhile, so the state is one. */
export async function exportEntries(
  connection: Client,
  now: number,
  receive: (lines: Uint8Array<ArrayBuffer>) => void,
): Promise<void> {
  const encoder = new TextEncoder()
  const send = (lines: string) => receive(encoder.encode(`${lines}\n`))
  let after: Uint8Array = new Uint8Array([0])
  for (;;) {
    const row = (await connection.execute(permanentLines(after, PIECE_ROWS))).rows[0]
    const lines = row?.lines
    const last = row?.last
    if (typeof lines !== "string" || !(last instanceof ArrayBuffer)) break
    send(lines)
    after = new Uint8Array(last)
  }
  for (let offset = 0; ; offset += PIECE_ROWS) {
    const { rows } = await connection.execute(listTemporary({ limit: PIECE_ROWS, offset }, now))
    if (rows.length === 0) return
    send(
      rows
        .map((row) => formatEntryLine(String(row.ip), Number(row.expires_at), String(row.reason ?? "")))
        .join("\n"),
    )
  }
}
