// A whole server in this process: its own database in a directory of its own, a free port, and a clock that stands still.

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ServerConfig, startServer } from "../../src/app/server.ts"
import type { Clock } from "../../src/core/clock.ts"
import { formatListenAddress, type ListenAddress } from "../../src/listen-address.ts"
import { watchAnswers } from "../contract/watched.ts"
import { FakeClock } from "./fake-clock.ts"
import { lineLog } from "./line-log.ts"
import { DEFAULT_TRUSTED_PROXIES } from "./trusted-proxies.ts"

/** The token of a test server that is not given others. */
export const TOKEN = "a-token-for-tests-of-48-characters-0123456789ab!"

export const ANY_PORT: ListenAddress = { kind: "tcp", hostname: "127.0.0.1", port: 0 }

export type RunningServerOptions = Partial<ServerConfig> & {
  readonly tokens?: readonly string[]
  /** Default: a clock that moves only when the test moves it. */
  readonly clock?: Clock
  /** Default: a new one, which `stop` removes. A directory that was given stays, so that another server can follow. */
  readonly directory?: string
  /** False over a database that was written by hand, whose rows can hold what the API's document rules out. */
  readonly watched?: boolean
}

export type RunningServer = {
  /** The first of `addresses`. */
  readonly address: ListenAddress
  readonly addresses: readonly ListenAddress[]
  /** `http://127.0.0.1:PORT`, of the first TCP address. */
  readonly url: string
  /** The same of the metrics, which it has if it was given an address for them. */
  readonly metricsUrl: string
  readonly token: string
  readonly directory: string
  readonly databasePath: string
  /** The lines that the server logged, each with its line feed. */
  readonly log: readonly string[]
  /** A request without a token. */
  request(method: string, path: string, init?: BunFetchRequestInit): Promise<Response>
  /** A request with the token. A body that is no text is sent as JSON. */
  api(method: string, path: string, body?: unknown): Promise<Response>
  /** The JSON of a GET with the token. */
  read(path: string): Promise<unknown>
  /** Adds to the permanent list, and fails if that does not succeed. */
  addPermanent(...texts: readonly string[]): Promise<void>
  /** The status of `GET /auth` for this `X-Real-IP`. */
  decision(clientText: string): Promise<number>
  /** Everything on both lists, as the API shows it. */
  lists(): Promise<{ permanent: string[]; temporary: Array<{ ip: string; reason: string; expires: string }> }>
  /** The audit log, the oldest record first. */
  audit(): Promise<AuditRow[]>
  stop(): Promise<void>
}

export type AuditRow = {
  readonly timestamp: string
  readonly action: string
  readonly ip: string | null
  readonly ttl_seconds: number | null
  readonly reason: string | null
  readonly api_client_ip: string | null
}

export async function runServer({
  tokens = [TOKEN],
  clock = new FakeClock(),
  directory: given,
  watched = true,
  ...config
}: RunningServerOptions = {}): Promise<RunningServer> {
  const directory = given ?? mkdtempSync(join(tmpdir(), "ipgate-test-"))
  const databasePath = config.databasePath ?? join(directory, "ipgate.db")
  const log: string[] = []
  const server = await startServer(
    {
      listen: [ANY_PORT],
      trustedProxies: DEFAULT_TRUSTED_PROXIES,
      clientIpHeader: "X-Real-IP",
      ...config,
      databasePath,
    },
    tokens,
    clock,
    lineLog((line) => log.push(line), clock),
  )
  const [address] = server.addresses
  if (address === undefined) throw new Error("the server has no address")
  const unwatch = watchAnswers(watched ? server.addresses : [])
  const tcp = server.addresses.find((one) => one.kind === "tcp")
  const url = tcp === undefined ? "http://localhost" : `http://${formatListenAddress(tcp)}`
  const metricsUrl = `http://${/metrics on (\S+)/.exec(log.join(""))?.[1]}`
  const token = tokens[0] ?? ""

  const request = (method: string, path: string, init: BunFetchRequestInit = {}) =>
    fetch(url + path, {
      method,
      redirect: "manual",
      ...(tcp === undefined && address.kind === "unix" ? { unix: address.path } : {}),
      ...init,
    })
  const api = (method: string, path: string, body?: unknown) =>
    request(method, path, {
      headers: { Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    })
  const read = async (path: string): Promise<unknown> => {
    const answer = await api("GET", path)
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  return {
    address,
    addresses: server.addresses,
    url,
    metricsUrl,
    token,
    directory,
    databasePath,
    log,
    request,
    api,
    read,
    addPermanent: async (...texts) => {
      for (const ip of texts) {
        const answer = await api("POST", "/api/whitelist/perm", { ip })
        if (answer.status !== 204) throw new Error(`${ip}: ${answer.status} ${await answer.text()}`)
      }
    },
    decision: async (clientText) => {
      const { status } = await request("GET", "/auth", { headers: { "X-Real-IP": clientText } })
      return status
    },
    lists: async () => {
      const permanent = (await read("/api/whitelist/perm/list?limit=1000")) as Array<{ ip: string }>
      const temporary = await read("/api/whitelist/temp/list?limit=1000")
      return {
        permanent: permanent.map(({ ip }) => ip),
        temporary: temporary as Array<{ ip: string; reason: string; expires: string }>,
      }
    },
    audit: async () => ((await read("/api/logs?limit=1000")) as AuditRow[]).reverse(),
    stop: async () => {
      await server.stop()
      unwatch()
      if (given === undefined) rmSync(directory, { recursive: true, force: true })
    },
  }
}
