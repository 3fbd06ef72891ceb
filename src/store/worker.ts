// Entry point of the database's own thread: message in, operation of the store, reply out, one after the other.

import type { AuditQuery } from "../core/audit.ts"
import { GateError } from "../core/errors.ts"
import { giveWay } from "../linux/give-way.ts"
import { loadDriver } from "./load-driver.ts"
import {
  fromChangeMessage,
  fromImportOptionsMessage,
  fromQueryMessage,
  type Operations,
  type Reply,
  type Request,
} from "./protocol.ts"
import type { AuditSliceQuery, Store } from "./store.ts"
import type { TokenStore } from "./token-store.ts"

declare const self: {
  onmessage: ((event: { data: Request }) => void) | null
  postMessage(reply: Reply, transfer?: ArrayBuffer[]): void
}

let store: (Store & TokenStore) | null = null
giveWay()
let last: Promise<void> = Promise.resolve()

self.onmessage = ({ data: request }) => {
  last = last.then(() => answer(request))
}

async function answer(request: Request): Promise<void> {
  const { id } = request
  try {
    const value = await perform(request)
    self.postMessage({ id, kind: "answer", value }, buffersOf(value))
  } catch (cause) {
    const error = cause instanceof GateError ? cause : new GateError("failed", "database failure", { cause })
    const { code, message, hint } = error
    self.postMessage({ id, kind: "failure", code, message, hint, detail: detailOf(error.cause) })
  }
}

async function perform(request: Request): Promise<Operations[keyof Operations]["answer"]> {
  if (request.op === "open") {
    // Loaded here and not above, so that a driver that cannot be loaded is an answer and not the end of the thread.
    const { LibsqlStore } = await loadDriver()
    store = new LibsqlStore(request.config)
    return store.open(request.now)
  }
  if (request.op === "close") {
    await store?.close()
    return null
  }
  if (store === null) throw new GateError("unavailable", "the database is not open")
  switch (request.op) {
    case "commit":
      return store.commit(request.changes.map(fromChangeMessage))
    case "snapshot":
      await store.snapshot((chunk) => {
        self.postMessage({ id: request.id, kind: "piece", piece: chunk }, [chunk.records.buffer])
      })
      return null
    case "import":
      return store.import(request.text, fromImportOptionsMessage(request.options))
    case "export":
      await store.export(request.now, (lines) => {
        self.postMessage({ id: request.id, kind: "piece", piece: lines }, [lines.buffer])
      })
      return null
    case "backUp":
      return store.backUp()
    case "listPermanent":
      return store.listPermanent(request.page)
    case "listTemporary":
      return store.listTemporary(request.page, request.now)
    case "audit":
      return store.audit(fromQueryMessage<AuditQuery>(request.query))
    case "auditDetail":
      return store.auditDetail(fromQueryMessage<AuditQuery>(request.query))
    case "auditSlice":
      return store.auditSlice(fromQueryMessage<AuditSliceQuery>(request.query))
    case "tokens":
      return store.tokens()
    case "addToken":
      return store.addToken(request.token)
    case "revokeToken":
      return store.revokeToken(request.name, request.at)
    case "recordTokenUses":
      await store.recordTokenUses(request.uses)
      return null
    case "ping":
      await store.ping()
      return null
    case "probe":
      await store.probe()
      return null
  }
}

/** What is handed over without a copy: an import's records can be tens of megabytes. */
function buffersOf(value: Operations[keyof Operations]["answer"]): ArrayBuffer[] {
  if (value === null || typeof value === "string" || !("present" in value)) return []
  return [...value.present, ...value.absent].map(({ records }) => records.buffer)
}

function detailOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : ""
}
