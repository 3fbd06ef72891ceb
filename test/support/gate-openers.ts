// Every way to have a gate: over the database in this thread, over its thread, over the handlers, over a real server.

import { loadAllowlist } from "../../src/app/load-allowlist.ts"
import { openRemoteGate } from "../../src/app/remote.ts"
import { startServer } from "../../src/app/server.ts"
import { assembleWritePath } from "../../src/app/write-path.ts"
import type { Clock } from "../../src/core/clock.ts"
import type { Gate } from "../../src/core/gate.ts"
import type { Send } from "../../src/gate/authorized-requests.ts"
import { RemoteGate } from "../../src/gate/remote-gate.ts"
import { decideBy } from "../../src/http/auth.ts"
import { BearerTokens } from "../../src/http/bearer.ts"
import { ClientAddresses } from "../../src/http/client-address.ts"
import { FailedSenders } from "../../src/http/failed-senders.ts"
import type { Peer } from "../../src/http/guard.ts"
import { type Routes, routes } from "../../src/http/routes.ts"
import { formatListenAddress } from "../../src/listen-address.ts"
import type { Log } from "../../src/log/log.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import type { Store, StoreConfig } from "../../src/store/store.ts"
import { ThreadStore } from "../../src/store/thread-store.ts"
import type { TokenStore } from "../../src/store/token-store.ts"
import { watchAnswers } from "../contract/watched.ts"
import { FakeClock } from "./fake-clock.ts"
import { lineLog } from "./line-log.ts"
import { address } from "./parsed.ts"
import { DEFAULT_TRUSTED_PROXIES } from "./trusted-proxies.ts"

export type OpenedGate = {
  readonly gate: Gate
  /** Whom the audit log names for the changes of this gate. */
  readonly actor: string
  readonly close: () => Promise<void>
}

/** Opens a gate over the database file at `path`, which is made if it is missing. */
export type OpenGate = (path: string, clock: Clock) => Promise<OpenedGate>

export const TOKEN = "a-token-for-tests-0123456789abcdefghij"

/** So few that a test can fill the log. */
export const AUDIT_ROWS = 3000
const CLIENT = "198.51.100.7"
const LOOPBACK = "127.0.0.1"

export const silentLog: Log = lineLog(() => {}, new FakeClock())

/** A gate in this process over a store of any kind, and all that it is made of. */
export async function openWritePath(store: Store & TokenStore, clock: Clock) {
  await store.open(clock.wall())
  const { allowlist } = await loadAllowlist(store, clock)
  return { allowlist, ...(await assembleWritePath(store, allowlist, clock, clock.mono())) }
}

export const openOverLibsqlStore: OpenGate = (path, clock) =>
  openLocal((config) => new LibsqlStore(config), path, clock)

export const openOverThreadStore: OpenGate = (path, clock) =>
  openLocal((config) => new ThreadStore(config), path, clock)

/** The client over the server's own handlers, without a port. */
export const openOverHandlers: OpenGate = async (path, clock) => {
  const { store, allowlist, gate, tokens, book, counters, refused } = await opened(
    (config) => new LibsqlStore(config),
    path,
    clock,
  )
  const clients = new ClientAddresses(DEFAULT_TRUSTED_PROXIES, "X-Real-IP")
  const table = routes({
    decide: decideBy(allowlist, clients, counters, refused),
    clients,
    tokens: new BearerTokens([TOKEN], book),
    failures: new FailedSenders(clock),
    registry: tokens,
    gateFor: (by, principal) => gate.as(by, principal),
    log: silentLog,
  })
  return {
    gate: new RemoteGate(dispatcher(table, LOOPBACK), () => TOKEN),
    actor: LOOPBACK,
    close: () => store.close(),
  }
}

/** The client over a server that listens on a free port. */
export const openOverServer: OpenGate = async (path, clock) => {
  const lines: string[] = []
  const server = await startServer(
    {
      listen: [{ kind: "tcp", hostname: LOOPBACK, port: 0 }],
      databasePath: path,
      trustedProxies: DEFAULT_TRUSTED_PROXIES,
      clientIpHeader: "X-Real-IP",
      auditRows: AUDIT_ROWS,
    },
    [TOKEN],
    clock,
    lineLog((line) => lines.push(line), clock),
  )
  const [listening] = server.addresses
  if (listening === undefined) throw new Error(`the server listens nowhere: ${lines.join("")}`)
  const unwatch = watchAnswers(server.addresses)
  return {
    gate: openRemoteGate(formatListenAddress(listening), () => TOKEN),
    actor: LOOPBACK,
    close: () => server.stop().then(unwatch),
  }
}

/**
 * Sends requests to handlers as Bun's route table would: by the raw path, a literal one before `/*`, and of those the
 * longest.
 */
export function dispatcher({ paths, notFound }: Routes, peer: Peer): Send {
  const wild = Object.keys(paths)
    .filter((path) => path.endsWith("/*"))
    .sort((a, b) => b.length - a.length)
  return async (target, init) => {
    const path = target.replace(/\?.*$/s, "")
    const below = wild.find((pattern) => path.startsWith(pattern.slice(0, -1)))
    const name = Object.hasOwn(paths, path) ? path : below
    const handle = (name === undefined ? undefined : paths[name]) ?? notFound
    return handle(new Request(`http://gate.test${target}`, init), peer)
  }
}

async function openLocal(
  make: (config: StoreConfig) => Store & TokenStore,
  path: string,
  clock: Clock,
): Promise<OpenedGate> {
  const { store, gate } = await opened(make, path, clock)
  return { gate: gate.as(address(CLIENT)), actor: CLIENT, close: () => store.close() }
}

async function opened(make: (config: StoreConfig) => Store & TokenStore, path: string, clock: Clock) {
  const store = make({ path, auditRows: AUDIT_ROWS })
  return { store, ...(await openWritePath(store, clock)) }
}
