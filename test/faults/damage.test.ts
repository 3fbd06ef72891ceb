// A database whose bytes the disk has changed, or that is not where it was: nobody gets in by it, and nothing is lost to it.

import { expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { loadAllowlist } from "../../src/app/load-allowlist.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { readChunk } from "../../src/store/snapshot.ts"
import { takeFaults } from "../contract/watched.ts"
import { addPermanent, addTemporary, NOW } from "../store/changes.ts"
import { type ServerProcess, Workplace } from "../support/binary.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { Prng } from "../support/prng.ts"
import { digest, editedCopy, temporaryPaths } from "../support/temp-store.ts"
import { fault } from "./fault.ts"
import { rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(300_000)
const newPath = temporaryPaths()

/** Far enough away for a clock of today. */
const YEARS = 315_360_000

const PERMANENT = Array.from({ length: 40 }, (_, i) => (i % 3 ? `192.0.${i}.${i}` : `2001:db8:${i}::/48`))
const TEMPORARY = Array.from({ length: 40 }, (_, i) => (i % 3 ? `198.51.${i}.${i}` : `2001:db8:1:${i}::1`))

/** A closed database of several pages, whose log is empty. */
async function database(): Promise<string> {
  const path = newPath()
  const store = new LibsqlStore({ path, auditRows: 1_000 })
  await store.open(NOW)
  await store.commit(PERMANENT.map((ip) => addPermanent(ip)))
  await store.commit(TEMPORARY.map((ip) => addTemporary(ip, { ttlSeconds: YEARS, reason: "a reason" })))
  await store.close()
  return editedCopy(path, newPath, [])
}

/** A copy in which one byte is another one. */
function damagedCopy(bytes: Uint8Array, random: Prng): { path: string; at: number } {
  const at = random.below(bytes.length)
  const path = newPath()
  writeFileSync(path, bytes.with(at, (bytes[at] ?? 0) ^ (1 + random.below(255))))
  return { path, at }
}

type Loaded = { readonly entries: readonly string[]; readonly badRows: number }

/** Each entry as the decisions know it, with its end; or `null` if the file was refused. */
async function load(path: string): Promise<Loaded | null> {
  const store = new LibsqlStore({ path, auditRows: 1_000 })
  try {
    await store.open(NOW)
    const entries: string[] = []
    await store.snapshot((chunk) => {
      readChunk(chunk, (network, end) => entries.push(`${chunk.list} ${network} ${end}`))
    })
    const { badRows } = await loadAllowlist(store, new FakeClock(NOW))
    return { entries, badRows }
  } catch (refusal) {
    expect(refusal).toMatchObject({ code: "unavailable", message: expect.stringContaining(path) })
    return null
  } finally {
    await store.close()
  }
}

/** Fails if an entry is there that nobody wrote, if one is missing in silence, or if a refused file was changed. */
async function whatBecomesOf(path: string, written: ReadonlySet<string>, which: string) {
  const before = digest(path)
  const loaded = await load(path)
  if (loaded === null) {
    expect([which, digest(path)]).toEqual([which, before])
    return "refused"
  }
  const added = loaded.entries.filter((entry) => !written.has(entry))
  tally("letIn", added.length)
  expect([which, added]).toEqual([which, []])
  expect([which, loaded.entries.length + loaded.badRows]).toEqual([which, written.size])
  return loaded.badRows === 0 ? "whole" : "told"
}

test(
  fault(
    "D-15",
    "a letter of the name of a table, an index or a column is another one",
    "refused, and not a byte changes, if anything that is read has lost its name",
  ),
  async () => {
    const path = await database()
    const bytes = readFileSync(path)
    const written = new Set((await load(await editedCopy(path, newPath, [])))?.entries)
    const schema = bytes.subarray(0, 2 * 4096).toString("latin1")
    for (const name of [
      "permanent",
      "temporary",
      "audit",
      "tokens",
      "temporary_by_expiry",
      "expires_at",
      "reason",
      "sqlite_sequence",
    ]) {
      let refused = 0
      for (let at = schema.indexOf(name); at !== -1; at = schema.indexOf(name, at + 1)) {
        const path = newPath()
        writeFileSync(path, bytes.with(at + 1, (bytes[at + 1] ?? 0) ^ 1))
        if ((await whatBecomesOf(path, written, `${name} at ${at}`)) === "refused") refused++
      }
      expect([name, refused > 0]).toEqual([name, true])
    }
  },
)

test(
  fault(
    "D-15",
    "one byte of the file is another one, wherever it is",
    "the file is refused and keeps every byte, or no entry but the written ones is there, and a missing one is told",
  ),
  async () => {
    const seed = rounds(15, Date.now() & 0xffff)
    const random = new Prng(seed)
    const path = await database()
    const bytes = readFileSync(path)
    const entries = await load(await editedCopy(path, newPath, []))
    const written = new Set(entries?.entries)
    expect(written.size).toBe(PERMANENT.length + TEMPORARY.length)
    const seen = { refused: 0, whole: 0, told: 0 }
    for (let round = 0; round < rounds(800, 3_000); round++) {
      const { path, at } = damagedCopy(bytes, random)
      seen[await whatBecomesOf(path, written, `seed ${seed}, byte ${at}`)]++
    }
    // Each way out was taken, so that none of the above was proved by its absence.
    expect(Object.values(seen).every((count) => count > 0)).toBe(true)
  },
)

test(
  fault(
    "D-15",
    "a server is started on a file of which one byte is another one",
    "exit 5 with one line and not a byte changed, or the decisions and the lists of before",
  ),
  async () => {
    await using place = await Workplace.make()
    const seed = rounds(3, Date.now() & 0xffff)
    const random = new Prng(seed)
    const bytes = readFileSync(await database())
    const listed = [...PERMANENT, ...TEMPORARY].map((ip) => ip.replace("/48", "1"))
    for (let round = 0; round < rounds(12, 150); round++) {
      const { path, at } = damagedCopy(bytes, random)
      const before = digest(path)
      const env = { IPGATE_DB: `file:${path}` }
      let server: ServerProcess
      try {
        server = await place.serve([], { env })
      } catch (refusal) {
        expect(String(refusal)).toContain("ended with 5:\n")
        expect(String(refusal)).toContain(path)
        expect([seed, at, digest(path)]).toEqual([seed, at, before])
        continue
      }
      const decisions = await Promise.all(listed.map((ip) => server.decision(ip)))
      const out = decisions.filter((status) => status !== 204).length
      if (out > 0) await server.logged("rows")
      expect([seed, at, out <= 1]).toEqual([seed, at, true])
      for (const stranger of ["203.0.113.1", "192.0.2.1", "2001:db8:ffff::1"]) {
        expect([seed, at, await server.decision(stranger)]).toEqual([seed, at, 401])
      }
      await server.kill()
    }
  },
)

test(
  fault(
    "D-15",
    "a bit is another one in reasons, networks and names, so that none is valid UTF-8, and everything is read",
    "the server goes on, shows U+FFFD there, and nobody is let in by such a network or such a token",
  ),
  async () => {
    await using place = await Workplace.make()
    const first = await place.serve()
    const secretOf = async (name: string): Promise<string> => {
      const made = await first.api("POST", "/api/tokens", { name, scope: "write" })
      return ((await made.json()) as { token: string }).token
    }
    const secrets = { laptop: await secretOf("laptop"), phone: await secretOf("phone") }
    for (const [ip, reason] of [
      ["198.51.100.1", "a reason"],
      ["198.51.100.2", "another"],
    ]) {
      const added = await fetch(`${first.url}/api/whitelist/temp`, {
        method: "POST",
        headers: { Authorization: `Bearer ${secrets.phone}` },
        body: JSON.stringify({ ip, ttl_seconds: 3_600, reason }),
      })
      expect(added.status).toBe(204)
    }
    await first.stop()

    const bytes = readFileSync(place.database)
    for (const text of ["a reason", "198.51.100.2", "phone"]) {
      let places = 0
      for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
        bytes[at] = (bytes[at] ?? 0) ^ 0x80
        places++
      }
      expect([text, places > 1]).toEqual([text, true])
    }
    const database = place.path("damaged.db")
    writeFileSync(database, bytes)

    const server = await place.serve([], { env: { IPGATE_DB: `file:${database}` } })
    await server.logged("rows that are no networks")
    await server.logged("tokens that make no sense")
    for (const path of [
      "/api/whitelist/temp",
      "/api/whitelist/export",
      "/api/logs",
      "/api/logs?detail=1",
      "/api/tokens",
      "/api/events?after=0",
    ]) {
      expect([path, await showsDamage(server, path)]).toEqual([path, true])
    }
    // The document says what a row is that is whole.
    expect(takeFaults().filter((one) => !/ip must match/.test(one))).toEqual([])
    for (const command of [["list"], ["logs"], ["token", "list"], ["export"]]) {
      const { code, stdout } = await server.ipgate(...command)
      expect([command, code, stdout.includes("\ufffd")]).toEqual([command, 0, true])
    }
    const statusFor = async (secret: string) => {
      const answer = await fetch(`${server.url}/api/whitelist/perm/list`, {
        headers: { Authorization: `Bearer ${secret}` },
      })
      return answer.status
    }
    expect([await statusFor(secrets.laptop), await statusFor(secrets.phone)]).toEqual([200, 401])
    const decisions = ["198.51.100.1", "198.51.100.2", "203.0.113.1"].map((ip) => server.decision(ip))
    expect(await Promise.all(decisions)).toEqual([204, 401, 401])
    expect((await server.api("POST", "/api/whitelist/perm", { ip: "192.0.2.1" })).status).toBe(204)
    expect(await server.stop()).toBe(0)
  },
)

/** True if what the server sends has U+FFFD; a stream is left as soon as it has come. */
async function showsDamage(server: ServerProcess, path: string): Promise<boolean> {
  const { body } = await server.api("GET", path)
  const decoder = new TextDecoder()
  let text = ""
  for await (const piece of body ?? []) {
    text += decoder.decode(piece, { stream: true })
    if (text.includes("\ufffd")) return true
  }
  return false
}

test(
  fault(
    "D-16",
    "the file of a server is gone at the next start",
    "a new one is made, nobody is let in, and the log says loudly that it is new, and where",
  ),
  async () => {
    await using place = await Workplace.make()
    const first = await place.serve()
    await first.logged("made a new, empty database")
    expect((await first.api("POST", "/api/whitelist/perm", { ip: "192.0.2.1" })).status).toBe(204)
    await first.stop()
    const again = await place.serve()
    expect(again.log()).not.toContain("made a new, empty database")
    await again.stop()

    const elsewhere = place.path("elsewhere/ipgate.db")
    const server = await place.serve([], { env: { IPGATE_DB: `file:${elsewhere}` } })
    const line = server
      .log()
      .split("\n")
      .find((one) => one.includes("made a new, empty database"))
    expect(line).toContain("warn")
    expect(line).toContain(elsewhere)
    expect(await server.decision("192.0.2.1")).toBe(401)
    expect(await server.read("/status")).toMatchObject({ perm_whitelist_count: 0, db_ok: true })
    expect((await server.api("POST", "/api/whitelist/perm", { ip: "192.0.2.2" })).status).toBe(204)
    await server.kill()
    const next = await place.serve([], { env: { IPGATE_DB: `file:${elsewhere}` } })
    expect([await next.decision("192.0.2.1"), await next.decision("192.0.2.2")]).toEqual([401, 204])
  },
)
