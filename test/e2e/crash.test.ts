// What a server that was killed, or stopped, has kept: every acknowledged change, none by half, and both lists as before.

import { expect, setDefaultTimeout, test } from "bun:test"
import { fault } from "../faults/fault.ts"
import { type ServerProcess, Workplace } from "../support/binary.ts"
import { Prng } from "../support/prng.ts"
import type { AuditRow } from "../support/running-server.ts"

const MISSED_END = fault(
  "D-27",
  "an entry ends while the server is down, which is then killed over and over",
  "it is refused, and recorded once, at its own time",
)
const KILLED = fault(
  "D-01 D-05 D-06 J-19",
  "kill -9 in the middle of many concurrent writes",
  "every acknowledged change, none by half, and --offline works at once",
)

setDefaultTimeout(120_000)

const WRITERS = 200
const ROUNDS = 8
/** The kill comes after at most so many acknowledgements, and then so many milliseconds: anywhere in a group's commit. */
const MOST_BEFORE_KILL = 1_200
const LONGEST_DELAY = 10

type Expectation = "listed" | "absent" | "either"
type Write = { readonly kind: "add_perm" | "add_temp" | "delete_perm"; readonly ip: string }

/** The state that the acknowledged writes promise, over all rounds. */
type Promised = Map<string, { kind: Write["kind"]; expectation: Expectation; expires: string | null }>

test(KILLED, async () => {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
  console.log(`TEST_SEED=${seed}`)
  const random = new Prng(seed)
  await using place = await Workplace.make()
  const promised: Promised = new Map()

  for (let round = 0; round < ROUNDS; round++) {
    const server = await place.serve()
    const before = random.below(MOST_BEFORE_KILL) + 1
    const { acknowledged, unanswered } = await writeUntilKilled(server, random, promised, round, before)
    console.log(`round ${round}: killed after ${acknowledged} acknowledged writes, ${unanswered} in flight`)
    expect(acknowledged).toBeGreaterThanOrEqual(before)
    expect(unanswered).toBeGreaterThan(0)

    // At once, whatever state the file was left in, and by another process than the next server.
    const check = await place.ipgate(["--offline", "status"])
    expect([check.code, check.stderr]).toEqual([0, ""])
    const next = await place.serve()
    await compare(next, promised, `TEST_SEED=${seed}, round ${round}`)
    await next.kill()
  }
})

/** Every writer adds and removes addresses of its own, one after the other, until the server is gone. */
async function writeUntilKilled(
  server: ServerProcess,
  random: Prng,
  promised: Promised,
  round: number,
  before: number,
) {
  let acknowledged = 0
  let unanswered = 0
  const plans = Array.from({ length: WRITERS }, (_, writer) => planOf(random, round, writer))
  const writers = plans.map(async (plan) => {
    for (const write of plan) {
      const { kind, ip } = write
      const known = promised.get(ip)?.expires ?? null
      promised.set(ip, { kind, expectation: "either", expires: known })
      const answer = await send(server, write).catch(() => null)
      if (answer === null) {
        unanswered++
        return
      }
      if (answer.status !== 204) throw new Error(`${kind} ${ip}: ${answer.status} ${await answer.text()}`)
      const expectation = kind === "delete_perm" ? "absent" : "listed"
      promised.set(ip, { kind, expectation, expires: answer.headers.get("Ipgate-Expires") })
      if (++acknowledged === before) setTimeout(() => server.signal("SIGKILL"), random.below(LONGEST_DELAY))
    }
  })
  await Promise.all(writers)
  await server.exited
  return { acknowledged, unanswered }
}

/** More writes than a round can use up. No address is used twice, but for the removal of one that was added. */
function planOf(random: Prng, round: number, writer: number): Write[] {
  return Array.from({ length: 100 }, (_, i): Write[] => {
    const ip = `10.${round}.${writer}.${i}`
    if (random.below(2) === 0) return [{ kind: "add_temp", ip }]
    const added: Write = { kind: "add_perm", ip }
    return random.below(2) === 0 ? [added] : [added, { kind: "delete_perm", ip }]
  }).flat()
}

function send(server: ServerProcess, { kind, ip }: Write): Promise<Response> {
  switch (kind) {
    case "add_perm":
      return server.api("POST", "/api/whitelist/perm", { ip })
    case "add_temp":
      return server.api("POST", "/api/whitelist/temp", { ip, ttl_seconds: 86_400, reason: ip })
    case "delete_perm":
      return server.api("DELETE", `/api/whitelist/perm/${ip}`)
  }
}

/** The lists, the log and the decisions of a server against what was promised, and against each other. */
async function compare(server: ServerProcess, promised: Promised, where: string): Promise<void> {
  const permanent = await pages<{ ip: string }>(server, "/api/whitelist/perm/list")
  const temporary = await pages<{ ip: string; reason: string; expires: string }>(
    server,
    "/api/whitelist/temp",
  )
  const log = await pages<AuditRow>(server, "/api/logs")
  const listed = new Set([...permanent, ...temporary].map(({ ip }) => ip))
  const expires = new Map(temporary.map((row) => [row.ip, row.expires]))
  const faults: string[] = []

  for (const [ip, { kind, expectation, expires: until }] of promised) {
    if (expectation === "listed" && !listed.has(ip))
      faults.push(`${ip}: ${kind} was acknowledged and is lost`)
    if (expectation === "absent" && listed.has(ip))
      faults.push(`${ip}: its removal was acknowledged and is lost`)
    if (kind === "add_temp" && expectation === "listed" && expires.get(ip) !== until) {
      faults.push(`${ip}: ends at ${expires.get(ip)}, and ${until} was promised`)
    }
  }

  // Replaying the log gives the lists, so no list row is without its record and no record without its row.
  const replayed = new Set<string>()
  for (const { action, ip } of log.toReversed()) {
    if (ip === null) faults.push(`${action} without an address`)
    else if (action === "delete_perm" ? !replayed.delete(ip) : replayed.has(ip)) {
      faults.push(`${ip}: ${action} is in the log and had no effect`)
    } else if (action !== "delete_perm") replayed.add(ip)
  }
  for (const ip of replayed.difference(listed)) faults.push(`${ip}: is in the log and not on a list`)
  for (const ip of listed.difference(replayed)) faults.push(`${ip}: is on a list and not in the log`)
  for (const ip of listed.difference(new Set(promised.keys()))) faults.push(`${ip}: nobody wrote it`)

  for (const ip of promised.keys()) {
    const status = await server.decision(ip)
    if (status !== (listed.has(ip) ? 204 : 401)) faults.push(`${ip}: /auth says ${status}, against the lists`)
  }
  const { perm_whitelist_count, temp_whitelist_count } = await server.read<Record<string, number>>("/status")
  if (perm_whitelist_count !== permanent.length || temp_whitelist_count !== temporary.length) {
    faults.push("/status counts other entries than the lists have")
  }
  expect({ where, faults }).toEqual({ where, faults: [] })
}

async function pages<Row>(server: ServerProcess, path: string): Promise<Row[]> {
  const rows: Row[] = []
  for (;;) {
    const page = await server.read<Row[]>(`${path}?limit=1000&offset=${rows.length}`)
    rows.push(...page)
    if (page.length < 1000) return rows
  }
}

/** Both lists and the log. */
async function contents(server: ServerProcess) {
  return {
    permanent: await server.read<unknown[]>("/api/whitelist/perm/list"),
    temporary: await server.read<Array<{ expires: string }>>("/api/whitelist/temp"),
    log: await server.audit(),
  }
}

test.each(["stop", "kill"] as const)("%s and a new start keep both lists and the log", async (end) => {
  await using place = await Workplace.make()
  const server = await place.serve()
  await server.ipgate("allow", "192.0.2.0/28", "2001:db8::/64", "203.0.113.1", "2001:db8::7")
  await server.ipgate("allow", "203.0.113.7", "2001:db8:1::/64", "--ttl", "8h", "--reason", "déjà vu 🙂")
  await server.ipgate("deny", "203.0.113.1")
  await server.ipgate("allow", "203.0.113.8", "--ttl", "1h")
  await server.ipgate("allow", "203.0.113.8", "--ttl", "2h")
  const before = await contents(server)
  expect([before.permanent.length, before.temporary.length, before.log.length]).toEqual([3, 3, 9])
  await server[end]()

  const next = await place.serve()
  expect(await contents(next)).toEqual(before)
  expect(await next.read<unknown>("/status")).toMatchObject({
    status: "ok",
    perm_whitelist_count: 3,
    temp_whitelist_count: 3,
    db_ok: true,
  })
  const decisions = { "192.0.2.9": 204, "2001:db8::9": 204, "203.0.113.8": 204, "203.0.113.1": 401 }
  for (const [ip, status] of Object.entries(decisions))
    expect([ip, await next.decision(ip)]).toEqual([ip, status])
})

test(MISSED_END, async () => {
  await using place = await Workplace.make()
  const server = await place.serve()
  await server.api("POST", "/api/whitelist/temp", { ip: "203.0.113.7", ttl_seconds: 1, reason: "short" })
  await server.api("POST", "/api/whitelist/temp", { ip: "203.0.113.8", ttl_seconds: 3600 })
  const { temporary, log } = await contents(server)
  const expires = temporary[0]?.expires ?? ""
  await server.kill()
  await Bun.sleep(Date.parse(expires) - Date.now() + 1)

  for (const [i, end] of (["kill", "stop", "kill"] as const).entries()) {
    const next = await place.serve()
    const told = next.log().includes("temporary entries have ended that nobody had recorded ended=1")
    expect(told).toBe(i === 0)
    expect(await next.decision("203.0.113.7")).toBe(401)
    expect(await next.decision("203.0.113.8")).toBe(204)
    const record = { timestamp: expires, action: "expire_temp", ip: "203.0.113.7", api_client_ip: null }
    expect(await contents(next)).toEqual({
      permanent: [],
      temporary: temporary.slice(1),
      log: [expect.objectContaining(record), ...log],
    })
    await next[end]()
  }
})
