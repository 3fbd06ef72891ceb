// A disk that is full at the two moments that are not an ordinary write: while old records go, and while the log is copied back.

import { expect, setDefaultTimeout, test } from "bun:test"
import { readdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import { makeTokenFile, readTokenFile, TokenError } from "../../src/token-file.ts"
import { addPermanent, logOf, NOW, permanentOf } from "../store/changes.ts"
import { Workplace } from "../support/binary.ts"
import { copyDatabase, temporaryPaths } from "../support/temp-store.ts"
import { fault } from "./fault.ts"
import { rounds } from "./rounds.ts"
import { SmallDisk } from "./small-disk.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(300_000)
const newPath = temporaryPaths()

const KEPT_ROWS = 300
const GROUP = 40

function thrownBy(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  throw new Error("nothing was thrown")
}

/** The n-th group of addresses. */
function group(n: number): string[] {
  return Array.from({ length: GROUP }, (_, i) => {
    const at = n * GROUP + i
    return `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`
  })
}

test(
  fault(
    "D-11 D-20",
    "the disk is full while each change also cuts the log, and then has space again",
    "a group is taken whole or not at all, and the log has the newest records of what was taken, to the limit",
  ),
  async () => {
    // Each round leaves more behind.
    using disk = new SmallDisk(rounds(1_500, 8_000))
    const path = join(disk.path, "ipgate.db")
    const store = new LibsqlStore({ path, auditRows: KEPT_ROWS })
    await store.open(NOW)
    const taken: string[] = []
    let refused = 0
    let next = 0
    const tryGroup = async () => {
      const addresses = group(next++)
      try {
        await store.commit(addresses.map((ip) => addPermanent(ip)))
        taken.push(...addresses)
        return true
      } catch (cause) {
        expect(String(cause)).toContain("the disk is full")
        refused++
        return false
      }
    }
    const expectWhole = async (of: LibsqlStore) => {
      const entries = await permanentOf(of)
      const log = await logOf(of)
      tally("lost", taken.filter((ip) => !entries.includes(ip)).length)
      expect(entries).toEqual(taken)
      expect(log.map(({ ip }) => ip)).toEqual(taken.slice(-KEPT_ROWS))
    }
    while (taken.length < 2 * KEPT_ROWS) expect(await tryGroup()).toBe(true)
    for (let round = 0; round < rounds(4, 30); round++) {
      disk.fill(round % 3 === 0 ? 0 : 4 * round)
      while (await tryGroup()) {
        // Until the log beside the file is full too.
      }
      for (let i = 0; i < 3; i++) await tryGroup()
      await expectWhole(store)
      disk.empty()
      expect(await tryGroup()).toBe(true)
      await expectWhole(store)
    }
    expect(refused).toBeGreaterThan(0)
    await store.close()
    const again = new LibsqlStore({ path: copyDatabase(path, newPath()), auditRows: KEPT_ROWS })
    await again.open(NOW)
    await expectWhole(again)
    await again.close()
  },
)

test("the disk is full when the first token is made: nothing is left of it, and with space it is whole", () => {
  using disk = new SmallDisk(1_000)
  const path = join(disk.path, "state/api-token")
  disk.fill()
  // Another attempt may find space, so it is not told as a token that cannot be used.
  const failure = thrownBy(() => makeTokenFile(path))
  expect([String(failure).includes("ENOSPC"), failure instanceof TokenError]).toEqual([true, false])
  expect(readdirSync(dirname(path))).toEqual([])
  disk.empty()
  expect([makeTokenFile(path), makeTokenFile(path)]).toEqual([true, false])
  expect(readTokenFile(path)).toHaveLength(1)
  expect(readdirSync(dirname(path))).toEqual(["api-token"])
})

test("the file system is read-only when the first token is made: no second attempt will make it", () => {
  using disk = new SmallDisk(1_000)
  const path = join(disk.path, "state/api-token")
  disk.makeReadOnly()
  const failure = thrownBy(() => makeTokenFile(path))
  expect(failure).toBeInstanceOf(TokenError)
  expect(String(failure)).toContain(`the token file ${path} cannot be made: EROFS`)
})

test(
  fault(
    "D-11",
    "the disk is full while a server that stops copies its log into the database, and at the next start",
    "the stop is clean, the start is refused with one line, and with space everything is there",
  ),
  async () => {
    using disk = new SmallDisk(4_000)
    await using place = await Workplace.make()
    const path = join(disk.path, "ipgate.db")
    const env = { IPGATE_DB: `file:${path}` }
    const server = await place.serve([], { env })
    const size = statSync(path).size
    const entries = Array.from({ length: 100 }, (_, n) => group(n)).flat()
    const file = await place.write("many.txt", `${entries.join("\n")}\n`)
    expect((await server.ipgate("import", file)).code).toBe(0)
    disk.fill()
    expect(await server.stop()).toBe(0)
    // It could not grow, so what was acknowledged is in the log alone.
    expect([statSync(path).size, statSync(`${path}-wal`).size > 100_000]).toEqual([size, true])
    const refused = await place.ipgate(["serve", "--listen", "127.0.0.1:0"], { env })
    expect([refused.code, refused.stderr.match(/^ipgate: /gm)?.length]).toEqual([5, 1])
    expect(refused.stderr).toContain("full")
    disk.empty()
    const next = await place.serve([], { env })
    const found = await next.read<Array<{ ip: string }>>("/api/whitelist/perm/list?limit=1000&offset=3000")
    tally("lost", 1_000 - found.length)
    expect(found.map(({ ip }) => ip)).toEqual(entries.slice(3_000))
    expect(await next.read("/status")).toMatchObject({ perm_whitelist_count: entries.length, db_ok: true })
    for (const ip of [entries[0], entries.at(-1)]) expect(await next.decision(String(ip))).toBe(204)
    expect(await next.stop()).toBe(0)
    expect(statSync(path).size).toBeGreaterThan(size)
  },
)
