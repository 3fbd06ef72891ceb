// The feed of changes as server-sent events (WHATWG HTML, 9.2), written by the server and read by the client.

import type { FeedEvent } from "../core/feed.ts"
import { auditRecordFromJson, auditRecordToJson } from "./answers.ts"

/**
 * One event. A change has the id of its audit row and the record as data; `reload` and `at` carry only an id. So a
 * client that comes back with the last id that it saw misses nothing.
 */
export function formatEvent(event: FeedEvent): string {
  const data = event.kind === "change" ? JSON.stringify(auditRecordToJson(event.record)) : "{}"
  return `id: ${event.id}\nevent: ${event.kind}\ndata: ${data}\n\n`
}

/** Events from the bytes of a stream, in whatever pieces they come. Events of kinds that are not known are skipped. */
export async function* parseEvents(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<FeedEvent> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const piece of pieces) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split("\n\n")
    rest = blocks.pop() ?? ""
    for (const block of blocks) {
      const event = parseEvent(block)
      if (event !== null) yield event
    }
  }
}

function parseEvent(block: string): FeedEvent | null {
  const fields = new Map<string, string>()
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":")
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""))
  }
  const id = Number(fields.get("id") ?? Number.NaN)
  const kind = fields.get("event")
  if (!Number.isSafeInteger(id)) return null
  if (kind === "reload" || kind === "at") return { kind, id }
  if (kind !== "change") return null
  return { kind, id, record: auditRecordFromJson(JSON.parse(fields.get("data") ?? "null")) }
}
