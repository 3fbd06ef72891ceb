// The gate where the lists are: the rules over the store and the allowlist. The HTTP handlers and the offline command
// line use this one, and nothing else changes a list.

import type { Allowlist } from "../core/allowlist.ts"
import type { AuditDetail, AuditQuery, AuditRecord } from "../core/audit.ts"
import type { Actor, Change, Outcome } from "../core/change.ts"
import { type Clock, LATEST_TIME } from "../core/clock.ts"
import type { DecisionCounters } from "../core/decision-counters.ts"
import { formatDuration } from "../core/duration.ts"
import type { EndedEntries } from "../core/ended-entries.ts"
import type { PermanentEntry, TemporaryEntry, TemporaryGrant } from "../core/entry.ts"
import { GateError } from "../core/errors.ts"
import type { FeedEvent, FeedFilter, FeedStart } from "../core/feed.ts"
import type {
  Coverage,
  DecisionCounts,
  Gate,
  ImportCounts,
  ImportRequest,
  RefusedEntry,
} from "../core/gate.ts"
import { Network } from "../core/network.ts"
import { othersFirst } from "../core/others-first.ts"
import type { Page } from "../core/page.ts"
import { forbidden, mayChange, mayCheck, mayImport, type Principal } from "../core/principal.ts"
import type { RefusedClients } from "../core/refused-clients.ts"
import type { Status } from "../core/status.ts"
import type { CommitQueue } from "../store/commit-queue.ts"
import { readBackup } from "../store/read-backup.ts"
import type { Store } from "../store/store.ts"
import { applyImported } from "./apply.ts"
import { asTheyCome } from "./as-they-come.ts"
import type { ChangeFeed } from "./change-feed.ts"
import { followChanges } from "./follow-changes.ts"
import { fullPage } from "./full-page.ts"
import type { Health } from "./health.ts"
import { importedEvents } from "./imported-events.ts"
import type { LongReads } from "./long-reads.ts"
import { restingAtFirst } from "./resting-at-first.ts"

export type LocalGateParts = {
  readonly store: Store
  readonly queue: CommitQueue
  readonly allowlist: Allowlist
  readonly health: Health
  readonly clock: Clock
  readonly feed: ChangeFeed
  readonly ended: EndedEntries
  readonly counters: DecisionCounters
  readonly refused: RefusedClients
  readonly longReads: LongReads
  /** When this process began to serve, on the monotonic clock. */
  readonly startedAt: number
  /** True if all threads of this process have one processor between them. */
  readonly sharesProcessor: boolean
  /** Hears of every import that is complete, and of who asked for it. */
  readonly onImport?: (counts: ImportCounts, by: Actor) => void
}

export class LocalGate implements Gate {
  constructor(
    private readonly parts: LocalGateParts,
    private readonly by: Actor = null,
    private readonly principal: Principal | null = null,
  ) {}

  /**
   * The same gate, acting for this client, whose address goes into the audit log, and with the powers of this
   * principal: what is beyond them rejects with `forbidden`. `null` is this process itself.
   */
  as(by: Actor, principal: Principal | null = null): LocalGate {
    return new LocalGate(this.parts, by, principal)
  }

  async addPermanent(network: Network): Promise<"added"> {
    const outcome = await this.write({ op: "add_perm", network, ...this.stamp() })
    if (outcome === "conflict") throw new GateError("conflict", `${network} is already on the permanent list`)
    return "added"
  }

  async removePermanent(network: Network): Promise<"removed" | "absent"> {
    return removal(await this.write({ op: "delete_perm", network, ...this.stamp() }))
  }

  listPermanent(page: Page): Promise<PermanentEntry[]> {
    return this.read(this.parts.store.listPermanent(page))
  }

  async addTemporary({ network, ttlSeconds, reason }: TemporaryGrant) {
    const stamp = this.stamp()
    const expiresAt = stamp.at + ttlSeconds * 1000
    if (stamp.at < 0 || expiresAt > LATEST_TIME) {
      throw new GateError("failed", "the clock of this machine is wrong: no temporary entry can be added")
    }
    const outcome = await this.write({ op: "add_temp", network, ttlSeconds, expiresAt, reason, ...stamp })
    return { result: outcome === "replaced" ? ("replaced" as const) : ("added" as const), expiresAt }
  }

  async removeTemporary(network: Network): Promise<"removed" | "absent"> {
    return removal(await this.write({ op: "delete_temp", network, ...this.stamp() }))
  }

  listTemporary({ limit, offset }: Page): Promise<TemporaryEntry[]> {
    const now = this.parts.clock.wall()
    const ask = (length: number) => this.read(this.parts.store.listTemporary({ limit: length, offset }, now))
    return fullPage(limit, ask, ({ ip }) => this.isActive(ip))
  }

  async import({ lines, prune }: ImportRequest): Promise<ImportCounts> {
    const { principal } = this
    if (principal !== null && !mayImport(principal)) throw forbidden(principal, this.by)
    const { queue, store, health, allowlist, clock, feed, sharesProcessor, onImport } = this.parts
    return queue.exclusive(async () => {
      const { present, absent, before, after, ...counts } = await health.watchWrite(
        store.import(lines, { at: clock.wall(), by: this.by, token: principal?.name, prune }),
      )
      await applyImported(allowlist, { present, absent }, sharesProcessor ? restingAtFirst() : othersFirst)
      onImport?.(counts, this.by)
      feed.publish(await importedEvents(store, before, after))
      return counts
    })
  }

  export(): AsyncIterable<Uint8Array> {
    const { store, health, clock, longReads } = this.parts
    return longReads.begin((inTurn) =>
      asTheyCome((receive) => inTurn(() => health.watchRead(store.export(clock.wall(), receive)))),
    )
  }

  backup(): AsyncIterable<Uint8Array> {
    const { store, longReads } = this.parts
    return longReads.begin(async function* (inTurn) {
      yield* readBackup(await inTurn(() => store.backUp()))
    })
  }

  audit(query: AuditQuery): Promise<AuditRecord[]> {
    return this.read(this.parts.store.audit(query))
  }

  auditDetail(query: AuditQuery): Promise<AuditDetail[]> {
    return this.read(this.parts.store.auditDetail(query))
  }

  follow(start: FeedStart, filter: FeedFilter, signal: AbortSignal): AsyncGenerator<FeedEvent> {
    return followChanges(this.parts, start, filter, signal)
  }

  async refused({ limit, offset }: Page): Promise<RefusedEntry[]> {
    const { refused, ended } = this.parts
    return refused
      .list()
      .slice(offset, offset + limit)
      .map(({ address, count, firstAt, lastAt }) => ({
        ip: address.toString(),
        count,
        firstAt,
        lastAt,
        // What was made and ended after the client was refused has not let it in before.
        lastEntry: ended.lastCovering(address, lastAt),
      }))
  }

  async decisions(): Promise<DecisionCounts> {
    const { allowed, denied, unidentified } = this.parts.counters
    return { allowed, denied, unidentified }
  }

  async check(network: Network): Promise<Coverage> {
    const { principal, by } = this
    if (principal !== null && !mayCheck(principal, by, network)) throw forbidden(principal, by)
    return this.parts.allowlist.check(network)
  }

  async status(): Promise<Status> {
    const { allowlist, clock, health, startedAt } = this.parts
    return {
      status: health.ok ? "ok" : "degraded",
      uptime: formatDuration((clock.mono() - startedAt) / 1000),
      permanentCount: allowlist.permanentCount,
      temporaryCount: allowlist.temporaryCount,
      databaseOk: health.ok,
    }
  }

  private stamp() {
    return { at: this.parts.clock.wall(), by: this.by, token: this.principal?.name }
  }

  /** Fulfilled with the outcome of the change when it is durable. Throws `forbidden`. */
  private write(change: Change): Promise<Outcome> {
    const { principal, by } = this
    if (principal !== null && !mayChange(principal, by, change)) throw forbidden(principal, by)
    const { queue, allowlist, clock } = this.parts
    const changes = [change]
    // An entry that has ended is gone for everybody who asks, so the log must say so before it tells of the next change.
    const ended =
      change.op === "add_temp" || change.op === "delete_temp" ? allowlist.endedGrant(change.network) : null
    if (ended !== null) changes.unshift(expiry(ended.network, ended.expiresAt, clock.wall()))
    return queue.add(changes).then(lastOf)
  }

  private read<T>(call: Promise<T>): Promise<T> {
    return this.parts.health.watchRead(call)
  }

  // The database compares the wall clock only; the allowlist also knows the deadlines that a clock set back cannot move.
  private isActive(ip: string): boolean {
    const network = Network.parse(ip)
    return network === null || this.parts.allowlist.endedGrant(network) === null
  }
}

/** The change that records the end of a grant, at the moment when it ended. */
export function expiry(network: Network, expiresAt: number, now: number): Change {
  return { op: "expire_temp", network, expiresAt, at: Math.min(expiresAt, now) }
}

function lastOf(outcomes: readonly Outcome[]): Outcome {
  const outcome = outcomes.at(-1)
  if (outcome === undefined) throw new GateError("failed", "internal error: the store told no outcome")
  return outcome
}

function removal(outcome: Outcome): "removed" | "absent" {
  return outcome === "removed" ? "removed" : "absent"
}
