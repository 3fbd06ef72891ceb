// The gate over HTTP: the same contract, asked of a running server.

import type { AuditQuery, AuditRecord } from "../core/audit.ts"
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
import type { Network } from "../core/network.ts"
import type { Page } from "../core/page.ts"
import type { Status } from "../core/status.ts"
import * as answers from "../wire/answers.ts"
import { parseEvents } from "../wire/event-stream.ts"
import * as paths from "../wire/paths.ts"
import { codeOf } from "../wire/statuses.ts"

/** Milliseconds for a million entries, on their way in or out. */
const BULK_TIMEOUT = 600_000

/** A hundred bad lines of an import; what is longer is no message of ours. */
const LONGEST_MESSAGE = 50_000

/** Milliseconds without a word, three heartbeats long, after which a stream counts as lost. */
const FEED_SILENCE = 45_000

/** Sends one request to the server; `path` begins with a slash. Rejects if the server is out of reach. */
export type Send = (path: string, init: RequestInit) => Promise<Response>

export class RemoteGate implements Gate {
  constructor(
    private readonly send: Send,
    /** Asked for at each request that needs it, so that `status` works without a token. */
    private readonly token: () => string,
  ) {}

  async addPermanent(network: Network): Promise<"added"> {
    await this.post(paths.PERMANENT_PATH, { ip: network.toString() })
    return "added"
  }

  removePermanent(network: Network): Promise<"removed" | "absent"> {
    return this.remove(paths.PERMANENT_PATH, network)
  }

  async listPermanent(page: Page): Promise<PermanentEntry[]> {
    return answers
      .list(await this.get(paths.PERMANENT_LIST_PATH, parameters(page)))
      .map(answers.permanentEntryFromJson)
  }

  async addTemporary({ network, ttlSeconds, reason }: TemporaryGrant) {
    const body = { ip: network.toString(), ttl_seconds: ttlSeconds, ...(reason === null ? {} : { reason }) }
    const answer = await this.post(paths.TEMPORARY_PATH, body)
    const replaced = answer.headers.get(paths.RESULT_HEADER) === "replaced"
    return {
      result: replaced ? ("replaced" as const) : ("added" as const),
      expiresAt: answers.time(answer.headers.get(paths.EXPIRES_HEADER) ?? ""),
    }
  }

  removeTemporary(network: Network): Promise<"removed" | "absent"> {
    return this.remove(paths.TEMPORARY_PATH, network)
  }

  async listTemporary(page: Page): Promise<TemporaryEntry[]> {
    return answers
      .list(await this.get(paths.TEMPORARY_LIST_PATH, parameters(page)))
      .map(answers.temporaryEntryFromJson)
  }

  async import({ lines, prune }: ImportRequest): Promise<ImportCounts> {
    const query = prune === null ? "" : `?${new URLSearchParams({ prune: String(prune.maxRemovals) })}`
    const answer = await this.authorized(paths.IMPORT_PATH + query, {
      method: "POST",
      body: lines,
      headers: { "Content-Type": "text/plain; charset=utf-8" },
      signal: AbortSignal.timeout(BULK_TIMEOUT),
    })
    return answers.importCountsFromJson(await json(answer))
  }

  async *export(): AsyncGenerator<Uint8Array> {
    const answer = await this.authorized(paths.EXPORT_PATH, { signal: AbortSignal.timeout(BULK_TIMEOUT) })
    if (answer.body !== null) yield* answer.body
  }

  async *follow(
    start: FeedStart,
    { action, network }: FeedFilter,
    signal: AbortSignal,
  ): AsyncGenerator<FeedEvent> {
    const query = new URLSearchParams()
    if ("after" in start) query.set("after", String(start.after))
    else query.set("tail", String(start.tail))
    if (action !== undefined) query.set("action", action)
    if (network !== undefined) query.set("ip", network.toString())
    const silence = new Silence(FEED_SILENCE)
    try {
      const answer = await this.authorized(`${paths.EVENTS_PATH}?${query}`, {
        signal: AbortSignal.any([signal, silence.signal]),
      })
      if (answer.body !== null) yield* eventsOf(silence.watch(answer.body))
    } catch (cause) {
      if (!signal.aborted) throw cause
    } finally {
      silence.end()
    }
  }

  async refused(page: Page): Promise<RefusedEntry[]> {
    return answers.list(await this.get(paths.DENIED_PATH, parameters(page))).map(answers.refusedEntryFromJson)
  }

  async decisions(): Promise<DecisionCounts> {
    return answers.decisionCountsFromJson(await this.get(paths.DECISIONS_PATH, new URLSearchParams()))
  }

  async audit({ action, network, ...page }: AuditQuery): Promise<AuditRecord[]> {
    const query = parameters(page)
    if (action !== undefined) query.set("action", action)
    if (network !== undefined) query.set("ip", network.toString())
    return answers.list(await this.get(paths.LOGS_PATH, query)).map(answers.auditRecordFromJson)
  }

  async check(network: Network): Promise<Coverage> {
    const query = new URLSearchParams({ ip: network.toString(), matches: "all" })
    return answers.coverageFromJson(await this.get(paths.CHECK_PATH, query))
  }

  async status(): Promise<Status> {
    return answers.statusFromJson(await json(await succeeded(await this.send(paths.STATUS_PATH, {}))))
  }

  private async get(path: string, query: URLSearchParams): Promise<unknown> {
    return json(await this.authorized(`${path}?${query}`, {}))
  }

  private post(path: string, body: object): Promise<Response> {
    return this.authorized(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
    })
  }

  private async remove(path: string, network: Network): Promise<"removed" | "absent"> {
    const answer = await this.authorized(paths.entryPath(path, network.toString()), { method: "DELETE" })
    return answer.headers.get(paths.RESULT_HEADER) === "absent" ? "absent" : "removed"
  }

  private async authorized(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set("Authorization", `Bearer ${this.token()}`)
    return succeeded(await this.send(path, { ...init, headers }))
  }
}

async function* eventsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<FeedEvent> {
  try {
    yield* parseEvents(pieces)
  } catch (cause) {
    if (cause instanceof GateError) throw cause
    throw new GateError("unavailable", "the server has ended the stream of changes", { cause })
  }
}

/** Aborts when nothing has come for too long: a peer that is gone without a word looks like a quiet one. */
class Silence {
  private readonly controller = new AbortController()
  private timer: Timer

  constructor(private readonly milliseconds: number) {
    this.timer = this.arm()
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  async *watch(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      clearTimeout(this.timer)
      this.timer = this.arm()
      yield piece
    }
  }

  end(): void {
    clearTimeout(this.timer)
  }

  private arm(): Timer {
    return setTimeout(() => this.controller.abort(), this.milliseconds)
  }
}

function parameters({ limit, offset }: Page): URLSearchParams {
  return new URLSearchParams({ limit: String(limit), offset: String(offset) })
}

async function succeeded(answer: Response): Promise<Response> {
  if (answer.status === 200 || answer.status === 204) return answer
  const text = (await answer.text()).trim()
  const message = text === "" || text.length > LONGEST_MESSAGE ? `the server answered ${answer.status}` : text
  throw new GateError(codeOf(answer.status), message)
}

async function json(answer: Response): Promise<unknown> {
  try {
    return await answer.json()
  } catch (cause) {
    throw new GateError("failed", "the server's answer is not JSON: is this an ipgate server?", { cause })
  }
}
