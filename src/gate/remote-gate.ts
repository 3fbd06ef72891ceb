// The gate over HTTP: the same contract, asked of a running server.

import type { AuditDetail, AuditQuery, AuditRecord } from "../core/audit.ts"
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
import { AuthorizedRequests, json, pieces, type Send, succeeded } from "./authorized-requests.ts"

/** Milliseconds without a word, three heartbeats long, after which a stream counts as lost. */
const FEED_SILENCE = 45_000

export class RemoteGate implements Gate {
  private readonly api: AuthorizedRequests

  /** `token` is asked at each request that needs one, so that `status` works without. */
  constructor(
    private readonly send: Send,
    token: () => string,
  ) {
    this.api = new AuthorizedRequests(send, token)
  }

  async addPermanent(network: Network): Promise<"added"> {
    await this.api.post(paths.PERMANENT_PATH, { ip: network.toString() })
    return "added"
  }

  removePermanent(network: Network): Promise<"removed" | "absent"> {
    return this.remove(paths.PERMANENT_PATH, network)
  }

  async listPermanent(page: Page): Promise<PermanentEntry[]> {
    return answers
      .list(await this.api.get(paths.PERMANENT_LIST_PATH, parameters(page)))
      .map(answers.permanentEntryFromJson)
  }

  async addTemporary({ network, ttlSeconds, reason }: TemporaryGrant) {
    const body = { ip: network.toString(), ttl_seconds: ttlSeconds, ...(reason === null ? {} : { reason }) }
    const answer = await this.api.post(paths.TEMPORARY_PATH, body)
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
      .list(await this.api.get(paths.TEMPORARY_LIST_PATH, parameters(page)))
      .map(answers.temporaryEntryFromJson)
  }

  async import({ lines, prune }: ImportRequest): Promise<ImportCounts> {
    const query = prune === null ? "" : `?${new URLSearchParams({ prune: String(prune.maxRemovals) })}`
    const headers = { "Content-Type": "text/plain; charset=utf-8" }
    const init = { method: "POST", body: lines, headers }
    const answer = await this.api.request(paths.IMPORT_PATH + query, init, "bulk")
    return answers.importCountsFromJson(await json(answer))
  }

  async *export(): AsyncGenerator<Uint8Array> {
    yield* pieces(await this.api.request(paths.EXPORT_PATH, {}, "bulk"), "the export")
  }

  async *backup(): AsyncGenerator<Uint8Array> {
    yield* pieces(await this.api.request(paths.BACKUP_PATH, {}, "bulk"), "the backup")
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
      const answer = await this.api.request(`${paths.EVENTS_PATH}?${query}`, {
        signal: AbortSignal.any([signal, silence.signal]),
      })
      yield* eventsOf(silence.watch(pieces(answer, "the stream of changes")))
    } catch (cause) {
      if (!signal.aborted) throw cause
    } finally {
      silence.end()
    }
  }

  async refused(page: Page): Promise<RefusedEntry[]> {
    return answers
      .list(await this.api.get(paths.DENIED_PATH, parameters(page)))
      .map(answers.refusedEntryFromJson)
  }

  async decisions(): Promise<DecisionCounts> {
    return answers.decisionCountsFromJson(await this.api.get(paths.DECISIONS_PATH, new URLSearchParams()))
  }

  async audit(query: AuditQuery): Promise<AuditRecord[]> {
    return answers
      .list(await this.api.get(paths.LOGS_PATH, auditParameters(query)))
      .map(answers.auditRecordFromJson)
  }

  async auditDetail(query: AuditQuery): Promise<AuditDetail[]> {
    const wanted = auditParameters(query)
    wanted.set("detail", "1")
    return answers.list(await this.api.get(paths.LOGS_PATH, wanted)).map(answers.auditDetailFromJson)
  }

  async check(network: Network): Promise<Coverage> {
    const query = new URLSearchParams({ ip: network.toString(), matches: "all" })
    return answers.coverageFromJson(await this.api.get(paths.CHECK_PATH, query))
  }

  async status(): Promise<Status> {
    return answers.statusFromJson(await json(await succeeded(await this.send(paths.STATUS_PATH, {}))))
  }

  private async remove(path: string, network: Network): Promise<"removed" | "absent"> {
    const answer = await this.api.request(paths.entryPath(path, network.toString()), { method: "DELETE" })
    return answer.headers.get(paths.RESULT_HEADER) === "absent" ? "absent" : "removed"
  }
}

async function* eventsOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<FeedEvent> {
  try {
    yield* parseEvents(stream)
  } catch (cause) {
    if (cause instanceof GateError) throw cause
    throw new GateError("unavailable", "the stream of changes cannot be read: is this an ipgate server?", {
      cause,
    })
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

  async *watch(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of stream) {
      clearTimeout(this.timer)
      this.timer = this.arm()
      yield piece
    }
  }

  end(): void {
    clearTimeout(this.timer)
  }

  private arm(): Timer {
    const error = new GateError(
      "unavailable",
      `the server has sent nothing for ${this.milliseconds / 1000} s`,
    )
    return setTimeout(() => this.controller.abort(error), this.milliseconds)
  }
}

function parameters({ limit, offset }: Page): URLSearchParams {
  return new URLSearchParams({ limit: String(limit), offset: String(offset) })
}

function auditParameters({ action, network, ...page }: AuditQuery): URLSearchParams {
  const query = parameters(page)
  if (action !== undefined) query.set("action", action)
  if (network !== undefined) query.set("ip", network.toString())
  return query
}
