// The metrics of a running server: which number stands where, and the listener that tells them.

import type { Allowlist } from "../core/allowlist.ts"
import { metricsRoutes } from "../http/metrics-routes.ts"
import { type Listener, listen } from "../http/server.ts"
import type { ListenAddress } from "../listen-address.ts"
import type { Log } from "../log/log.ts"
import { databaseSize } from "../metrics/database-size.ts"
import type { Metrics } from "../metrics/metrics.ts"
import { VERSION } from "../version.ts"
import type { ReloadRecord } from "./reload-record.ts"
import type { WritePath } from "./write-path.ts"

export type MetricsParts = {
  readonly allowlist: Allowlist
  readonly path: WritePath
  readonly listeners: readonly Listener[]
  readonly databasePath: string
  readonly auditRows: number
  readonly reloads: ReloadRecord
  decisionFaults(): number
  readonly log: Log
}

/** Throws `GateError` if the address cannot be bound. */
export function serveMetrics(
  address: ListenAddress,
  metrics: Metrics,
  { allowlist, path, listeners, databasePath, auditRows, reloads, decisionFaults, log }: MetricsParts,
): Listener {
  const { counters, feed, health, queue } = path
  const exposition = metrics.expose({
    version: VERSION,
    bun: Bun.version,
    counts: counters,
    reloads,
    decisionFaults,
    changes: feed.counts,
    permanentCount: () => allowlist.permanentCount,
    temporaryCount: () => allowlist.temporaryCount,
    newestAuditId: () => feed.lastId,
    auditRows,
    databaseOk: () => health.ok,
    changesWaiting: () => queue.waitingChanges,
    requestsInFlight: () => listeners.reduce((sum, { pendingRequests }) => sum + pendingRequests, 0),
    databaseSize: () => databaseSize(databasePath),
  })
  return listen(address, metricsRoutes(exposition, log))
}
