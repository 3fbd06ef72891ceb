// Time against the built binary: clocks that are set, a process that is suspended, and many ends at one moment.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { type ServerProcess, Workplace } from "../support/binary.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { LIBFAKETIME, SteppedClock } from "../support/faketime.ts"
import { RawConnection, requestText } from "../support/raw-http.ts"
import { runServer } from "../support/running-server.ts"
import { fault } from "./fault.ts"
import { rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(300_000)

const IP = "203.0.113.7"
const HOUR = 3_600
const TEMPORARY = "/api/whitelist/temp"

const grant = async (server: ServerProcess, ip: string, ttl_seconds: number) => {
  const answer = await server.api("POST", TEMPORARY, { ip, ttl_seconds })
  expect([ip, answer.status]).toEqual([ip, 204])
  return Date.parse(answer.headers.get("Ipgate-Expires") ?? "")
}

const ends = async (server: ServerProcess, ip: string) =>
  (await server.audit()).filter((row) => row.ip === ip && row.action === "expire_temp")

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`it never came to ${what}`)
    await Bun.sleep(50)
  }
}

describe.skipIf(LIBFAKETIME === null)("the wall clock of the server", () => {
  test(
    fault(
      "C-01",
      "the clock is set back an hour, a day and a year under an entry of two seconds, in the built binary",
      "it ends after two seconds all the same, and is recorded once",
    ),
    async () => {
      await using place = await Workplace.make()
      const clock = new SteppedClock(place.path("clock"))
      const server = await place.serve([], { env: clock.env })
      for (const [i, back] of [HOUR, 24 * HOUR, 8_760 * HOUR].entries()) {
        const ip = `203.0.113.${i}`
        const asked = performance.now()
        await grant(server, ip, 2)
        const granted = performance.now()
        clock.step(-back)
        if (performance.now() - asked < 1_900) expect(await server.decision(ip)).toBe(204)
        await Bun.sleep(Math.max(0, 2_000 - (performance.now() - granted)) + 5)
        expect(await server.decision(ip)).toBe(401)
        await until(async () => (await ends(server, ip)).length > 0, "a record of the end")
        expect((await ends(server, ip)).length).toBe(1)
        clock.step(0)
        expect(await server.decision(ip)).toBe(401)
      }
    },
  )

  test(
    fault(
      "C-02",
      "the clock is set forward two hours under an entry of one, and back again, in the built binary",
      "it ends at once, is recorded once, and does not come back, also not after a restart",
    ),
    async () => {
      await using place = await Workplace.make()
      const clock = new SteppedClock(place.path("clock"))
      const server = await place.serve([], { env: clock.env })
      await grant(server, IP, HOUR)
      expect(await server.decision(IP)).toBe(204)
      clock.step(2 * HOUR)
      expect(await server.decision(IP)).toBe(401)
      await until(async () => (await ends(server, IP)).length > 0, "a record of the end")
      clock.step(0)
      expect(await server.decision(IP)).toBe(401)
      expect((await ends(server, IP)).length).toBe(1)
      await server.kill()
      const next = await place.serve([], { env: clock.env })
      expect(await next.decision(IP)).toBe(401)
      expect((await ends(next, IP)).length).toBe(1)
    },
  )

  test(
    fault(
      "C-03",
      "a restart after the clock was set back an hour, with one entry that is active and one that ended before",
      "the clock is believed, as documented: what was active ends at its time by it, what ended stays out",
    ),
    async () => {
      await using place = await Workplace.make()
      const clock = new SteppedClock(place.path("clock"))
      const server = await place.serve([], { env: clock.env })
      const ended = "203.0.113.8"
      await grant(server, ended, 1)
      const promised = await grant(server, IP, 60)
      await until(async () => (await ends(server, ended)).length > 0, "a record of the end")
      expect(await server.stop()).toBe(0)
      clock.step(-HOUR)
      const next = await place.serve([], { env: clock.env })
      expect([await next.decision(IP), await next.decision(ended)]).toEqual([204, 401])
      const [entry] = await next.read<Array<{ expires: string }>>(TEMPORARY)
      expect(Math.floor(Date.parse(entry?.expires ?? "") / 1000)).toBe(Math.floor(promised / 1000))
      clock.step(61)
      expect([await next.decision(IP), await next.decision(ended)]).toEqual([401, 401])
    },
  )

  test(
    fault(
      "C-09",
      "a start in 1969 and in the year 2100, in the built binary",
      "permanent entries decide; a temporary one ends after its lifetime or is refused, and no list fails",
    ),
    async () => {
      for (const seconds of [-58 * 8_766 * HOUR, 75 * 8_766 * HOUR]) {
        await using place = await Workplace.make()
        const clock = new SteppedClock(place.path("clock"))
        clock.step(seconds)
        const server = await place.serve([], { env: clock.env })
        expect((await server.api("POST", "/api/whitelist/perm", { ip: "192.0.2.1" })).status).toBe(204)
        expect(await server.decision("192.0.2.1")).toBe(204)
        const { status } = await server.api("POST", TEMPORARY, { ip: IP, ttl_seconds: 1 })
        expect([204, 400, 500]).toContain(status)
        await Bun.sleep(1_010)
        expect(await server.decision(IP)).toBe(401)
        expect((await server.api("GET", TEMPORARY)).status).toBe(200)
        expect((await server.api("GET", "/api/logs")).status).toBe(200)
      }
    },
  )
})

describe(
  fault(
    "C-09 J-02",
    "clocks from before 1970 to after the year 9999, moved by the test",
    "no temporary entry with an end that cannot be written or that lies before its beginning; no list fails",
  ),
  () => {
    test.each([
      ["a year before 1970", Date.UTC(1969, 0, 1)],
      ["the first moment", 0],
      ["a second before the year 10000", Date.UTC(9999, 11, 31, 23, 59, 59)],
      ["the year 10000", Date.UTC(10_000, 0, 1)],
      ["the year 200000", Date.UTC(200_000, 0, 1)],
    ])("%s", async (_, wall) => {
      const clock = new FakeClock(wall)
      const server = await runServer({ clock })
      try {
        await server.addPermanent("192.0.2.1")
        for (const ttl_seconds of [1, 315_360_000]) {
          const answer = await server.api("POST", TEMPORARY, { ip: IP, ttl_seconds })
          if (answer.status !== 204) expect([400, 500]).toContain(answer.status)
          else expect(Date.parse(answer.headers.get("Ipgate-Expires") ?? "")).toBe(wall + ttl_seconds * 1000)
          expect(await server.decision(IP)).toBe(answer.status === 204 ? 204 : 401)
          for (const path of [TEMPORARY, "/api/logs", "/api/whitelist/export", "/status"]) {
            expect([path, (await server.api("GET", path)).status]).toEqual([path, 200])
          }
          await server.api("DELETE", `${TEMPORARY}/${IP}`)
        }
        expect(await server.decision("192.0.2.1")).toBe(204)
      } finally {
        await server.stop()
      }
    })
  },
)

test(
  fault(
    "C-04",
    "the process is stopped across the end of an entry, with a question that waits for it when it goes on",
    "the first answer is 401, and the end is recorded once",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const [address] = server.addresses
    if (address === undefined) throw new Error("the server has no address")
    for (let round = 0; round < rounds(2, 20); round++) {
      const ip = `203.0.113.${round}`
      using connection = await RawConnection.open(address)
      const question = requestText("GET /auth", [`X-Real-IP: ${ip}`])
      const expires = await grant(server, ip, 1)
      const early = (await connection.ask(question)).status
      if (Date.now() < expires) expect(early).toBe(204)
      server.signal("SIGSTOP")
      connection.send(question)
      await Bun.sleep(Math.max(0, expires - Date.now()) + 2)
      server.signal("SIGCONT")
      expect((await connection.answer()).status).toBe(401)
      await until(async () => (await ends(server, ip)).length > 0, "a record of the end")
      expect((await ends(server, ip)).length).toBe(1)
    }
  },
)

test(
  fault(
    "C-08",
    "10,000 entries that end in one second, while others are asked for and added",
    "each is let in before its end and never after it; other answers stay right; one record of each",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const count = 10_000
    const end = Math.ceil(Date.now() / 1000) * 1000 + 8_000
    const ip = (i: number) => `10.7.${i >> 8}.${i & 255}`
    const lines = Array.from(
      { length: count },
      (_, i) => `${ip(i)}\t${new Date(end + (i % 1000)).toISOString()}\n`,
    )
    const imported = await fetch(`${server.url}/api/whitelist/import`, {
      method: "POST",
      headers: { Authorization: `Bearer ${(await Bun.file(place.tokenFile).text()).trim()}` },
      body: lines.join(""),
    })
    expect([imported.status, ((await imported.json()) as { added: number }).added]).toEqual([200, count])
    await server.api("POST", "/api/whitelist/perm", { ip: "192.0.2.1" })
    let asked = 0
    let letIn = 0
    for (; Date.now() < end + 2_500; asked++) {
      const i = (asked * 7919) % count
      const before = Date.now()
      const status = await server.decision(ip(i))
      if (before >= end + (i % 1000) && status !== 401) letIn++
      if (Date.now() < end + (i % 1000)) expect([i, status]).toEqual([i, 204])
      if (asked % 20 === 0) {
        expect(await server.decision("192.0.2.1")).toBe(204)
        expect(
          (await server.api("POST", TEMPORARY, { ip: `10.8.0.${asked % 256}`, ttl_seconds: HOUR })).status,
        ).toBe(204)
      }
    }
    tally("decisionsCompared", asked)
    tally("letIn", letIn)
    expect(letIn).toBe(0)
    const recorded = new Map<string, number>()
    await until(async () => {
      recorded.clear()
      for (let offset = 0; ; offset += 1000) {
        const rows = await server.read<Array<{ ip: string }>>(
          `/api/logs?action=expire_temp&limit=1000&offset=${offset}`,
        )
        for (const row of rows) recorded.set(row.ip, (recorded.get(row.ip) ?? 0) + 1)
        if (rows.length < 1000) break
      }
      return recorded.size >= count
    }, "a record of every end")
    expect([...recorded.values()].filter((times) => times !== 1)).toEqual([])
  },
)

test(
  fault(
    "J-17",
    "entries of one second are granted again at the instant of their end, 500 times (50 in the short form), by 25 clients",
    "what was acknowledged lets in; each record of the log has its effect",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    let lost = 0
    const client = async (number: number) => {
      const ip = `203.0.113.${number}`
      let expires = await grant(server, ip, 1)
      for (let round = 0; round < rounds(2, 20); round++) {
        const early = (number * 37 + round * 13) % 101
        await Bun.sleep(Math.max(0, expires - Date.now() + 50 - early))
        expires = await grant(server, ip, 1)
        const status = await server.decision(ip)
        if (status !== 204 && Date.now() < expires) lost++
      }
      await Bun.sleep(Math.max(0, expires - Date.now()) + 1)
      expect(await server.decision(ip)).toBe(401)
    }
    const clients = 25
    await Promise.all(Array.from({ length: clients }, (_, i) => client(i)))
    tally("lost", lost)
    expect(lost).toBe(0)
    const granted = clients * (rounds(2, 20) + 1)
    const rows: Array<{ ip: string; action: string }> = []
    const last = (number: number) => rows.find((row) => row.ip === `203.0.113.${number}`)?.action
    await until(async () => {
      rows.length = 0
      for (let offset = 0; offset <= rows.length; offset += 1000) {
        rows.push(...(await server.read<typeof rows>(`/api/logs?limit=1000&offset=${offset}`)))
      }
      return Array.from({ length: clients }, (_, i) => last(i)).every((action) => action === "expire_temp")
    }, "a record of every end")
    // Either an end stands between two grants, or the second has replaced the first; never two ends in a row.
    for (let number = 0; number < clients; number++) {
      const actions = rows.filter((row) => row.ip === `203.0.113.${number}`).map((row) => row.action)
      expect(actions.filter((action, i) => action === "expire_temp" && actions[i + 1] === action)).toEqual([])
    }
    expect(rows.filter(({ action }) => action === "add_temp").length).toBe(granted)
  },
)

test(
  fault(
    "C-06",
    "lifetimes around what a timer of 32 bits can wait, and of ten years, in the built binary",
    "each lets in at once and is listed with its end, and nothing is logged",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const lifetimes = [2_147_483, 2_147_484, 4_294_967, 4_294_968, 315_360_000]
    for (const [i, ttl] of lifetimes.entries()) {
      const before = Date.now()
      const expires = await grant(server, `203.0.113.${i}`, ttl)
      expect(Math.abs(expires - before - ttl * 1000)).toBeLessThan(10_000)
    }
    await Bun.sleep(1_500)
    for (const i of lifetimes.keys()) expect(await server.decision(`203.0.113.${i}`)).toBe(204)
    expect((await server.read<unknown[]>(TEMPORARY)).length).toBe(lifetimes.length)
    expect(server.log().match(/ (warn|error) .*(time|Timeout).*/gi)).toBeNull()
  },
)

test(
  fault(
    "C-11",
    "server and client in time zones with odd hours and summer time",
    "ends and records in UTC, the same everywhere",
  ),
  async () => {
    for (const TZ of ["UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "Pacific/Kiritimati"]) {
      await using place = await Workplace.make()
      const server = await place.serve([], { env: { TZ } })
      const before = Date.now()
      const expires = await grant(server, IP, HOUR)
      expect(Math.abs(expires - before - HOUR * 1000)).toBeLessThan(10_000)
      expect(await server.decision(IP)).toBe(204)
      const listed = await place.ipgate(["list", "--json"], { env: { TZ, IPGATE_SERVER: server.url } })
      const [entry] = JSON.parse(listed.stdout) as Array<{ expires: string }>
      expect([TZ, entry?.expires.endsWith("Z"), Date.parse(entry?.expires ?? "")]).toEqual([
        TZ,
        true,
        expires,
      ])
      const [row] = await server.audit()
      expect(Math.abs(Date.parse(row?.timestamp ?? "") - before)).toBeLessThan(10_000)
      expect(await server.stop()).toBe(0)
    }
  },
)
