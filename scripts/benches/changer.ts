// A process that changes the permanent list at a fixed rate, adding and removing in turns, and checks each answer.
// It ends at a line on its input, and prints one line of JSON.

import { PERMANENT_PATH } from "../../src/wire/paths.ts"
import { PacedRequests } from "./paced-requests.ts"
import { percentile } from "./statistics.ts"

export type ChangerOptions = {
  readonly hostname: string
  readonly port: number
  readonly token: string
  readonly perSecond: number
  readonly connections: number
  /** Another number for each changer of a server: its addresses are those of 10.RUN.0.0/16. */
  readonly run: number
}

export type Changes = {
  /** Changes that were acknowledged. */
  readonly done: number
  readonly wrong: number
  readonly unanswered: number
  readonly perSecond: number
  /** Milliseconds until 99 of 100 changes were durable. */
  readonly p99: number
}

type Change = { readonly text: string; readonly status: number }

const PATIENCE = 10_000
/** So many entries stand between an addition and its removal. */
const BEHIND = 100
const ADDRESSES = 1 << 16

const options = JSON.parse(process.argv[2] ?? "{}") as ChangerOptions
const head = `HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${options.token}\r\n`
let step = 0
let wrong = 0
const delays: number[] = []

const paced = await PacedRequests.connect<Change>({
  ...options,
  next: () => (step % 2 === 0 ? add(step++ >> 1) : remove((step++ >> 1) - BEHIND)),
  answered: (planned, status, delay) => {
    delays.push(delay)
    if (status !== planned.status) wrong++
  },
})
const startedAt = performance.now()
paced.start()
console.log("ready")
for await (const _ of console) break
const seconds = (performance.now() - startedAt) / 1000
const answeredInTime = delays.length
const { unanswered } = await paced.stop(PATIENCE)
const changes: Changes = {
  done: delays.length - wrong,
  wrong,
  unanswered,
  perSecond: answeredInTime / seconds,
  p99: percentile(delays, 0.99),
}
console.log(JSON.stringify(changes))
process.exit(0)

function add(number: number): Change {
  const body = JSON.stringify({ ip: nameOf(number) })
  const text = `POST ${PERMANENT_PATH} ${head}Content-Length: ${body.length}\r\n\r\n${body}`
  return { text, status: 204 }
}

function remove(number: number): Change {
  if (number < 0) return add(ADDRESSES + number)
  return { text: `DELETE ${PERMANENT_PATH}/${nameOf(number)} ${head}\r\n`, status: 204 }
}

function nameOf(number: number): string {
  const value = number % ADDRESSES
  return `10.${options.run}.${value >> 8}.${value & 255}`
}
