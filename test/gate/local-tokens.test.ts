// The named tokens while the database does not do what it should: a revocation bites all the same.

import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test"
import { loadAllowlist } from "../../src/app/load-allowlist.ts"
import { assembleWritePath, type WritePath } from "../../src/app/write-path.ts"
import type { Change } from "../../src/core/change.ts"
import { GateError } from "../../src/core/errors.ts"
import { OFFLINE, TOKEN_FILE } from "../../src/core/principal.ts"
import { type StoredToken, TOKEN_SCOPES, type TokenRequest, type TokenUse } from "../../src/core/token.ts"
import { TokenUpkeep } from "../../src/gate/token-upkeep.ts"
import { LibsqlStore } from "../../src/store/libsql-store.ts"
import type { Committed } from "../../src/store/store.ts"
import type { Revoked } from "../../src/store/token-store.ts"
import { digestOfToken, newTokenSecret } from "../../src/token-secret.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { network } from "../support/parsed.ts"
import { temporaryPaths } from "../support/temp-store.ts"

const newPath = temporaryPaths()

const READ: TokenRequest = {
  name: "ci",
  scope: "read",
  maxTtlSeconds: null,
  within: null,
  lifetimeSeconds: null,
}

/** The real store, whose writes fail while a test wants it, before or after they were done. */
class FaultyStore extends LibsqlStore {
  fault: "none" | "refuses" | "late" = "none"
  /** Which writes have the fault. */
  faulty: ReadonlyArray<"commit" | "addToken" | "revokeToken" | "recordTokenUses"> = [
    "addToken",
    "revokeToken",
    "recordTokenUses",
  ]
  readonly savedUses: Array<readonly TokenUse[]> = []

  override commit(changes: readonly Change[]): Promise<Committed> {
    return this.failing("commit", () => super.commit(changes))
  }

  override addToken(token: StoredToken): Promise<"added" | "conflict"> {
    return this.failing("addToken", () => super.addToken(token))
  }

  override revokeToken(name: string, at: number): Promise<Revoked> {
    return this.failing("revokeToken", () => super.revokeToken(name, at))
  }

  override recordTokenUses(uses: readonly TokenUse[]): Promise<void> {
    return this.failing("recordTokenUses", async () => {
      this.savedUses.push(uses)
      await super.recordTokenUses(uses)
    })
  }

  private async failing<T>(name: (typeof this.faulty)[number], write: () => Promise<T>): Promise<T> {
    const fault = this.faulty.includes(name) ? this.fault : "none"
    if (fault === "refuses") throw new GateError("failed", "database failure: the disk is full")
    const answer = await write()
    if (fault === "late") throw new GateError("unavailable", "the database did not answer within 5 s")
    return answer
  }
}

let store: FaultyStore
let path: WritePath
let clock: FakeClock

beforeEach(async () => {
  clock = new FakeClock()
  store = new FaultyStore({ path: newPath(), auditRows: 100 })
  await store.open(clock.wall())
  const { allowlist } = await loadAllowlist(store, clock)
  path = await assembleWritePath(store, allowlist, clock, clock.mono())
})
afterEach(() => store.close())

const counts = (secret: string) => path.book.find(digestOfToken(secret).toString("hex")) !== null
const page = { limit: 100, offset: 0 }

describe("whoever may not do everything", () => {
  test.each(TOKEN_SCOPES)("makes, sees and ends no token: scope %s", async (scope) => {
    const { secret } = await path.tokens.create(READ)
    const tokens = path.tokens.as(null, { name: "one", scope, maxTtlSeconds: 60, within: null })
    for (const refused of [
      tokens.create({ ...READ, name: "two" }),
      tokens.list(page),
      tokens.revoke("ci"),
      tokens.revoke("absent"),
    ]) {
      await expect(refused).rejects.toMatchObject({
        code: "forbidden",
        message: expect.stringContaining("the token one may"),
      })
    }
    expect(await path.tokens.list(page)).toMatchObject([{ name: "ci", state: "active" }])
    expect(counts(secret)).toBe(true)
  })

  test.each([TOKEN_FILE, OFFLINE])(
    "is neither the token of the file nor the command line: $name",
    async (principal) => {
      const tokens = path.tokens.as(null, principal)
      await tokens.create(READ)
      expect(await tokens.list(page)).toHaveLength(1)
      expect(await tokens.revoke("ci")).toBe("revoked")
    },
  )
})

test("a revoked token stops counting at once, while the database has not even been asked", async () => {
  const { secret } = await path.tokens.create(READ)
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const before = path.queue.exclusive(() => over)
  const revoked = path.tokens.revoke("ci")
  expect(counts(secret)).toBe(false)
  expect(await store.tokens()).toMatchObject([{ name: "ci", revokedAt: null }])
  end()
  await before
  expect(await revoked).toBe("revoked")
  expect(counts(secret)).toBe(false)
})

describe("a revocation that cannot be written", () => {
  test.each(["refuses", "late"] as const)(
    "(the database %s) holds until the next start, and says so",
    async (fault) => {
      const { secret } = await path.tokens.create(READ)
      expect(counts(secret)).toBe(true)
      store.fault = fault
      await expect(path.tokens.revoke("ci")).rejects.toThrow(
        /is refused from now on, but after a restart it would count again/,
      )
      expect(counts(secret)).toBe(false)
      store.fault = "none"
      expect(await path.tokens.revoke("ci")).toBe(fault === "late" ? "unchanged" : "revoked")
      expect(await path.tokens.list(page)).toMatchObject([
        { name: "ci", state: "revoked", revokedAt: clock.wall() },
      ])
    },
  )

  test("makes the database not well, as any change does", async () => {
    await path.tokens.create(READ)
    store.fault = "refuses"
    await path.tokens.revoke("ci").catch(() => {})
    expect(path.health.ok).toBe(false)
    store.fault = "none"
    await path.tokens.revoke("ci")
    expect(path.health.ok).toBe(true)
  })
})

describe("a token that cannot be written", () => {
  test("does not count, and its name is free", async () => {
    store.fault = "refuses"
    await expect(path.tokens.create(READ)).rejects.toThrow("the disk is full")
    expect(await path.tokens.list(page)).toEqual([])
    store.fault = "none"
    const { secret } = await path.tokens.create(READ)
    expect(counts(secret)).toBe(true)
  })

  test("makes the database not well, as any change does", async () => {
    store.fault = "refuses"
    await path.tokens.create(READ).catch(() => {})
    expect(path.health.ok).toBe(false)
    store.fault = "none"
    await path.tokens.create(READ)
    expect(path.health.ok).toBe(true)
  })

  test("and was, after all, is in the list and can be revoked; nobody knows its secret", async () => {
    store.fault = "late"
    await expect(path.tokens.create(READ)).rejects.toThrow("did not answer")
    store.fault = "none"
    expect(await path.tokens.list(page)).toMatchObject([{ name: "ci", state: "active" }])
    expect(await path.tokens.revoke("ci")).toBe("revoked")
    expect(await path.tokens.list(page)).toMatchObject([{ name: "ci", state: "revoked" }])
  })

  test("because the clock is wrong is refused", async () => {
    clock.stepWall(Date.UTC(9999, 11, 31) - clock.wall())
    const request = { ...READ, lifetimeSeconds: 315_360_000 }
    await expect(path.tokens.create(request)).rejects.toThrow("the clock of this machine is wrong")
    clock.stepWall(-1 - clock.wall())
    await expect(path.tokens.create(READ)).rejects.toThrow("the clock of this machine is wrong")
    clock.stepWall(1)
    expect((await path.tokens.create(READ)).token.createdAt).toBe(0)
  })
})

test("a revocation that overtakes the making of its token still ends it", async () => {
  const created = path.tokens.create(READ)
  const revoked = path.tokens.revoke("ci")
  const { secret } = await created
  expect(await revoked).toBe("revoked")
  expect(counts(secret)).toBe(false)
})

test.each([
  ["cannot be written", "revokeToken"],
  ["is withdrawn with a change before it", "commit"],
] as const)(
  "a revocation that overtakes the making of its token and %s refuses it all the same",
  async (_, faulty) => {
    store.fault = "late"
    store.faulty = [faulty]
    const created = path.tokens.create(READ)
    const changed = path.gate.addPermanent(network("192.0.2.1")).catch(() => {})
    const revoked = path.tokens.revoke("ci").catch((error: GateError) => error.message)
    const { secret } = await created
    expect(await revoked).toContain("is refused from now on")
    expect(counts(secret)).toBe(false)
    await changed
  },
)

test("the last uses go to the database together, once, and again if that fails", async () => {
  const made = []
  for (const name of ["a", "b", "c"]) made.push(await path.tokens.create({ ...READ, name }))
  clock.advance(1000)
  for (let i = 0; i < 100; i++) for (const { secret } of made.slice(0, 2)) counts(secret)
  expect(store.savedUses).toEqual([])
  store.fault = "refuses"
  await path.tokens.saveUses()
  store.fault = "none"
  await path.tokens.saveUses()
  await path.tokens.saveUses()
  expect(store.savedUses).toEqual([["a", "b"].map((name) => ({ name, at: clock.wall() }))])
  expect((await store.tokens()).map(({ lastUsedAt }) => lastUsedAt)).toEqual([
    clock.wall(),
    clock.wall(),
    null,
  ])
})

test("the last uses are written once a minute, from start to stop, and once more at the end", async () => {
  const { secret } = await path.tokens.create(READ)
  const upkeep = new TokenUpkeep(path.tokens, path.book)
  const use = () => {
    clock.advance(1000)
    counts(secret)
    return [{ name: "ci", at: clock.wall() }]
  }
  jest.useFakeTimers()
  try {
    upkeep.start()
    const first = use()
    jest.advanceTimersByTime(59_999)
    expect(store.savedUses).toEqual([])
    jest.advanceTimersByTime(1)
    expect(store.savedUses).toEqual([first])
    const second = use()
    jest.advanceTimersByTime(60_000)
    expect(store.savedUses).toEqual([first, second])
    const last = use()
    await upkeep.stop()
    expect(store.savedUses).toEqual([first, second, last])
    use()
    jest.advanceTimersByTime(120_000)
    expect(store.savedUses).toHaveLength(3)
  } finally {
    jest.useRealTimers()
  }
})

test("a secret is 256 random bits behind a prefix that a scanner can look for", () => {
  const secrets = Array.from({ length: 1000 }, () => newTokenSecret())
  expect(new Set(secrets.map(({ secret }) => secret)).size).toBe(1000)
  for (const { secret, digest } of secrets) {
    expect(secret).toMatch(/^ipgate_[A-Za-z0-9_-]{43}$/)
    expect(digest).toBe(new Bun.CryptoHasher("sha256").update(secret).digest("hex"))
  }
})
