// A local gate over a real database, with a door before the database that a test can keep shut.

import { loadAllowlist } from "../../src/app/load-allowlist.ts"
import { assembleWritePath, type WritePath } from "../../src/app/write-path.ts"
import type { Allowlist } from "../../src/core/allowlist.ts"
import type { Actor, Change } from "../../src/core/change.ts"
import type { GateError } from "../../src/core/errors.ts"
import type { LocalGate } from "../../src/gate/local-gate.ts"
import { Sweeper } from "../../src/gate/sweeper.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import type { Committed } from "../../src/store/store.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { network } from "../support/parsed.ts"

export const NOW = Date.UTC(2026, 4, 17, 13, 5, 2, 123)

const EVERYTHING = { limit: 1_000_000, offset: 0 }

/** The real store, whose commits wait while the door is shut. */
class DoorStore extends LibsqlStore {
  /** Changes of each commit that was asked for. */
  readonly groups: Array<readonly Change[]> = []
  waiting: Array<(error?: GateError) => void> | null = null

  override async commit(changes: readonly Change[]): Promise<Committed> {
    this.groups.push(changes)
    const { waiting } = this
    if (waiting !== null) {
      const error = await new Promise<GateError | undefined>((resolve) => waiting.push(resolve))
      if (error !== undefined) throw error
    }
    return super.commit(changes)
  }
}

export class Workbench {
  readonly gate: LocalGate
  readonly sweeper: Sweeper
  /** What the sweeper told of its failures. */
  readonly sweepFailures: unknown[] = []

  private constructor(
    readonly store: DoorStore,
    readonly clock: FakeClock,
    readonly allowlist: Allowlist,
    readonly path: WritePath,
    by: Actor,
  ) {
    this.gate = path.gate.as(by)
    this.sweeper = new Sweeper(allowlist, path.queue, clock, (error) => this.sweepFailures.push(error))
  }

  static async open(file: string, by: Actor = null): Promise<Workbench> {
    const clock = new FakeClock(NOW)
    const store = new DoorStore({ path: file, auditRows: 1_000_000 })
    await store.open(clock.wall())
    const { allowlist } = await loadAllowlist(store, clock)
    const path = await assembleWritePath(store, allowlist, clock, clock.mono())
    return new Workbench(store, clock, allowlist, path, by)
  }

  get groups(): ReadonlyArray<readonly Change[]> {
    return this.store.groups
  }

  /** From now on each commit waits for `pass`. */
  shut(): void {
    this.store.waiting = []
  }

  /** Lets the commit that waits go on, or makes it fail. */
  pass(error?: GateError): void {
    const door = this.store.waiting?.shift()
    if (door === undefined) throw new Error("no commit is waiting")
    door(error)
  }

  /** From now on nothing waits. */
  unlock(): void {
    const waiting = this.store.waiting ?? []
    this.store.waiting = null
    for (const door of waiting) door()
  }

  /** Adds a temporary entry without a reason. */
  grant(ip: string, ttlSeconds: number) {
    return this.gate.addTemporary({ network: network(ip), ttlSeconds, reason: null })
  }

  allowed(ip: string): boolean {
    return this.allowlist.check(network(ip)).allowed
  }

  /** The log, oldest first, as `action ip milliseconds-since-NOW`. */
  async log(): Promise<string[]> {
    const records = await this.store.audit(EVERYTHING)
    return records.reverse().map(({ action, ip, at }) => `${action} ${ip} ${at - NOW}`)
  }

  /** What the database holds of the temporary list, ended or not, as `ip milliseconds-since-NOW`. */
  async temporaryRows(): Promise<string[]> {
    const rows = await this.store.listTemporary(EVERYTHING, -1)
    return rows.map(({ ip, expiresAt }) => `${ip} ${expiresAt - NOW}`)
  }
}
