// Named tokens of the built binary: one replaces the other while the server is killed again and again.

import { expect, setDefaultTimeout, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fault } from "../faults/fault.ts"
import { type ServerProcess, Workplace } from "../support/binary.ts"
import { Prng } from "../support/prng.ts"

setDefaultTimeout(120_000)

const ROUNDS = 10
/** Milliseconds after the request, at most, when the kill comes: before, in and after the commit. */
const LONGEST_DELAY = 8

const statusOf = async (server: ServerProcess, secret: string) => {
  const headers = { Authorization: `Bearer ${secret}` }
  return (await fetch(`${server.url}/api/logs`, { headers })).status
}

test(
  fault(
    "B-10",
    "a named token takes the place of another, with kill -9 after each answer and in the middle of each step",
    "one of the two counts at every moment, and what was answered is so after the next start",
  ),
  async () => {
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
    console.log(`TEST_SEED=${seed}`)
    const random = new Prng(seed)
    await using place = await Workplace.make()
    let server = await place.serve()
    const killIn = async (milliseconds: number) => {
      await Bun.sleep(milliseconds)
      await server.kill()
      server = await place.serve()
    }
    const create = async (name: string): Promise<{ name: string; secret: string } | null> => {
      const answer = await server.api("POST", "/api/tokens", { name, scope: "write" }).catch(() => null)
      if (answer?.status !== 201) return null
      return { name, secret: ((await answer.json()) as { token: string }).token }
    }
    let current = await create("first")
    if (current === null) throw new Error("no token can be made")
    for (let round = 0; round < ROUNDS; round++) {
      const where = `TEST_SEED=${seed}, round ${round}`
      // In every other round the kill comes while the request is under way.
      const underWay = round % 2 === 1
      const name = `next-${round}`
      const created = create(name)
      if (!underWay) await created
      await killIn(underWay ? random.below(LONGEST_DELAY) : 0)
      expect([where, await statusOf(server, current.secret)]).toEqual([where, 200])
      // Whoever got no answer makes another: nobody knows the secret of the first.
      const next = (await created) ?? (await create(`${name}-again`))
      if (next === null) throw new Error(`${where}: no token can be made`)
      expect([where, await statusOf(server, next.secret)]).toEqual([where, 200])

      const revoked = server.api("DELETE", `/api/tokens/${current.name}`).then(
        ({ status }) => status === 204,
        () => false,
      )
      if (!underWay) await revoked
      await killIn(underWay ? random.below(LONGEST_DELAY) : 0)
      expect([where, await statusOf(server, next.secret)]).toEqual([where, 200])
      const expected = (await revoked) ? [401] : [200, 401]
      expect(expected).toContain(await statusOf(server, current.secret))
      await server.api("DELETE", `/api/tokens/${current.name}`)
      expect([where, await statusOf(server, current.secret)]).toEqual([where, 401])
      current = next
    }
    expect(await server.stop()).toBe(0)
  },
)

test(
  fault(
    "B-09",
    "a named token is made and used, by a server that is killed, and with --offline",
    "its secret is in no file, no argument and no log; a copy of the database has a digest",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const made = await server.ipgate("token", "create", "ci", "--scope", "write")
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^ipgate_[\w-]{43}\n$/)])
    const secret = made.stdout.trim()
    expect(await statusOf(server, secret)).toBe(200)
    await fetch(`${server.url}/api/logs?access_token=${secret}`, {
      headers: { Authorization: `Bearer ${secret}x` },
    })
    expect(readFileSync(`/proc/${server.pid}/cmdline`, "utf8")).not.toContain(secret)
    const lines = server.log()
    await server.kill()
    const offline = await place.ipgate(["--offline", "token", "create", "cj", "--scope", "read"])
    for (const text of [secret, offline.stdout.trim()]) {
      const bare = text.slice("ipgate_".length)
      expect(bare.length).toBe(43)
      expect(lines).not.toContain(bare)
      expect(offline.stderr + made.stderr).not.toContain(bare)
      for (const entry of readdirSync(place.directory, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue
        expect(readFileSync(join(entry.parentPath, entry.name), "latin1")).not.toContain(bare)
      }
    }
    const next = await place.serve()
    expect([await statusOf(next, secret), await statusOf(next, offline.stdout.trim())]).toEqual([200, 200])
    expect(await next.stop()).toBe(0)
  },
)
