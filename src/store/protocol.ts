// The messages between the server's main thread and the thread of the database. Plain data only: an instance of a
// class would lose its methods on the way, so networks and addresses travel as canonical text.

import { Address } from "../core/address.ts"
import type { AuditDetail, AuditQuery, AuditRecord } from "../core/audit.ts"
import type { Actor, Change } from "../core/change.ts"
import type { PermanentEntry, TemporaryEntry } from "../core/entry.ts"
import { GateError, type GateErrorCode } from "../core/errors.ts"
import type { FeedFilter } from "../core/feed.ts"
import { Network } from "../core/network.ts"
import type { Page } from "../core/page.ts"
import type { StoredToken, TokenUse } from "../core/token.ts"
import type { SnapshotChunk } from "./snapshot.ts"
import type {
  AuditSlice,
  AuditSliceQuery,
  Committed,
  Imported,
  ImportOptions,
  Opened,
  StoreConfig,
} from "./store.ts"
import type { Revoked } from "./token-store.ts"

/** Each operation of the store: what is sent, and what comes back. */
export type Operations = {
  open: { send: { config: StoreConfig; now: number }; answer: Opened }
  commit: { send: { changes: ChangeMessage[] }; answer: Committed }
  import: { send: { text: Uint8Array<ArrayBuffer>; options: ImportOptionsMessage }; answer: Imported }
  export: { send: { now: number }; answer: null }
  snapshot: { send: object; answer: null }
  backUp: { send: object; answer: string }
  listPermanent: { send: { page: Page }; answer: PermanentEntry[] }
  listTemporary: { send: { page: Page; now: number }; answer: TemporaryEntry[] }
  audit: { send: { query: AuditQueryMessage }; answer: AuditRecord[] }
  auditDetail: { send: { query: AuditQueryMessage }; answer: AuditDetail[] }
  auditSlice: { send: { query: AuditSliceQueryMessage }; answer: AuditSlice }
  tokens: { send: object; answer: StoredToken[] }
  addToken: { send: { token: StoredToken }; answer: "added" | "conflict" }
  revokeToken: { send: { name: string; at: number }; answer: Revoked }
  recordTokenUses: { send: { uses: readonly TokenUse[] }; answer: null }
  ping: { send: object; answer: null }
  probe: { send: object; answer: null }
  close: { send: object; answer: null }
}

export type Operation = keyof Operations

export type Request = { [O in Operation]: { id: number; op: O } & Operations[O]["send"] }[Operation]

export type Reply =
  | { id: number; kind: "answer"; value: Operations[Operation]["answer"] }
  | {
      id: number
      kind: "failure"
      code: GateErrorCode
      message: string
      hint: string | undefined
      detail: string
    }
  | { id: number; kind: "piece"; piece: SnapshotChunk | Uint8Array<ArrayBuffer> }

type AsText<T> = { [K in keyof T]: K extends "network" ? string : K extends "by" ? string | null : T[K] }
export type ChangeMessage = Change extends infer C ? (C extends Change ? AsText<C> : never) : never
export type AuditQueryMessage = AsText<AuditQuery>
export type AuditSliceQueryMessage = AsText<AuditSliceQuery>
export type ImportOptionsMessage = AsText<ImportOptions>

export function toChangeMessage(change: Change): ChangeMessage {
  const network = change.network.toString()
  if (change.op === "expire_temp") return { ...change, network }
  return { ...change, network, by: toActorText(change.by) }
}

export function fromChangeMessage(message: ChangeMessage): Change {
  const network = sameNetwork(message.network)
  if (message.op === "expire_temp") return { ...message, network }
  return { ...message, network, by: fromActorText(message.by) }
}

/** A query with its network as text. */
export function toQueryMessage<Q extends FeedFilter>({ network, ...query }: Q): AsText<Q> {
  return (network === undefined ? query : { ...query, network: network.toString() }) as AsText<Q>
}

export function fromQueryMessage<Q extends FeedFilter>({ network, ...query }: AsText<Q>): Q {
  return (network === undefined ? query : { ...query, network: sameNetwork(network as string) }) as Q
}

export function toImportOptionsMessage(options: ImportOptions): ImportOptionsMessage {
  return { ...options, by: toActorText(options.by) }
}

export function fromImportOptionsMessage(message: ImportOptionsMessage): ImportOptions {
  return { ...message, by: fromActorText(message.by) }
}

function toActorText(by: Actor): string | null {
  return by === null ? null : by.toString()
}

function fromActorText(by: string | null): Actor {
  return by === null ? null : Address.parse(by)
}

// Canonical text of a network parses back to it; anything else here is a defect and must not pass for a network.
function sameNetwork(text: string): Network {
  const network = Network.parse(text)
  if (network === null) throw new GateError("failed", `internal error: ${text} is not a network`)
  return network
}
