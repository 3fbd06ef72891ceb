// `ipgate token`: makes, lists and revokes, on-line and off-line; and what a command with a named token gets to hear.

import { describe, expect, test } from "bun:test"
import { type CliSettings, throughBothGates, World } from "../support/cli.ts"

const SECRET = /^ipgate_[A-Za-z0-9_-]{43}\n$/

throughBothGates((world) => {
  test("create prints the secret alone on standard output, and words beside it", async () => {
    const { code, out, err } = await world().run("token create ci --scope read --expires 90d")
    expect(code).toBe(0)
    expect(out).toMatch(SECRET)
    expect(err).toStartWith("made the token ci (read), good until 2026-04-01T00:00:00Z\n")
    const quiet = await world().run("token create cj --scope read --quiet")
    expect([quiet.out.replace(SECRET, "secret"), quiet.err]).toEqual(["secret", ""])
  })

  test("list shows what each of them may do, and no secret", async () => {
    await world().do("token create helpdesk --scope temp-only --max-ttl 8h --within 203.0.113.0/24")
    const { out } = await world().do("token create laptop --scope self --max-ttl 90m --expires 2026-01-02")
    await world().do("token create ci --scope write")
    await world().do("token revoke ci")
    const list = await world().run("token list")
    expect(list.out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["NAME", "SCOPE", "MAX TTL", "WITHIN", "STATE", "EXPIRES", "LAST USED"],
      ["ci", "write", "-", "-", "revoked", "-", "never"],
      ["helpdesk", "temp-only", "8h", "203.0.113.0/24", "active", "-", "never"],
      ["laptop", "self", "1h30m", "-", "active", "2026-01-02T00:00:00Z", "never"],
      [""],
    ])
    world().clock.advance(86_400_000)
    expect(await world().json("token list")).toMatchObject([
      { name: "ci", state: "revoked", revoked: "2026-01-01T00:00:00.000Z" },
      { name: "helpdesk", state: "active", max_ttl_seconds: 28_800, within: "203.0.113.0/24", expires: null },
      { name: "laptop", state: "expired", expires: "2026-01-02T00:00:00.000Z" },
    ])
    expect((await world().run("token list --json")).out).not.toContain(out.trim())
  })

  test("revoke tells what it did, and a name that is not there is an error", async () => {
    await world().do("token create ci --scope read")
    expect(await world().run("token revoke ci")).toEqual({ code: 0, out: "revoked the token ci\n", err: "" })
    expect((await world().run("token revoke ci")).out).toBe("the token ci was revoked before\n")
    const absent = await world().run("token revoke cj")
    expect([absent.code, absent.out, absent.err]).toEqual([
      1,
      "",
      'ipgate: there is no token of the name "cj"\n',
    ])
    await world().do("token create json --scope read")
    expect(await world().json("token revoke json")).toEqual({
      name: "json",
      result: "revoked",
      changed: true,
    })
    expect(await world().json("token revoke json")).toEqual({
      name: "json",
      result: "unchanged",
      changed: false,
    })
    expect(await world().json("token revoke none")).toEqual({
      name: "none",
      result: "absent",
      changed: false,
    })
    expect((await world().run("token revoke none --json")).code).toBe(1)
  })

  test("--json holds the secret beside what the token is", async () => {
    const made = (await world().json("token create ci --scope self --max-ttl 60")) as Record<string, unknown>
    expect(`${made.token}\n`).toMatch(SECRET)
    expect(made).toMatchObject({ name: "ci", scope: "self", max_ttl_seconds: 60, state: "active" })
  })

  test("a name is used once", async () => {
    await world().do("token create ci --scope read")
    const message = "there is, or was, a token of the name ci"
    const hint = "a name is used once, so that the log stays clear: take another"
    expect(await world().run("token create ci --scope read")).toEqual({
      code: 1,
      out: "",
      err: `ipgate: ${message}\n  ${hint}\n`,
    })
    const { err } = await world().run("token create ci --scope read --json")
    expect(JSON.parse(err)).toEqual({ error: { code: "conflict", message, hint, exit_code: 1 } })
  })

  test.each([
    ["token create ci", "required option '--scope <scope>' not specified"],
    ["token create ci --scope all", "argument 'all' is invalid"],
    ["token create Ci --scope read", "is no name for a token"],
    ["token create file --scope read", "is no name for a token"],
    ["token create ci --scope self", "needs a maximum lifetime"],
    ["token create ci --scope read --max-ttl 8h", "goes with the scopes temp-only and self"],
    ["token create ci --scope self --max-ttl 8h --within 10.0.0.0/8", "goes with the scope temp-only"],
    ["token create ci --scope temp-only --max-ttl 8x", "is no duration"],
    ["token create ci --scope temp-only --max-ttl 8h --within 10.0.0.5/8", "has host bits set"],
    ["token create ci --scope read --expires 2025-01-01", "--expires 2025-01-01 is in the past"],
    ["token create ci --scope read --expires soon", "is no time"],
    ["token creat ci --scope read", "unknown command 'creat'"],
  ])("%s is a usage error", async (command, message) => {
    const { code, out, err } = await world().run(command)
    expect([code, out]).toEqual([2, ""])
    expect(err).toContain(message)
    expect(await world().json("token list")).toEqual([])
  })

  test("logs --wide says which token it was", async () => {
    const name = world().kind === "on-line" ? "file" : "offline"
    await world().do("allow 192.0.2.1")
    await world().do("allow 192.0.2.2 --ttl 60 -r why")
    const { out } = await world().run("logs --wide")
    expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["ID", "TIME", "ACTION", "IP", "TTL", "CLIENT", "TOKEN", "REASON"],
      ["2", "2026-01-01T00:00:00Z", "add_temp", "192.0.2.2", "1m", world().client ?? "-", name, "why"],
      ["1", "2026-01-01T00:00:00Z", "add_perm", "192.0.2.1", "-", world().client ?? "-", name, "-"],
      [""],
    ])
    expect(await world().json("logs --wide -n 1")).toMatchObject([{ id: 2, token: name, ip: "192.0.2.2" }])
    expect((await world().run("logs --wide --follow")).code).toBe(2)
  })
})

describe("a command with a named token", () => {
  async function withToken<T>(
    options: string,
    use: (world: World, settings: CliSettings) => Promise<T>,
  ): Promise<T> {
    const world = await World.open("on-line")
    try {
      const { out } = await world.do(`token create helper ${options}`)
      return await use(world, { environment: { IPGATE_TOKEN: out.trim() } })
    } finally {
      await world.close()
    }
  }

  test("that it is not good for exits with 4 and says what it is good for", async () => {
    await withToken("--scope read", async (world, settings) => {
      for (const command of ["allow 192.0.2.1", "deny 192.0.2.1", "token list", "token revoke helper"]) {
        const { code, out, err } = await world.run(command, settings)
        expect([command, code, out, err]).toEqual([
          command,
          4,
          "",
          "ipgate: the token helper may read, but change nothing and make no backup\n" +
            (command.startsWith("deny") ? "  without --temp, deny also means the permanent list\n" : ""),
        ])
      }
      const { err } = await world.run("allow 192.0.2.1 --json", settings)
      expect(JSON.parse(err)).toEqual({
        error: {
          code: "forbidden",
          message: "the token helper may read, but change nothing and make no backup",
          hint: null,
          exit_code: 4,
        },
      })
      expect((await world.run("list", settings)).code).toBe(0)
    })
  })

  test("a token never makes another", async () => {
    await withToken("--scope write", async (world, settings) => {
      expect((await world.run("token create second --scope read", settings)).code).toBe(4)
      expect((await world.run("allow 192.0.2.1", settings)).code).toBe(0)
      expect(await world.json("logs --wide")).toMatchObject([{ token: "helper" }])
    })
  })

  test("temp-only does what it is for: allow for a time, check, deny --temp", async () => {
    await withToken("--scope temp-only --max-ttl 1h --within 192.0.2.0/24", async (world, settings) => {
      expect((await world.run("allow 192.0.2.1 --ttl 1h", settings)).code).toBe(0)
      expect((await world.run("check 192.0.2.1", settings)).code).toBe(0)
      expect((await world.run("deny 192.0.2.1 --temp", settings)).code).toBe(0)
      expect((await world.run("allow 192.0.2.1 --ttl 2h", settings)).code).toBe(4)
      expect((await world.run("allow 192.0.2.1", settings)).code).toBe(4)
      expect((await world.run("allow 192.0.3.1 --ttl 1h", settings)).code).toBe(4)
      expect(await world.addresses()).toEqual([])
    })
  })

  test("is told what was done before a target that the token is not good for, and what was not tried", async () => {
    await withToken("--scope temp-only --max-ttl 1h --within 192.0.2.0/24", async (world, settings) => {
      const mixed = "192.0.2.1 192.0.3.1 192.0.2.2"
      const { code, out, err } = await world.run(`allow ${mixed} --ttl 1h`, settings)
      expect(code).toBe(4)
      expect(out).toStartWith("allowed 192.0.2.1 until ")
      expect(err).toStartWith("ipgate: 192.0.3.1: the token helper may check")
      expect(err).toEndWith("and nothing else (1 more not tried)\n")
      expect(await world.addresses()).toEqual(["192.0.2.1"])

      const removed = await world.run(`deny ${mixed} --temp --json`, settings)
      expect([removed.code, removed.err]).toEqual([4, ""])
      expect(JSON.parse(removed.out)).toMatchObject({
        changed: true,
        results: [
          { ip: "192.0.2.1", result: "removed" },
          { ip: "192.0.3.1", result: "error", message: expect.stringContaining("the token helper may") },
        ],
      })
      expect(await world.addresses()).toEqual([])
      expect((await world.run("deny 192.0.3.1 192.0.2.1 --temp", settings)).out).toBe("")
    })
  })

  test("that was revoked exits with 4, as with an unknown one", async () => {
    await withToken("--scope write", async (world, settings) => {
      await world.do("token revoke helper")
      const { code, err } = await world.run("list", settings)
      expect([code, err.split("\n")[0]]).toEqual([4, "ipgate: missing or invalid token"])
      // `logs -f` does not wait for a server that has said no.
      expect((await world.run("logs -f", settings)).code).toBe(4)
    })
  })
})
