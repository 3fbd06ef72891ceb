// What is read when Prometheus asks: plain numbers that the server keeps anyway. No label carries an address.

import { Counter, Gauge, type Registry } from "@prometheus-io/client"
import { AUDIT_ACTIONS, type AuditAction } from "../core/audit.ts"
import type { DecisionCounts } from "../core/gate.ts"

/** Where the numbers stand. Asked at every scrape, on the thread that serves: nothing here may wait. */
export type GateReadings = {
  readonly version: string
  readonly bun: string
  readonly counts: DecisionCounts
  decisionFaults(): number
  /** Rows told to followers, by action. */
  readonly changes: Readonly<Record<AuditAction, number>>
  permanentCount(): number
  temporaryCount(): number
  /** The id of the newest audit row: ids have no gaps. */
  newestAuditId(): number
  readonly auditRows: number
  databaseOk(): boolean
  changesWaiting(): number
  requestsInFlight(): number
  readonly reloads: {
    readonly lastSucceeded: boolean
    /** Milliseconds since 1970. */
    readonly lastSuccessAt: number
  }
  /** Bytes of the database and its write-ahead log, or `null` if they cannot be told. */
  databaseSize(): Promise<number | null>
}

export function registerGateMetrics(registry: Registry, readings: GateReadings): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  // The library's counters only grow by steps; these numbers are kept elsewhere, and handed over whole.
  const counter = (
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => ReadonlyArray<readonly [Readonly<Record<string, string>>, number]>,
  ) =>
    new Counter<string>({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        for (const [labels, value] of read()) this.labels(labels).inc(value)
      },
    })

  const { version, bun, counts, changes } = readings
  new Gauge({
    name: "ipgate_build_info",
    help: "1, with the version of ipgate and of its runtime",
    labelNames: ["version", "bun"],
    registers,
  }).set({ version, bun }, 1)
  counter("ipgate_auth_requests_total", "Decisions by result", ["decision"], () => [
    [{ decision: "allow" }, counts.allowed],
    [{ decision: "deny" }, counts.denied],
  ])
  counter(
    "ipgate_auth_unidentified_total",
    "Denied because the client is not known: an untrusted peer, or an address that is absent or malformed",
    [],
    () => [[{}, counts.unidentified]],
  )
  counter("ipgate_auth_faults_total", "Decisions that broke down: nobody was let in by them", [], () => [
    [{}, readings.decisionFaults()],
  ])
  counter(
    "ipgate_changes_total",
    "Rows written into the audit log by action; a bulk import of more than 1,000 rows is not told apart",
    ["action"],
    () => AUDIT_ACTIONS.map((action) => [{ action }, changes[action]] as const),
  )
  counter("ipgate_audit_records_written_total", "Rows ever written into the audit log", [], () => [
    [{}, readings.newestAuditId()],
  ])
  gauge("ipgate_audit_records", "Rows that the audit log holds", () =>
    Math.min(readings.newestAuditId(), readings.auditRows),
  )
  new Gauge({
    name: "ipgate_entries",
    help: "Entries that let clients in, by list",
    labelNames: ["list"],
    registers,
    collect() {
      this.set({ list: "perm" }, readings.permanentCount())
      this.set({ list: "temp" }, readings.temporaryCount())
    },
  })
  gauge("ipgate_db_up", "1 while the database takes changes and answers, else 0", () =>
    readings.databaseOk() ? 1 : 0,
  )
  new Gauge({
    name: "ipgate_db_size_bytes",
    help: "Size of the database file and its write-ahead log; NaN if the disk does not tell",
    registers,
    async collect() {
      this.set((await readings.databaseSize()) ?? Number.NaN)
    },
  })
  gauge(
    "ipgate_config_last_reload_successful",
    "1 unless the last reload failed; the start counts as one",
    () => (readings.reloads.lastSucceeded ? 1 : 0),
  )
  gauge(
    "ipgate_config_last_reload_success_timestamp_seconds",
    "When the configuration was last read without a mistake, in seconds since 1970",
    () => readings.reloads.lastSuccessAt / 1000,
  )
  gauge("ipgate_changes_waiting", "Changes and imports that wait for the transaction before theirs", () =>
    readings.changesWaiting(),
  )
  gauge("ipgate_http_requests_in_flight", "Requests that are not answered yet", () =>
    readings.requestsInFlight(),
  )
}
