// The life of the listeners: bind, serve, drain.

import { chmodSync, chownSync, existsSync, lstatSync, readFileSync, realpathSync, unlinkSync } from "node:fs"
import { basename, dirname } from "node:path"
import { GateError } from "../core/errors.ts"
import { quoted } from "../core/printable.ts"
import { groupIdOf } from "../group-id.ts"
import { formatListenAddress, type ListenAddress } from "../listen-address.ts"
import { LARGEST_IMPORT } from "../wire/largest-import.ts"
import { API_PREFIX, AUTH_PATH, AUTHZ_PATH } from "../wire/paths.ts"
import type { Handler, Peer } from "./guard.ts"
import { onlyLocalPeers } from "./local-peers.ts"
import { internalError } from "./responses.ts"
import type { Routes } from "./routes.ts"

/** Seconds. Longer than the 60 s for which nginx keeps an idle connection, so that it never meets a closed one. */
export const IDLE_TIMEOUT = 120
/**
 * Seconds. Bun closes a connection also where the answer takes longer than the idle timeout or is silent for so long, and
 * a question that waits behind an import and a stream of changes are neither over nor lost. So under the API a shorter
 * one does not hold.
 */
const LONGEST_SILENCE = IDLE_TIMEOUT
/** Milliseconds between two looks whether the requests under way are answered. */
const DRAIN_INTERVAL = 10
/** Bytes that Bun takes before any handler runs; each endpoint has its own, smaller bound. */
const LARGEST_REQUEST = LARGEST_IMPORT + 1024

/** Who may connect to a unix socket: its mode, and its group by name or number. `null` leaves the group as it is. */
export type SocketAccess = { readonly mode: number; readonly group: string | null }

const OWNER_AND_GROUP: SocketAccess = { mode: 0o660, group: null }

export type Listener = {
  /** The address in use, with the port that was given out where 0 was asked for. */
  readonly address: ListenAddress
  /** Requests that are not answered yet. */
  readonly pendingRequests: number
  /** Takes no new connection, and is fulfilled when the requests under way are answered. */
  stop(): Promise<void>
}

/** Throws `GateError` if the address cannot be bound. `idleTimeout` is in seconds, at most 255. */
export function listen(
  address: ListenAddress,
  routes: Routes,
  access = OWNER_AND_GROUP,
  idleTimeout = IDLE_TIMEOUT,
): Listener {
  try {
    return address.kind === "tcp"
      ? listenOnTcp(address, routes, idleTimeout)
      : listenOnSocket(address, routes, access, idleTimeout)
  } catch (cause) {
    if (cause instanceof GateError) throw cause
    const { code = "", message } = cause as NodeJS.ErrnoException
    const [what, hint] = (address.kind === "tcp" && REFUSALS.get(code)) || [message]
    throw new GateError("failed", `cannot listen on ${formatListenAddress(address)}: ${what}`, {
      cause,
      ...(hint === undefined ? {} : { hint }),
    })
  }
}

/** What a refusal of the kernel means, and what to do. Bun's words repeat the address or ask back. */
const REFUSALS: ReadonlyMap<string, readonly [what: string, hint: string]> = new Map([
  ["EADDRINUSE", ["another process listens there", "ss -ltnp shows which; stop it, or choose another port"]],
  ["EADDRNOTAVAIL", ["this machine has no such address", "ip addr shows which it has"]],
  [
    "EACCES",
    ["permission denied", "a port below 1024 needs CAP_NET_BIND_SERVICE: choose another, such as 8765"],
  ],
])

function listenOnTcp(
  address: ListenAddress & { kind: "tcp" },
  routes: Routes,
  idleTimeout: number,
): Listener {
  const peerOf = (request: Request, server: Server): Peer => server.requestIP(request)?.address ?? null
  // Asking is an eighth of the cost of a decision. Where every possible peer is trusted, one stands for all of them.
  // Whether they are trusted is asked each time, because a reload can change that.
  const deciderOf: PeerOf = onlyLocalPeers(address)
    ? (request, server) => (routes.trustsLoopback ? address.hostname : peerOf(request, server))
    : peerOf
  const server = Bun.serve({
    ...options(routes, idleTimeout, peerOf, deciderOf),
    hostname: address.hostname,
    port: address.port,
    reusePort: false,
  })
  return listener({ ...address, port: server.port ?? address.port }, server)
}

function listenOnSocket(
  address: ListenAddress & { kind: "unix" },
  routes: Routes,
  { mode, group }: SocketAccess,
  idleTimeout: number,
): Listener {
  const groupId = group === null ? null : groupIdOf(group)
  if (group !== null && groupId === null) throw new Error(`there is no group ${quoted(group)}`)
  refuseMissingDirectory(address.path)
  removeStaleSocket(address.path)
  // Nobody else may come in between the birth of the socket and its mode.
  const before = process.umask(0o177)
  const server = (() => {
    try {
      return Bun.serve({ ...options(routes, idleTimeout, unixPeer, unixPeer), unix: address.path })
    } finally {
      process.umask(before)
    }
  })()
  try {
    if (groupId !== null) giveTo(address.path, group, groupId)
    chmodSync(address.path, mode)
  } catch (cause) {
    void server.stop(true)
    throw cause
  }
  return listener(address, server)
}

/**
 * The kernel lets a user give a file only to a group that the user is in, a namespace of users knows few groups, and the
 * filter of the shipped unit takes the call away, so it is not made for nothing.
 */
function giveTo(path: string, group: string | null, groupId: number): void {
  if (lstatSync(path).gid === groupId) return
  try {
    chownSync(path, -1, groupId)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code !== "EPERM" && code !== "EINVAL") throw cause
    throw new GateError(
      "failed",
      `cannot listen on unix:${path}: the user that runs the server may not give it to the group ${group}`,
      {
        cause,
        hint: "leave socket_group out: the proxy can ask at 127.0.0.1:8765. Only a server that is in that group, and may call chown, can do it",
      },
    )
  }
}

function listener(address: ListenAddress, server: Server): Listener {
  return {
    address,
    get pendingRequests() {
      return server.pendingRequests
    },
    stop: () => drained(server),
  }
}

/**
 * A connection on which no request is under way holds nobody up, whatever half of one may have come on it: a stranger
 * could delay every stop with it.
 */
async function drained(server: Server): Promise<void> {
  const closed = server.stop()
  // Once in any case: what has arrived may not have been looked at yet.
  do await Promise.race([closed, Bun.sleep(DRAIN_INTERVAL)])
  while (server.pendingRequests > 0)
  await server.stop(true)
}

type Server = Bun.Server<undefined>

type PeerOf = (request: Request, server: Server) => Peer

const unixPeer: PeerOf = () => "unix"

const DECISIONS: readonly string[] = [AUTH_PATH, AUTHZ_PATH, `${AUTHZ_PATH}/*`]

/** `deciderOf` tells the peer of a decision, `peerOf` that of everything else. */
function options(routes: Routes, idleTimeout: number, peerOf: PeerOf, deciderOf: PeerOf) {
  const served = (handle: Handler, peer: PeerOf) => (request: Request, server: Server) =>
    handle(request, peer(request, server))
  const patient = (handle: Handler, peer: PeerOf) => (request: Request, server: Server) => {
    server.timeout(request, LONGEST_SILENCE)
    return handle(request, peer(request, server))
  }
  const servedAt = (path: string, handle: Handler) => {
    if (DECISIONS.includes(path)) return served(handle, deciderOf)
    return path.startsWith(API_PREFIX) && idleTimeout < LONGEST_SILENCE
      ? patient(handle, peerOf)
      : served(handle, peerOf)
  }
  const paths = Object.entries(routes.paths)
  return {
    routes: Object.fromEntries(paths.map(([path, handle]) => [path, servedAt(path, handle)])),
    fetch: served(routes.notFound, peerOf),
    // Synchronous: an error handler that resolves later without a Response is sent as a 204.
    error: () => internalError(),
    development: false,
    // Bun's types know it for TCP only; a unix socket would be left with 10 s.
    ...({ idleTimeout } as object),
    maxRequestBodySize: LARGEST_REQUEST,
  } as const
}

// Bun would only say that something is missing.
function refuseMissingDirectory(path: string): void {
  const directory = dirname(path)
  if (existsSync(directory)) return
  throw new GateError("failed", `cannot listen on unix:${path}: there is no directory ${directory}`, {
    hint: "make it, for the user that runs the server, or leave this listener out",
  })
}

// A killed server leaves its socket behind. The database has one owner, and this process is it by now, so no other
// server of ours can be listening there; but a file that is no socket belongs to somebody else.
function removeStaleSocket(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  if (!stats.isSocket()) {
    throw new GateError("failed", `cannot listen on unix:${path}: a file that is no socket stands there`)
  }
  if (isListenedOn(path)) {
    throw new GateError("failed", `cannot listen on unix:${path}: another server listens there`)
  }
  unlinkSync(path)
}

// The kernel lists a socket as long as a process listens on it, by the path that was given: there may be links in it.
function isListenedOn(path: string): boolean {
  const name = `/${basename(path)}`
  const directory = realpathSync(dirname(path))
  return readFileSync("/proc/net/unix", "utf8")
    .split("\n")
    .map((line) => line.slice(line.indexOf(" /") + 1))
    .some((other) => other.endsWith(name) && realDirectoryOf(other) === directory)
}

function realDirectoryOf(path: string): string | null {
  try {
    return realpathSync(dirname(path))
  } catch {
    return null
  }
}
