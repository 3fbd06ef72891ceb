// Clients that change and ask at random until the server is gone, and write down what they saw.

import { TOKEN } from "../../support/binary.ts"
import type { Prng } from "../../support/prng.ts"
import type { Operation, Value } from "./model.ts"

/** Few, so that the clients meet. */
export const PERMANENT = ["10.1.0.1", "10.1.0.2", "2001:db8::1"]
export const TEMPORARY = ["10.2.0.1", "10.2.0.2", "2001:db8:2::/64"]
export const ADDRESSES = [...PERMANENT, ...TEMPORARY]

/** Seconds. The shortest ends while the clients are at work. */
const LIFETIMES = [1, 2, 3_600]

/** What one import added: all of it has to be there, or none. */
export type Imported = { readonly reason: string; readonly addresses: readonly string[] }

export class Recording {
  readonly operations = new Map<string, Operation[]>(ADDRESSES.map((ip) => [ip, []]))
  readonly imports: Imported[] = []
  answered = 0
  decisions = 0

  add(ip: string, operation: Operation): void {
    this.operations.get(ip)?.push(operation)
    if (operation.answered < Number.POSITIVE_INFINITY) this.answered++
    if (operation.kind === "ask") this.decisions++
  }
}

/** What came back; `null` if nobody knows what became of the request, `"gone"` if it never arrived. */
type Answer = { readonly status: number; readonly headers: Headers; readonly text: string } | null | "gone"

export class Client {
  private count = 0

  constructor(
    private readonly url: string,
    private readonly name: string,
    private readonly random: Prng,
    private readonly recording: Recording,
  ) {}

  /** Works until `signal`, or until the server does not take connections any more. */
  async work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.step())) {
      // One after the other: a client that did two things at once would be two clients.
    }
  }

  /** False if there is no server. */
  private async step(): Promise<boolean> {
    const choice = this.random.below(100)
    if (choice < 22) return this.addPermanent(this.random.pick(PERMANENT))
    if (choice < 40) return this.remove("perm", this.random.pick(PERMANENT))
    if (choice < 56) return this.addTemporary(this.random.pick(TEMPORARY))
    if (choice < 64) return this.remove("temp", this.random.pick(TEMPORARY))
    if (choice < 92) return this.ask(this.random.pick(ADDRESSES))
    if (choice < 97) return this.list(this.random.pick(["perm", "temp"]))
    return this.import()
  }

  private addPermanent(ip: string): Promise<boolean> {
    return this.change(ip, "POST", "/api/whitelist/perm", { ip }, (result) => ({
      kind: "add",
      reason: null,
      result,
    }))
  }

  private addTemporary(ip: string): Promise<boolean> {
    const reason = this.newReason()
    const body = { ip, ttl_seconds: this.random.pick(LIFETIMES), reason }
    return this.change(ip, "POST", "/api/whitelist/temp", body, (result) => ({ kind: "add", reason, result }))
  }

  private remove(list: "perm" | "temp", ip: string): Promise<boolean> {
    const path = `/api/whitelist/${list}/${encodeURIComponent(ip)}`
    return this.change(ip, "DELETE", path, undefined, (result) => ({ kind: "remove", result }))
  }

  private async change(
    ip: string,
    method: string,
    path: string,
    body: object | undefined,
    operation: (
      result: string | null,
    ) =>
      | { kind: "add"; reason: string | null; result: string | null }
      | { kind: "remove"; result: string | null },
  ): Promise<boolean> {
    const asked = Date.now()
    const answer = await this.send(method, path, body)
    if (answer === "gone") return false
    const result =
      answer?.status === 204
        ? answer.headers.get("Ipgate-Result")
        : answer?.status === 409
          ? "conflict"
          : null
    // An error says that the change was not made, but the caller may not rely on that.
    if (answer !== null && result === null && answer.status !== 500) throw unexpected(method, path, answer)
    this.recording.add(ip, {
      ...operation(result),
      asked,
      answered: result === null ? Number.POSITIVE_INFINITY : Date.now(),
    })
    return answer !== null
  }

  private async ask(ip: string): Promise<boolean> {
    const asked = Date.now()
    const address = ip.replace("::/64", "::9")
    const answer = await this.send("GET", "/auth", undefined, { "X-Real-IP": address })
    if (answer === "gone" || answer === null) return false
    if (answer.status !== 204 && answer.status !== 401) throw unexpected("GET", "/auth", answer)
    this.recording.add(ip, { kind: "ask", result: answer.status === 204, asked, answered: Date.now() })
    return true
  }

  private async list(list: "perm" | "temp"): Promise<boolean> {
    const asked = Date.now()
    const path = `/api/whitelist/${list}/list?limit=1000`
    const answer = await this.send("GET", path)
    if (answer === "gone" || answer === null) return false
    if (answer.status === 500) return true
    if (answer.status !== 200) throw unexpected("GET", path, answer)
    const answered = Date.now()
    const values = valuesOf(JSON.parse(answer.text))
    for (const ip of list === "perm" ? PERMANENT : TEMPORARY) {
      this.recording.add(ip, { kind: "read", result: values.get(ip) ?? "absent", asked, answered })
    }
    return true
  }

  /** One permanent entry, and all of the temporary ones. */
  private async import(): Promise<boolean> {
    const reason = this.newReason()
    const permanent = this.random.pick(PERMANENT)
    const lines = [permanent, ...TEMPORARY.map((ip) => `${ip}\t3600\t${reason}`)]
    const asked = Date.now()
    const answer = await this.send("POST", "/api/whitelist/import", `${lines.join("\n")}\n`)
    if (answer === "gone") return false
    if (answer !== null && answer.status !== 200 && answer.status !== 500) {
      throw unexpected("POST", "/api/whitelist/import", answer)
    }
    // The answer counts, and does not say which entry was there before.
    const answered = answer?.status === 200 ? Date.now() : Number.POSITIVE_INFINITY
    const isDone = answered < Number.POSITIVE_INFINITY
    this.recording.imports.push({ reason, addresses: TEMPORARY })
    this.recording.add(permanent, { kind: "add", reason: null, result: null, asked, answered })
    for (const ip of TEMPORARY) this.recording.add(ip, { kind: "add", reason, result: null, asked, answered })
    return isDone || answer !== null
  }

  private newReason(): string {
    return `${this.name} ${++this.count}`
  }

  private async send(
    method: string,
    path: string,
    body?: object | string,
    headers: Record<string, string> = { Authorization: `Bearer ${TOKEN}` },
  ): Promise<Answer> {
    try {
      const answer = await fetch(this.url + path, {
        method,
        headers,
        // A request that is sent again by itself on another connection would be two changes.
        keepalive: false,
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      })
      return { status: answer.status, headers: answer.headers, text: await answer.text() }
    } catch (cause) {
      return (cause as { code?: unknown }).code === "ConnectionRefused" ? "gone" : null
    }
  }
}

/** What a list holds, by the address. */
export function valuesOf(rows: ReadonlyArray<{ ip: string; reason?: string; expires?: string }>) {
  return new Map<string, Value>(
    rows.map(({ ip, reason, expires }) => [
      ip,
      expires === undefined
        ? { reason: null, until: Number.POSITIVE_INFINITY }
        : { reason: reason ?? null, until: Date.parse(expires) },
    ]),
  )
}

function unexpected(method: string, path: string, { status, text }: { status: number; text: string }): Error {
  return new Error(`${method} ${path}: ${status} ${text}`)
}
