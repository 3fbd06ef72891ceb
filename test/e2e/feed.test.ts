// The stream of changes through 20 kills of the server: in the end the followers know the whole log, each row once.

import { expect, setDefaultTimeout, test } from "bun:test"
import { connect } from "node:net"
import { openRemoteGate } from "../../src/app/remote.ts"
import { AUDIT_LOG_ROWS } from "../../src/core/audit.ts"
import type { FeedFilter } from "../../src/core/feed.ts"
import { keepFollowing } from "../../src/gate/keep-following.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { auditRecordToJson } from "../../src/wire/answers.ts"
import { type ServerProcess, TOKEN, Workplace } from "../support/binary.ts"
import { network } from "../support/parsed.ts"
import { Prng } from "../support/prng.ts"
import { copyDatabase } from "../support/temp-store.ts"

setDefaultTimeout(120_000)

const KILLS = 20
const WRITERS = 8
/** The kill comes after at most so many acknowledged changes, and then so many milliseconds. */
const MOST_BEFORE_KILL = 120
const LONGEST_DELAY = 15
const LAST = "203.0.113.254"

test(`kill -9, ${KILLS} times, while changes are made and followed`, async () => {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
  console.log(`TEST_SEED=${seed}`)
  const random = new Prng(seed)
  await using place = await Workplace.make()
  const socket = place.path("ipgate.sock")
  const start = () => place.serve(["--listen", `unix:${socket}`])

  let server = await start()
  const everything = new Follower(socket, {})
  const grants = new Follower(socket, { action: "add_temp" })
  const oneNetwork = new Follower(socket, { network: network("10.0.0.1") })
  for (let kill = 0; kill < KILLS; kill++) {
    await changeUntilKilled(server, random, everything)
    server = await start()
  }
  await changed(server, "POST", "/api/whitelist/perm", { ip: LAST })
  await changed(server, "POST", "/api/whitelist/temp", { ip: LAST, ttl_seconds: 3600 })
  await everything.hasSeen("add_perm", LAST)
  await grants.hasSeen("add_temp", LAST)
  await changed(server, "POST", "/api/whitelist/perm", { ip: "10.0.0.1" })
  await changed(server, "DELETE", "/api/whitelist/perm/10.0.0.1")
  await oneNetwork.hasSeen("delete_perm", "10.0.0.1", { newest: true })
  await everything.hasSeen("delete_perm", "10.0.0.1", { newest: true })
  expect(await server.stop()).toBe(0)
  const losses = [everything, grants, oneNetwork].map((follower) => follower.losses)
  await Promise.all([everything.stop(), grants.stop(), oneNetwork.stop()])

  const log = await rowsOf(copyDatabase(place.database, place.path("copy.db")))
  console.log(`${log.length} rows in the log; the followers were cut off ${losses.join(", ")} times`)
  expect(log.length).toBeGreaterThan(KILLS * 10)
  expect(everything.losses).toBeGreaterThanOrEqual(KILLS)
  expect(everything.rows).toEqual(log)
  expect(grants.rows).toEqual(log.filter(([, , action]) => action === "add_temp"))
  expect(oneNetwork.rows).toEqual(log.filter(([, , , ip]) => ip === "10.0.0.1"))
})

test("a reader that does not read is cut off; the writers never wait for it, and what it got is whole", async () => {
  const rounds = 30
  await using place = await Workplace.make()
  const server = await place.serve()
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1")
  let text = ""
  socket.setEncoding("latin1")
  socket.on("data", (piece) => {
    text += piece
  })
  socket.write(`GET /api/events?tail=0 HTTP/1.1\r\nHost: gate\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`)
  await until(() => text.includes("event: at"))
  socket.pause()
  for (let round = 0; round < rounds; round++) {
    const lines = Array.from(
      { length: 1_000 },
      (_, i) => `10.${round}.${i >> 8}.${i & 255}\t3600\t${"x".repeat(400)}`,
    )
    const answer = await fetch(`${server.url}/api/whitelist/import`, {
      method: "POST",
      headers: { Authorization: `Bearer ${TOKEN}` },
      body: lines.join("\n"),
    })
    expect(answer.status).toBe(200)
  }
  socket.resume()
  await until(() => text.endsWith("\r\n0\r\n\r\n"))
  socket.destroy()
  const ids = [...text.matchAll(/id: ([0-9]+)\nevent: change\n/g)].map(([, id]) => Number(id))
  expect(ids.length).toBeLessThan(rounds * 1_000)
  expect(ids).toEqual(ids.map((_, i) => i + 1))
})

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(5)
}

/** A row of the log: its id, and what a program is told of it. */
type Row = readonly [id: number, at: string, action: string, ip: string | null, rest: string]

function rowOf(id: number, record: Parameters<typeof auditRecordToJson>[0]): Row {
  const { timestamp, action, ip, ...rest } = auditRecordToJson(record)
  return [id, timestamp, action, ip, JSON.stringify(rest)]
}

async function rowsOf(path: string): Promise<Row[]> {
  const store = new LibsqlStore({ path, auditRows: AUDIT_LOG_ROWS })
  // At the beginning of time: opening must not record expiries that the server has not recorded.
  await store.open(0)
  const rows: Row[] = []
  for (let after = 0; ; ) {
    const slice = await store.auditSlice({ after, limit: 1_000 })
    rows.push(...slice.rows.map(({ id, record }) => rowOf(id, record)))
    const last = slice.rows.at(-1)
    if (last === undefined) break
    after = last.id
  }
  await store.close()
  return rows
}

class Follower {
  readonly rows: Row[] = []
  losses = 0
  private readonly stopping = new AbortController()
  private readonly running: Promise<void>

  constructor(socket: string, filter: FeedFilter) {
    this.running = this.run(socket, filter)
  }

  /** Fulfilled when a row of this kind has come, with `newest` as the last one. */
  async hasSeen(action: string, ip: string, { newest = false } = {}): Promise<void> {
    const isIt = ([, , one, other]: Row) => one === action && other === ip
    await until(() => (newest ? this.rows.slice(-1) : this.rows).some(isIt))
  }

  stop(): Promise<void> {
    this.stopping.abort()
    return this.running
  }

  private async run(socket: string, filter: FeedFilter): Promise<void> {
    const gate = openRemoteGate(`unix:${socket}`, () => TOKEN)
    const { signal } = this.stopping
    const options = { start: { after: 0 }, filter, signal, sleep: (ms: number) => Bun.sleep(ms) }
    for await (const event of keepFollowing(gate, options)) {
      if (event.kind === "change") this.rows.push(rowOf(event.id, event.record))
      else if (event.kind === "lost") this.losses++
      // Nothing here is more than can be told one by one.
      else if (event.kind === "reload") throw new Error("told to reload")
    }
  }
}

/** Several writers change the lists without a pause, until the server is gone: in the middle of what is followed. */
async function changeUntilKilled(server: ServerProcess, random: Prng, follower: Follower): Promise<void> {
  const before = 1 + random.below(MOST_BEFORE_KILL)
  const known = follower.rows.length
  let acknowledged = 0
  let isDoomed = false
  const writers = Array.from({ length: WRITERS }, async () => {
    for (;;) {
      const answer = await change(server, random).catch(() => null)
      if (answer === null) return
      if (isDoomed || ++acknowledged < before || follower.rows.length === known) continue
      isDoomed = true
      setTimeout(() => server.signal("SIGKILL"), random.below(LONGEST_DELAY))
    }
  })
  await Promise.all(writers)
  await server.exited
}

/** Few addresses, so that they are added, replaced, removed and expired again and again. */
function change(server: ServerProcess, random: Prng): Promise<Response> {
  const ip = `10.0.0.${random.below(40)}`
  switch (random.below(4)) {
    case 0:
      return server.api("POST", "/api/whitelist/perm", { ip })
    case 1:
      return server.api("DELETE", `/api/whitelist/perm/${ip}`)
    case 2:
      return server.api("DELETE", `/api/whitelist/temp/${ip}`)
    default: {
      const ttl_seconds = random.pick([1, 1, 3600])
      return server.api("POST", "/api/whitelist/temp", { ip, ttl_seconds, reason: `until ${ttl_seconds}` })
    }
  }
}

async function changed(server: ServerProcess, method: string, path: string, body?: unknown): Promise<void> {
  const { status } = await server.api(method, path, body)
  // A permanent entry that is there already serves as well as a new one.
  if (status !== 204 && status !== 409) throw new Error(`${method} ${path}: ${status}`)
}
