// A process that asks /auth at a fixed rate, checks each answer, and tells how long they took.
// Lines in: `begin`, `end`; for each `end` one line of JSON out.

import { readFileSync } from "node:fs"
import { PacedRequests, type Planned } from "./paced-requests.ts"
import { QuietSlices } from "./quiet-slices.ts"
import { percentile } from "./statistics.ts"
import { ticks } from "./stolen-time.ts"

/** What is known of a client: let in, kept out, or let in from some moment on and ever after. */
export type Expectation = "in" | "out" | "from-now-on"

export type ProberOptions = {
  readonly hostname: string
  readonly port: number
  readonly perSecond: number
  readonly connections: number
  /** A file of lines `EXPECTATION CLIENT`. */
  readonly clients: string
}

export type Window = {
  readonly answers: number
  /** Answers that were not what they had to be. */
  readonly wrong: number
  readonly firstWrong: string
  /** Requests that got no answer within three seconds after the end. */
  readonly unanswered: number
  readonly broken: number
  /** Clients that were kept out at first and have been let in, since the prober's start. */
  readonly letIn: number
  /** Milliseconds. The longest is that of the whole window, the others are those of its quiet slices. */
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** The share of the window in which the host of a virtual machine took a processor away. */
  readonly leftOut: number
  /** How late the prober's own clock was: 99 of 100 ticks less. */
  readonly lateness: number
}

const PATIENCE = 3_000
/** Milliseconds. The kernel tells of stolen time in hundredths of a second. */
const SLICE = 250

type Client = Planned & { expectation: Expectation; readonly name: string; isIn: boolean }

const options = JSON.parse(process.argv[2] ?? "{}") as ProberOptions
const clients = readFileSync(options.clients, "utf8").trim().split("\n").map(toClient)
let at = 0
let wrong = 0
let firstWrong = ""
let letIn = 0
const slices = new QuietSlices(ticks)

const paced = await PacedRequests.connect({
  ...options,
  next: () => clients[at++ % clients.length] as Client,
  answered: (planned, status, delay) => {
    slices.add(delay)
    judge(planned as Client, status)
  },
})
paced.start()
setInterval(() => slices.turn(), SLICE)
console.log("ready")

for await (const line of console) {
  if (line === "begin") {
    slices.begin()
    paced.lateness = []
    paced.broken = 0
    wrong = 0
    firstWrong = ""
  } else if (line === "end") {
    const window = result(0)
    console.log(JSON.stringify(window))
  } else if (line === "stop") {
    const { unanswered } = await paced.stop(PATIENCE)
    console.log(JSON.stringify(result(unanswered)))
    process.exit(0)
  }
}

function result(unanswered: number): Window {
  slices.turn()
  const { everything, counting } = slices
  return {
    answers: everything.length,
    wrong,
    firstWrong,
    unanswered,
    broken: paced.broken,
    letIn,
    p50: percentile(counting, 0.5),
    p99: percentile(counting, 0.99),
    max: Math.max(0, percentile(everything, 1)),
    leftOut: slices.leftOut,
    lateness: percentile(paced.lateness, 0.99),
  }
}

function judge(client: Client, status: number): void {
  const isIn = status === 204
  const isRight =
    (isIn || status === 401) &&
    (client.expectation === "from-now-on" ? isIn || !client.isIn : isIn === (client.expectation === "in"))
  if (isIn && !client.isIn) {
    client.isIn = true
    letIn++
  }
  if (isRight) return
  wrong++
  firstWrong ||= `${client.name} (${client.expectation}): ${status}`
}

function toClient(line: string): Client {
  const [expectation = "out", name = ""] = line.split(" ")
  return {
    text: `GET /auth HTTP/1.1\r\nHost: bench\r\nX-Real-IP: ${name}\r\n\r\n`,
    status: 0,
    name,
    expectation: expectation as Expectation,
    isIn: expectation === "in",
  }
}
