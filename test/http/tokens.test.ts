// Named tokens over the wire: made once, limited, and refused from the moment of their end.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fault } from "../faults/fault.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { RawConnection, requestText } from "../support/raw-http.ts"
import { type RunningServer, runServer } from "../support/running-server.ts"
import { copyDatabase, query } from "../support/temp-store.ts"

const TEMP = "/api/whitelist/temp"
const OWN = "203.0.113.7"

let clock: FakeClock
let server: RunningServer

beforeEach(async () => {
  clock = new FakeClock(Date.UTC(2026, 4, 17))
  server = await runServer({ clock })
})
afterEach(() => server.stop())

async function make(name: string, more: object = { scope: "read" }): Promise<string> {
  const answer = await server.api("POST", "/api/tokens", { name, ...more })
  expect(answer.status).toBe(201)
  return ((await answer.json()) as { token: string }).token
}

type Answer = { status: number; challenge: string | null; text: string }

async function ask(
  secret: string,
  method: string,
  path: string,
  body?: unknown,
  headers = {},
): Promise<Answer> {
  const answer = await server.request(method, path, {
    headers: { Authorization: `Bearer ${secret}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return {
    status: answer.status,
    challenge: answer.headers.get("WWW-Authenticate"),
    text: await answer.text(),
  }
}

const statusWith = async (secret: string, path = "/api/logs") => (await ask(secret, "GET", path)).status

describe("making one", () => {
  test("tells its secret once, and of everything else what it is", async () => {
    const answer = await server.api("POST", "/api/tokens", {
      name: "helpdesk",
      scope: "temp-only",
      max_ttl_seconds: 28_800,
      within: "203.0.113.0/24",
      ttl_seconds: 3600,
    })
    expect([answer.status, answer.headers.get("Location")]).toEqual([201, "/api/tokens/helpdesk"])
    expect(answer.headers.get("Cache-Control")).toBe("no-store")
    const { token, ...shown } = (await answer.json()) as Record<string, unknown>
    expect(token).toMatch(/^ipgate_[A-Za-z0-9_-]{43}$/)
    const expected = {
      name: "helpdesk",
      scope: "temp-only",
      max_ttl_seconds: 28_800,
      within: "203.0.113.0/24",
      created: "2026-05-17T00:00:00.000Z",
      expires: "2026-05-17T01:00:00.000Z",
      last_used: null,
      revoked: null,
      state: "active",
    }
    expect(shown).toEqual(expected)
    expect(await server.read("/api/tokens")).toEqual([expected])
  })

  test("gives every one another secret", async () => {
    const secrets = new Set<string>()
    for (let i = 0; i < 50; i++) secrets.add(await make(`t${i}`))
    expect(secrets.size).toBe(50)
    expect(await server.read("/api/tokens?limit=2&offset=1")).toMatchObject([{ name: "t1" }, { name: "t10" }])
  })

  test("takes a name once, also after its end", async () => {
    await make("ci")
    const again = () => server.api("POST", "/api/tokens", { name: "ci", scope: "read" })
    expect((await again()).status).toBe(409)
    await server.api("DELETE", "/api/tokens/ci")
    expect((await again()).status).toBe(409)
  })

  test.each([
    [{}, "name is missing"],
    [{ name: 5, scope: "read" }, "name must be a string"],
    [{ name: "a" }, "scope is missing"],
    [{ name: "a", scope: "all" }, '"all" is not a scope: use read, write, temp-only or self'],
    [{ name: "a", scope: ["read"] }, "scope must be a string"],
    [{ name: "file", scope: "read" }, "is no name for a token"],
    [{ name: "offline", scope: "write" }, "is no name for a token"],
    [{ name: "A b", scope: "read" }, "is no name for a token"],
    [{ name: "a", scope: "self" }, "needs a maximum lifetime"],
    [{ name: "a", scope: "temp-only" }, "needs a maximum lifetime"],
    [{ name: "a", scope: "read", max_ttl_seconds: 5 }, "goes with the scopes temp-only and self"],
    [
      { name: "a", scope: "self", max_ttl_seconds: "60" },
      "max_ttl_seconds must be an integer from 1 to 315360000",
    ],
    [
      { name: "a", scope: "self", max_ttl_seconds: 0 },
      "max_ttl_seconds must be an integer from 1 to 315360000",
    ],
    [
      { name: "a", scope: "self", max_ttl_seconds: 60, within: "10.0.0.0/8" },
      "goes with the scope temp-only",
    ],
    [{ name: "a", scope: "temp-only", max_ttl_seconds: 60, within: "10.0.0.5/8" }, "has host bits set"],
    [{ name: "a", scope: "temp-only", max_ttl_seconds: 60, within: 7 }, "within must be a string"],
    [{ name: "a", scope: "read", ttl_seconds: 0 }, "ttl_seconds must be an integer from 1 to 315360000"],
    [{ name: "a", scope: "read", ttl_seconds: 1e300 }, "ttl_seconds must be an integer from 1 to 315360000"],
  ])("of %j is 400", async (body, message) => {
    const answer = await server.api("POST", "/api/tokens", body)
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(message)])
    expect(await server.read("/api/tokens")).toEqual([])
  })

  test("is logged with its name, and without its secret", async () => {
    const secret = await make("ci", { scope: "write" })
    await ask(secret, "POST", "/api/whitelist/perm", { ip: "192.0.2.1" })
    await server.api("DELETE", "/api/tokens/ci")
    expect(server.log.join("")).toContain("made the token ci")
    expect(server.log.join("")).toContain("revoked the token ci")
    expect(server.log.join("")).not.toContain(secret.slice("ipgate_".length))
  })
})

describe("a token at rest", () => {
  test("is a digest in the database and in the log beside it, also after a stop", async () => {
    const directory = join(server.directory, "kept")
    const other = await runServer({ clock, directory: server.directory, databasePath: `${directory}/x.db` })
    const answer = await other.api("POST", "/api/tokens", { name: "ci", scope: "write" })
    const { token } = (await answer.json()) as { token: string }
    const written = () =>
      readdirSync(directory)
        .map((name) => readFileSync(join(directory, name), "latin1"))
        .join("")
    const digest = new Bun.CryptoHasher("sha256").update(token).digest("latin1" as "hex")
    for (const state of ["running", "stopped"]) {
      if (state === "stopped") await other.stop()
      expect(written()).not.toContain(token)
      expect(written()).not.toContain(token.slice("ipgate_".length))
      expect(written()).toContain(digest)
    }
  })
})

describe("its end", () => {
  test("by revocation holds for the very next request, and stays over a restart", async () => {
    const secret = await make("ci")
    expect(await statusWith(secret)).toBe(200)
    const revoked = await server.api("DELETE", "/api/tokens/ci")
    expect([revoked.status, revoked.headers.get("Ipgate-Result")]).toEqual([204, "revoked"])
    expect(await statusWith(secret)).toBe(401)
    const again = await server.api("DELETE", "/api/tokens/ci")
    expect([again.status, again.headers.get("Ipgate-Result")]).toEqual([204, "unchanged"])
    expect(await server.read("/api/tokens")).toMatchObject([
      { name: "ci", state: "revoked", revoked: "2026-05-17T00:00:00.000Z" },
    ])
    const copy = await restarted()
    expect(
      (await copy.request("GET", "/api/logs", { headers: { Authorization: `Bearer ${secret}` } })).status,
    ).toBe(401)
    await copy.stop()
  })

  test("by its time holds on both clocks, and over a restart by the wall clock", async () => {
    const secret = await make("ci", { scope: "read", ttl_seconds: 60 })
    clock.stepWall(-3_600_000)
    clock.advance(59_999)
    expect(await statusWith(secret)).toBe(200)
    clock.advance(1)
    expect(await statusWith(secret)).toBe(401)
    clock.stepWall(-3_600_000)
    expect(await statusWith(secret)).toBe(401)
    clock.stepWall(7_200_000)
    const copy = await restarted()
    expect(
      (await copy.request("GET", "/api/logs", { headers: { Authorization: `Bearer ${secret}` } })).status,
    ).toBe(401)
    await copy.stop()
  })

  test(
    fault("B-02", "tokens that are unknown, revoked and expired", "the same bytes for all of them"),
    async () => {
      const revoked = await make("revoked")
      const expired = await make("expired", { scope: "read", ttl_seconds: 1 })
      const good = await make("good")
      await server.api("DELETE", "/api/tokens/revoked")
      clock.advance(1000)
      const answers = await Promise.all(
        [`${good}x`, revoked, expired, "ipgate_"].map(async (secret) => {
          const answer = await server.request("GET", "/api/logs", {
            headers: { Authorization: `Bearer ${secret}` },
          })
          const { date: _, ...headers } = Object.fromEntries(answer.headers)
          return { status: answer.status, headers, body: await answer.text() }
        }),
      )
      expect(answers[0]).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } })
      for (const answer of answers) expect(answer).toEqual(answers[0] as (typeof answers)[0])
      expect(await statusWith(good)).toBe(200)
    },
  )

  test.each([
    ["/api/whitelist/perm", '{"ip":"192.0.2.7"}'],
    [TEMP, '{"ip":"192.0.2.7","ttl_seconds":60}'],
    ["/api/whitelist/import", "192.0.2.7\n192.0.2.8\n"],
  ])("makes a request to %s whose body is still on its way worth nothing", async (path, body) => {
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    for (const [name, length, half, rest] of [
      ["whole", `Content-Length: ${body.length}`, body.slice(0, 9), body.slice(9)],
      ["chunked", "Transfer-Encoding: chunked", chunk(body.slice(0, 9)), `${chunk(body.slice(9))}0\r\n\r\n`],
    ] as const) {
      const bearer = `Authorization: Bearer ${await make(name, { scope: "write" })}`
      using connection = await RawConnection.open(server.address)
      connection.send(requestText(`POST ${path}`, [bearer, length], half))
      while (!(await hasBeenUsed(name))) await Bun.sleep(5)
      await server.api("DELETE", `/api/tokens/${name}`)
      connection.send(rest)
      const { status, headers, body: text } = await connection.answer()
      expect([status, text]).toEqual([401, "missing or invalid token\n"])
      expect(Object.fromEntries(headers)["WWW-Authenticate"]).toBe("Bearer")
    }
    expect(await server.lists()).toEqual({ permanent: [], temporary: [] })
    expect(await server.audit()).toEqual([])
  })

  test("of a name that nobody has is 404, and no other name ends by it", async () => {
    const secret = await make("ci")
    for (const name of ["cj", "CI", "ci%20", "c", "%63%69%00", "file"]) {
      expect([name, (await server.api("DELETE", `/api/tokens/${name}`)).status]).toEqual([name, 404])
    }
    expect((await server.api("DELETE", "/api/tokens/%zz")).status).toBe(400)
    expect(await statusWith(secret)).toBe(200)
    expect((await server.api("DELETE", "/api/tokens/%63%69")).status).toBe(204)
    expect(await statusWith(secret)).toBe(401)
  })

  async function hasBeenUsed(name: string): Promise<boolean> {
    const tokens = (await server.read("/api/tokens")) as Array<{ name: string; last_used: string | null }>
    return tokens.some((token) => token.name === name && token.last_used !== null)
  }

  /** Another server on a copy of the database, which this process keeps locked. */
  async function restarted(): Promise<RunningServer> {
    return runServer({
      clock,
      databasePath: copyDatabase(server.databasePath, join(server.directory, "copy.db")),
    })
  }
})

describe("a stream of changes", () => {
  /** Fulfilled with everything that came, when the stream has ended. */
  async function follow(secret: string): Promise<{ first: Promise<void>; all: Promise<string> }> {
    const answer = await server.request("GET", "/api/events", {
      headers: { Authorization: `Bearer ${secret}` },
    })
    expect(answer.status).toBe(200)
    const first = Promise.withResolvers<void>()
    const all = (async () => {
      let text = ""
      for await (const piece of answer.body ?? []) {
        text += new TextDecoder().decode(piece)
        first.resolve()
      }
      return text
    })()
    return { first: first.promise, all }
  }

  test("ends with the revocation of its token, and no other", async () => {
    const [gone, stays] = [await make("gone"), await make("stays")]
    const ending = await follow(gone)
    const going = await follow(stays)
    await Promise.all([ending.first, going.first])
    await server.addPermanent("192.0.2.1")
    await server.api("DELETE", "/api/tokens/gone")
    await server.addPermanent("192.0.2.2")
    const text = await ending.all
    expect(text).not.toContain("192.0.2.2")
    await server.api("DELETE", "/api/tokens/stays")
    const other = await going.all
    expect([other.includes("192.0.2.1"), other.includes("192.0.2.2")]).toEqual([true, true])
  })

  test("ends with the time of its token, also when nothing happens", async () => {
    const stream = await follow(await make("ci", { scope: "read", ttl_seconds: 60 }))
    await stream.first
    clock.advance(60_000)
    expect(await stream.all).toContain("event: at")
  })

  test("tells nothing after the time of its token", async () => {
    const stream = await follow(await make("ci", { scope: "read", ttl_seconds: 60 }))
    await stream.first
    clock.advance(60_000)
    await server.addPermanent("192.0.2.3")
    expect(await stream.all).not.toContain("192.0.2.3")
  })
})

describe("temp-only", () => {
  test("adds and removes within its limits, and is told what those are", async () => {
    const secret = await make("helpdesk", {
      scope: "temp-only",
      max_ttl_seconds: 3600,
      within: "203.0.113.0/24",
    })
    const add = (ip: string, ttl_seconds: number) => ask(secret, "POST", TEMP, { ip, ttl_seconds })
    expect((await add("203.0.113.9", 3600)).status).toBe(204)
    const refused = [
      await add("203.0.113.9", 3601),
      await add("203.0.114.9", 60),
      await add("203.0.112.0/23", 60),
      await add("::/0", 60),
      await ask(secret, "DELETE", `${TEMP}/192.0.2.1`),
      await ask(secret, "GET", "/api/check?ip=192.0.2.1"),
    ]
    for (const answer of refused) {
      expect(answer).toEqual({
        status: 403,
        challenge: 'Bearer error="insufficient_scope"',
        text: "the token helpdesk may check, add and remove temporary entries within 203.0.113.0/24, for 1h at most, and nothing else\n",
      })
    }
    // What makes no sense is 400 for everybody.
    expect((await add("203.0.113.9", 0)).status).toBe(400)
    expect((await ask(secret, "GET", "/api/check?ip=203.0.113.9")).status).toBe(200)
    expect((await ask(secret, "DELETE", `${TEMP}/203.0.113.9`)).status).toBe(204)
    expect((await server.audit()).map(({ action, ip }) => [action, ip])).toEqual([
      ["add_temp", "203.0.113.9"],
      ["delete_temp", "203.0.113.9"],
    ])
  })
})

describe("self", () => {
  let secret: string
  beforeEach(async () => {
    secret = await make("laptop", { scope: "self", max_ttl_seconds: 3600 })
  })
  const add = (ip: string, headers: object, ttl_seconds = 60) =>
    ask(secret, "POST", TEMP, { ip, ttl_seconds }, headers)

  test("lets in the address that a trusted proxy names, and no other", async () => {
    const from = { "X-Real-IP": OWN }
    expect((await add(OWN, from)).status).toBe(204)
    expect((await add("::ffff:203.0.113.7", from)).status).toBe(204)
    expect(await add("203.0.113.8", from)).toEqual({
      status: 403,
      challenge: 'Bearer error="insufficient_scope"',
      text: "the token laptop may let in and check its own address, 203.0.113.7, for 1h at most, and nothing else\n",
    })
    for (const ip of ["203.0.113.6/31", "0.0.0.0/0", "127.0.0.1"])
      expect((await add(ip, from)).status).toBe(403)
    expect((await add(OWN, from, 3601)).status).toBe(403)
    expect((await ask(secret, "GET", `/api/check?ip=${OWN}`, undefined, from)).status).toBe(200)
    expect((await ask(secret, "GET", "/api/check?ip=203.0.113.8", undefined, from)).status).toBe(403)
    expect((await ask(secret, "DELETE", `${TEMP}/${OWN}`, undefined, from)).status).toBe(403)
    expect((await server.lists()).temporary.map(({ ip }) => ip)).toEqual([OWN])
  })

  test("a trusted proxy that names nobody is not let in itself", async () => {
    for (const headers of [
      {},
      { "X-Real-IP": "" },
      { "X-Real-IP": "203.0.113.07" },
      { "X-Real-IP": "1.2.3.4, 5.6.7.8" },
    ]) {
      const answer = await add("127.0.0.1", headers)
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("must name its client")])
    }
    expect((await server.lists()).temporary).toEqual([])
  })

  test("a peer that is no trusted proxy is itself, whatever it writes", async () => {
    const open = await runServer({ clock, trustedProxies: { networks: [], unixSocket: false } })
    try {
      const made = await open.api("POST", "/api/tokens", {
        name: "laptop",
        scope: "self",
        max_ttl_seconds: 60,
      })
      const { token } = (await made.json()) as { token: string }
      const add = async (ip: string) => {
        const headers = { Authorization: `Bearer ${token}`, "X-Real-IP": OWN }
        const body = JSON.stringify({ ip, ttl_seconds: 60 })
        return (await open.request("POST", TEMP, { headers, body })).status
      }
      expect([await add(OWN), await add("127.0.0.1")]).toEqual([403, 204])
    } finally {
      await open.stop()
    }
  })
})

describe("who did it", () => {
  test("stands in the rich form of the log, and the documented form has its fields alone", async () => {
    const secret = await make("ci", { scope: "write" })
    await server.addPermanent("192.0.2.1")
    await ask(secret, "POST", TEMP, { ip: "192.0.2.2", ttl_seconds: 1 })
    await server.request("POST", "/api/whitelist/import", {
      headers: { Authorization: `Bearer ${secret}` },
      body: "192.0.2.3\n",
    })
    clock.advance(1000)
    const expired = async () =>
      ((await server.read("/api/logs?action=expire_temp")) as unknown[]).length === 1
    for (let i = 0; i < 500 && !(await expired()); i++) await Bun.sleep(10)
    const rows = (await server.read("/api/logs?detail=1")) as Array<Record<string, unknown>>
    expect(rows.map(({ id, action, ip, token }) => [id, action, ip, token])).toEqual([
      [4, "expire_temp", "192.0.2.2", null],
      [3, "add_perm", "192.0.2.3", "ci"],
      [2, "add_temp", "192.0.2.2", "ci"],
      [1, "add_perm", "192.0.2.1", "file"],
    ])
    const DOCUMENTED = ["timestamp", "action", "ip", "ttl_seconds", "reason", "api_client_ip"]
    expect(Object.keys(rows[0] ?? {})).toEqual(["id", ...DOCUMENTED, "token"])
    const plain = (await server.read("/api/logs")) as object[]
    expect(plain.map((row) => Object.keys(row))).toEqual(Array(4).fill(DOCUMENTED))
    expect((await server.api("GET", "/api/logs?detail=yes")).status).toBe(400)
    expect(await server.read("/api/logs?detail=1&action=add_perm&limit=1")).toMatchObject([{ id: 3 }])
  })

  test("the last use is there at once, and in the database after a stop", async () => {
    const secret = await make("ci")
    clock.advance(5000)
    await statusWith(secret)
    expect(await server.read("/api/tokens")).toMatchObject([{ last_used: "2026-05-17T00:00:05.000Z" }])
    const { directory } = server
    const path = join(directory, "use.db")
    const other = await runServer({ clock, directory, databasePath: path })
    const made = await other.api("POST", "/api/tokens", { name: "x", scope: "read" })
    const { token } = (await made.json()) as { token: string }
    await other.request("GET", "/api/logs", { headers: { Authorization: `Bearer ${token}` } })
    await other.stop()
    let count = 0
    const [row] = await query(
      path,
      () => join(directory, `copy-${++count}.db`),
      "SELECT last_used_at FROM tokens",
    )
    expect(Number(row?.last_used_at)).toBe(clock.wall())
  })
})
