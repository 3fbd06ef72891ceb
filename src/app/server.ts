// The server, put together: the thread of the database, the lists in memory, the sweeper, and last the listeners.

import { AUDIT_LOG_ROWS } from "../core/audit.ts"
import type { Clock } from "../core/clock.ts"
import { Sweeper } from "../gate/sweeper.ts"
import { TokenUpkeep } from "../gate/token-upkeep.ts"
import { decideBy } from "../http/auth.ts"
import { BearerTokens } from "../http/bearer.ts"
import { ClientAddresses, type ClientIpHeader, type TrustedProxies } from "../http/client-address.ts"
import { FailedSenders } from "../http/failed-senders.ts"
import { routes } from "../http/routes.ts"
import { IDLE_TIMEOUT, type Listener, listen } from "../http/server.ts"
import { formatListenAddress, type ListenAddress } from "../listen-address.ts"
import type { Log } from "../log/log.ts"
import { measured } from "../metrics/measured.ts"
import type { Metrics } from "../metrics/metrics.ts"
import { sampled } from "../metrics/sampled.ts"
import { placeWarnings } from "../store/place-warnings.ts"
import { ThreadStore } from "../store/thread-store.ts"
import { logChanges, logImport } from "./change-log.ts"
import { HealthWatch } from "./health-watch.ts"
import { loadAllowlist } from "./load-allowlist.ts"
import { serveMetrics } from "./metrics.ts"
import { RefusalLog } from "./refusal-log.ts"
import { ReloadRecord } from "./reload-record.ts"
import type { RunningServer } from "./running-server.ts"
import { assembleWritePath, type WritePath } from "./write-path.ts"

export type ServerConfig = {
  readonly listen: readonly ListenAddress[]
  readonly databasePath: string
  readonly trustedProxies: TrustedProxies
  readonly clientIpHeader: ClientIpHeader
  /** True if refused clients are summed up in the log; the default. */
  readonly logRefusals?: boolean
  /** Seconds after which a connection on which nothing comes is closed; the default is 120. */
  readonly idleTimeout?: number
  /** Of unix sockets; the default is 0660, and the group that they get by themselves. */
  readonly socketMode?: number
  readonly socketGroup?: string | null
  /** Rows of the audit log that are kept; the default is 200,000. */
  readonly auditRows?: number
  /** Where Prometheus asks; a server without it measures nothing. */
  readonly metricsListen?: ListenAddress | null
  /** Processors that this process may use; the default is more than one. */
  readonly processors?: number
}

/** Milliseconds between two questions whether the database still works. */
const PING_INTERVAL = 5_000
/**
 * Milliseconds that requests under way get to finish after a stop. With the five seconds in which the database is closed,
 * they are fewer than the 20 s that the shipped unit allows.
 */
const DRAIN_TIME = 10_000

/**
 * Starts to listen only when both lists are complete in memory. Rejects with `GateError` if the database or an
 * address cannot be had; then nothing is left open.
 */
export async function startServer(
  config: ServerConfig,
  tokens: readonly string[],
  clock: Clock,
  log: Log,
  reloads = new ReloadRecord(clock.wall()),
): Promise<RunningServer> {
  const startedAt = clock.mono()
  const auditRows = config.auditRows ?? AUDIT_LOG_ROWS
  let path: WritePath | null = null
  const store = new ThreadStore(
    { path: config.databasePath, auditRows },
    {
      onLateCommit: (changes, committed) => path?.accept(changes, committed),
      onLateImport: (imported) => {
        path?.acceptLateImport(imported)
        log.notice("an import took effect after its client had been answered that it failed", {
          event: "list.import",
        })
      },
    },
  )
  const listeners: Listener[] = []
  let metricsListener: Listener | null = null
  try {
    const metrics = config.metricsListen ? await loadMetrics(clock) : null
    const { created, ended } = await store.open(clock.wall())
    if (created)
      log.warn("made a new, empty database: nobody is let in yet", {
        event: "db.create",
        path: config.databasePath,
      })
    if (ended > 0) {
      log.notice("temporary entries have ended that nobody had recorded", { event: "list.expire", ended })
    }
    for (const warning of placeWarnings(config.databasePath)) {
      log.warn(warning, { event: "db.place", path: config.databasePath })
    }
    const { allowlist, badRows } = await loadAllowlist(store, clock)
    if (badRows > 0)
      log.error(
        "the database holds rows that are no networks, or not those that their text says; they let nobody in",
        {
          event: "db.error",
          rows: badRows,
        },
      )

    path = await assembleWritePath(store, allowlist, clock, startedAt, {
      meter: metrics?.meter,
      onImport: (counts, by) => logImport(counts, by, log),
      sharesProcessor: config.processors === 1,
    })
    const { gate, tokens: registry, book, queue, health, feed, counters, refused } = path
    if (path.badTokens > 0)
      log.error("the database holds tokens that make no sense; nobody gets in with them", {
        event: "db.error",
        rows: path.badTokens,
      })
    const sweeper = new Sweeper(allowlist, queue, clock, (cause) => logUnrecorded(cause, log))
    const upkeep = new TokenUpkeep(registry, book)
    const clients = new ClientAddresses(config.trustedProxies, config.clientIpHeader)
    const bearer = new BearerTokens(tokens, book)
    const decide = decideBy(allowlist, clients, counters, refused)
    let decisionFaults = 0
    const table = routes({
      decide: metrics === null ? decide : sampled(decide, metrics.meter, () => clock.mono()),
      clients,
      tokens: bearer,
      failures: new FailedSenders(clock),
      registry,
      gateFor: (by, principal) => gate.as(by, principal),
      log,
      decisionFailed: () => {
        decisionFaults++
      },
      ...(metrics === null ? {} : { measured: measured(metrics.meter, () => clock.mono()) }),
    })
    const access = { mode: config.socketMode ?? 0o660, group: config.socketGroup ?? null }
    const idleTimeout = config.idleTimeout ?? IDLE_TIMEOUT
    for (const address of config.listen) listeners.push(listen(address, table, access, idleTimeout))
    if (metrics !== null && config.metricsListen) {
      const parts = {
        allowlist,
        path,
        listeners,
        databasePath: config.databasePath,
        auditRows,
        reloads,
        decisionFaults: () => decisionFaults,
        log,
      }
      metricsListener = serveMetrics(config.metricsListen, metrics, parts)
      log.info(`metrics on ${formatListenAddress(metricsListener.address)}`, { event: "server.start" })
    }

    sweeper.start()
    upkeep.start()
    const logged = logChanges(feed, log)
    const refusals = new RefusalLog(counters, refused, clock, log, config.logRefusals ?? true)
    refusals.start()
    const watch = new HealthWatch(store, health, log)
    watch.start(PING_INTERVAL)
    const addresses = listeners.map(({ address }) => address)
    log.info(`listening on ${addresses.map(formatListenAddress).join(", ")}`, {
      event: "server.start",
      permanent: allowlist.permanentCount,
      temporary: allowlist.temporaryCount,
    })
    return {
      addresses,
      apply: ({ tokens, trustedProxies, clientIpHeader, logRefusals }) => {
        bearer.replaceFileTokens(tokens)
        clients.replace(trustedProxies, clientIpHeader)
        refusals.enable(logRefusals)
      },
      summary: () => `${allowlist.permanentCount} permanent, ${allowlist.temporaryCount} temporary`,
      stop: async () => {
        watch.stop()
        refusals.stop()
        // The next start records what is left.
        sweeper.stop()
        feed.close()
        await atMost(
          DRAIN_TIME,
          Promise.all(
            [...listeners, ...(metricsListener ? [metricsListener] : [])].map((listener) => listener.stop()),
          ),
        )
        // The thread of the database takes the two in this order, and has a time of its own for both.
        void upkeep.stop()
        await store.close().catch((cause: unknown) => logUnclosed(cause, log))
        // What was changed while the last requests were answered is told too.
        feed.end()
        await logged
      },
    }
  } catch (cause) {
    for (const listener of listeners) void listener.stop()
    void metricsListener?.stop()
    await store.close().catch(() => {})
    throw cause
  }
}

// Only a server that is asked for metrics loads their library.
async function loadMetrics(clock: Clock): Promise<Metrics> {
  const { createMetrics } = await import("../metrics/metrics.ts")
  return createMetrics(clock.wall() - process.uptime() * 1000)
}

function logUnrecorded(cause: unknown, log: Log): void {
  log.error("temporary entries that have ended cannot be recorded: they let nobody in, and are tried again", {
    event: "db.error",
    cause,
  })
}

function logUnclosed(cause: unknown, log: Log): void {
  log.warn(
    "the database was not closed in time; what was acknowledged is on the disk, and the next start tidies up",
    {
      event: "server.stop",
      cause,
    },
  )
}

/** Fulfilled with the work, or without it when the time is over. */
async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const time = Promise.withResolvers<void>()
  const timer = setTimeout(time.resolve, milliseconds)
  await Promise.race([work, time.promise])
  clearTimeout(timer)
}
