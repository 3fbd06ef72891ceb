// Requests at a fixed rate over kept connections, whether or not the earlier ones have been answered.

import { waitWhile } from "./wait-while.ts"

export type Planned = { readonly text: string }

/** `delay` is in milliseconds, from the tick at which the request was sent or began to wait for a connection. */
export type Answered<P extends Planned> = (planned: P, status: number, delay: number) => void

export type PacedOptions<P extends Planned> = {
  readonly hostname: string
  readonly port: number
  readonly perSecond: number
  readonly connections: number
  readonly next: () => P
  readonly answered: Answered<P>
}

type Waiting<P> = { readonly planned: P; readonly since: number }

type Line<P> = {
  socket: Bun.Socket<Line<P>> | null
  current: Waiting<P> | null
  received: string
}

const TICK = 1

/**
 * A tick of a millisecond sends what is due. If every connection waits for an answer, the request waits too, and that
 * time counts: a server that stalls is charged for each request that it held up, as its real clients would be. What is
 * not in a delay is how long a request waited for its tick: half a millisecond in the middle, six times what an idle
 * server takes, so that the delays would tell of this clock. A tick that comes late is in `lateness`.
 */
export class PacedRequests<P extends Planned> {
  private readonly idle: Line<P>[] = []
  private readonly queue: Waiting<P>[] = []
  private timer: Timer | null = null
  private startedAt = 0
  private sent = 0
  private outstanding = 0
  /** How many milliseconds too late each tick was: the prober's own fault, and none of the server's. */
  lateness: number[] = []
  /** Connections that the server closed, or that could not be made. */
  broken = 0

  private constructor(private readonly options: PacedOptions<P>) {}

  static async connect<P extends Planned>(options: PacedOptions<P>): Promise<PacedRequests<P>> {
    const paced = new PacedRequests(options)
    for (let i = 0; i < options.connections; i++) await paced.open()
    return paced
  }

  start(): void {
    this.startedAt = performance.now()
    this.sent = 0
    let expected = this.startedAt + TICK
    this.timer = setInterval(() => {
      const now = performance.now()
      this.lateness.push(Math.max(0, now - expected))
      expected = now + TICK
      this.catchUp()
    }, TICK)
  }

  /** Sends what is due by now and has not been sent, without waiting for the next tick. */
  catchUp(): void {
    const due = Math.floor(((performance.now() - this.startedAt) * this.options.perSecond) / 1000)
    for (; this.sent < due; this.sent++) this.send(this.options.next())
  }

  /** Sends nothing more, and waits for what is under way, for at most `patience` milliseconds. */
  async stop(patience: number): Promise<{ unanswered: number }> {
    if (this.timer !== null) clearInterval(this.timer)
    await waitWhile(() => this.outstanding > 0, patience)
    return { unanswered: this.outstanding }
  }

  private async open(): Promise<void> {
    const line: Line<P> = { socket: null, current: null, received: "" }
    line.socket = await Bun.connect<Line<P>>({
      hostname: this.options.hostname,
      port: this.options.port,
      data: line,
      socket: {
        data: (_, bytes) => this.receive(line, bytes),
        close: () => {
          this.broken++
          const place = this.idle.indexOf(line)
          if (place !== -1) this.idle.splice(place, 1)
        },
        error: () => {},
      },
    })
    line.socket.setNoDelay(true)
    this.idle.push(line)
  }

  private send(planned: P): void {
    this.outstanding++
    const waiting = { planned, since: performance.now() }
    // In turns, so that the server sees no connection idle.
    const line = this.idle.shift()
    if (line === undefined) this.queue.push(waiting)
    else this.put(line, waiting)
  }

  private put(line: Line<P>, waiting: Waiting<P>): void {
    line.current = waiting
    line.socket?.write(waiting.planned.text)
  }

  private receive(line: Line<P>, bytes: Buffer): void {
    line.received += bytes.toString("latin1")
    const head = line.received.indexOf("\r\n\r\n")
    if (head === -1) return
    const length = Number(/\r\nContent-Length: ([0-9]+)/i.exec(line.received)?.[1] ?? 0)
    if (line.received.length < head + 4 + length) return
    const status = Number(line.received.slice(9, 12))
    line.received = ""
    const { current } = line
    line.current = null
    if (current !== null) {
      this.outstanding--
      this.options.answered(current.planned, status, performance.now() - current.since)
    }
    const next = this.queue.shift()
    if (next === undefined) this.idle.push(line)
    else this.put(line, next)
  }
}
