// A process that asks /auth at a fixed rate, checks each answer, and tells how long they took.
// Lines in: `begin`, `end`, `stop`; for each but the first one line of JSON out, when the window's answers have come.

import { readFileSync } from "node:fs"
import { DelayWindow } from "./delay-window.ts"
import { memoryMonitor } from "./memory-monitor.ts"
import { PacedRequests, type Planned } from "./paced-requests.ts"
import { percentile } from "./statistics.ts"
import { ticks } from "./stolen-time.ts"
import { waitWhile } from "./wait-while.ts"

/** What is known of a client: let in, kept out, or let in from some moment on and ever after. */
export type Expectation = "in" | "out" | "from-now-on"

export type ProberOptions = {
  readonly hostname: string
  readonly port: number
  readonly perSecond: number
  readonly connections: number
  /** A file of lines `EXPECTATION CLIENT`. */
  readonly clients: string
  /** Milliseconds that a window waits after its end for the answers that it still lacks. */
  readonly patience: number
}

/** Of the requests that were due in the window, and of no others. */
export type Window = {
  readonly answers: number
  /** Answers that were not what they had to be. */
  readonly wrong: number
  readonly firstWrong: string
  /** Requests that got no answer even after the end, while the prober had patience. */
  readonly unanswered: number
  /** Connections that broke since the last window was told. */
  readonly broken: number
  /** Clients that were kept out at first and have been let in, since the prober's start. */
  readonly letIn: number
  /** Milliseconds. The longest is that of the whole window, the first two are those of its quiet slices. */
  readonly p50: number
  readonly p99: number
  /** With the slices that were not quiet. */
  readonly p99OfAll: number
  readonly max: number
  /** The share of the window in which the host of a virtual machine took a processor away, or its monitor of the memory. */
  readonly leftOut: number
  /** How late the prober's own clock was: 99 of 100 ticks less. */
  readonly lateness: number
}

/** Milliseconds. The kernel tells of stolen time in hundredths of a second. */
const SLICE = 250

type Client = { readonly text: string; expectation: Expectation; readonly name: string; isIn: boolean }
type Asked = Planned & { readonly client: Client; readonly window: DelayWindow | null }

const options = JSON.parse(process.argv[2] ?? "{}") as ProberOptions
const clients = readFileSync(options.clients, "utf8").trim().split("\n").map(toClient)
const monitor = memoryMonitor()
const taken = () => ({ ticks: ticks(), monitor: monitor() })
let at = 0
let letIn = 0
/** The window that what is due now belongs to, and the one whose slices go on until its last answer. */
let open: DelayWindow | null = null
let counting: DelayWindow | null = null

const paced = await PacedRequests.connect<Asked>({ ...options, next, answered })
paced.start()
setInterval(() => counting?.slices.turn(), SLICE)
console.log("ready")

for await (const line of console) {
  // What was due before this line belongs to what was before it.
  paced.catchUp()
  if (line === "begin") {
    open = new DelayWindow(taken)
    counting = open
    paced.lateness = []
  } else if (line === "end" && open !== null) {
    const ended = open
    open = null
    await waitWhile(() => ended.unanswered > 0, options.patience)
    tell(ended, ended.unanswered)
  } else if (line === "stop") {
    const { unanswered } = await paced.stop(options.patience)
    tell(open ?? new DelayWindow(taken), unanswered)
    break
  }
}
// Also where the input ends without a word: whoever asked is gone, and nobody else would ever end this process.
process.exit(0)

function next(): Asked {
  const client = clients[at++ % clients.length] as Client
  open?.ask()
  return { text: client.text, client, window: open }
}

function answered({ client, window }: Asked, status: number, delay: number): void {
  const wrong = judge(client, status)
  window?.answer(delay, wrong)
}

function tell({ slices, wrong, firstWrong }: DelayWindow, unanswered: number): void {
  slices.turn()
  counting = null
  const { everything, counting: quiet } = slices
  const window: Window = {
    answers: everything.length,
    wrong,
    firstWrong,
    unanswered,
    broken: paced.broken,
    letIn,
    p50: percentile(quiet, 0.5),
    p99: percentile(quiet, 0.99),
    p99OfAll: percentile(everything, 0.99),
    max: Math.max(0, percentile(everything, 1)),
    leftOut: slices.leftOut,
    lateness: percentile(paced.lateness, 0.99),
  }
  paced.broken = 0
  console.log(JSON.stringify(window))
}

/** What is wrong with the answer, or `null`. */
function judge(client: Client, status: number): string | null {
  const isIn = status === 204
  const isRight =
    (isIn || status === 401) &&
    (client.expectation === "from-now-on" ? isIn || !client.isIn : isIn === (client.expectation === "in"))
  if (isIn && !client.isIn) {
    client.isIn = true
    letIn++
  }
  return isRight ? null : `${client.name} (${client.expectation}): ${status}`
}

function toClient(line: string): Client {
  const [expectation = "out", name = ""] = line.split(" ")
  return {
    text: `GET /auth HTTP/1.1\r\nHost: bench\r\nX-Real-IP: ${name}\r\n\r\n`,
    name,
    expectation: expectation as Expectation,
    isIn: expectation === "in",
  }
}
