// What the service manager is told: that the server is ready, that it reloads, that it stops, and that it is alive.

type Environment = Readonly<Record<string, string | undefined>>

/** The way to the manager; see sd_notify(3). */
export type Notify = {
  /** Sends lines such as `READY=1`. Never throws. */
  readonly send: (lines: string) => void
  /** CLOCK_MONOTONIC in microseconds, or `null` if it cannot be told. */
  readonly monotonicMicroseconds: () => bigint | null
}

/** Nobody listens: a server that somebody has started by hand. */
const NOBODY: Notify = { send: () => {}, monotonicMicroseconds: () => null }

/**
 * Milliseconds between two signs of life: a third of the time after which the manager acts, so that one may be late.
 * `null` if it does not wait for any, or not for this process.
 */
export function watchdogInterval(
  { WATCHDOG_USEC, WATCHDOG_PID }: Environment,
  processId: number,
): number | null {
  if (WATCHDOG_USEC === undefined || !/^[1-9][0-9]{0,14}$/.test(WATCHDOG_USEC)) return null
  if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(processId)) return null
  return Math.max(1, Math.floor(Number(WATCHDOG_USEC) / 3000))
}

/** True if systemd hands over sockets that it has opened itself, and means this process. */
export function passesSockets({ LISTEN_FDS, LISTEN_PID }: Environment, processId: number): boolean {
  return (
    LISTEN_FDS !== undefined && LISTEN_FDS !== "0" && (LISTEN_PID ?? String(processId)) === String(processId)
  )
}

export class ServiceManager {
  private timer: Timer | null = null

  constructor(private readonly notify: Notify = NOBODY) {}

  ready(status: string): void {
    this.notify.send(`READY=1\nSTATUS=${inLine(status)}`)
  }

  /** A reload has begun. `ready` ends it, whether it went well or not. */
  reloading(): void {
    const now = this.notify.monotonicMicroseconds()
    this.notify.send(`RELOADING=1${now === null ? "" : `\nMONOTONIC_USEC=${now}`}\nSTATUS=reloading`)
  }

  stopping(): void {
    this.notify.send("STOPPING=1\nSTATUS=stopping")
  }

  /**
   * Sends a sign of life now and every `interval` milliseconds, from the loop that answers the requests, so a loop that
   * hangs sends none. The database has no say: whether it fails or works for minutes on an import, the decisions go on
   * from memory. `status` is asked each time.
   */
  keepAlive(interval: number, status: () => string): void {
    const sign = () => this.notify.send(`WATCHDOG=1\nSTATUS=${inLine(status())}`)
    sign()
    this.timer ??= setInterval(sign, interval)
  }

  /** No more signs of life. */
  leave(): void {
    if (this.timer !== null) clearInterval(this.timer)
    this.timer = null
  }
}

/** The protocol separates its fields by line feeds. */
function inLine(text: string): string {
  return text.replace(/\s+/g, " ")
}
