// `ipgate deny`: what is taken off which list, and what still lets the address in.

import { describe, expect, test } from "bun:test"
import { fault } from "../faults/fault.ts"
import { throughBothGates } from "../support/cli.ts"

throughBothGates((world) => {
  test("takes an address off both lists, and records each", async () => {
    await world().do("allow 203.0.113.7")
    await world().do("allow 203.0.113.7 --ttl 8h")
    expect(await world().run("deny 203.0.113.7")).toEqual({
      code: 0,
      out: "removed 203.0.113.7 from the permanent list\nremoved 203.0.113.7 from the temporary list\n",
      err: "",
    })
    expect(await world().addresses()).toEqual([])
    expect(await world().json("logs -n 2")).toEqual([
      {
        timestamp: "2026-01-01T00:00:00.000Z",
        action: "delete_temp",
        ip: "203.0.113.7",
        ttl_seconds: null,
        reason: null,
        api_client_ip: world().client,
      },
      {
        timestamp: "2026-01-01T00:00:00.000Z",
        action: "delete_perm",
        ip: "203.0.113.7",
        ttl_seconds: null,
        reason: null,
        api_client_ip: world().client,
      },
    ])
  })

  test("tells programs the same, a result for each list", async () => {
    await world().do("allow 203.0.113.7")
    await world().do("allow 203.0.113.7 --ttl 8h")
    const removed = { ip: "203.0.113.7", result: "removed", changed: true }
    const denied = { effective: "denied", matched_by: null }
    expect(await world().json("deny 203.0.113.7")).toEqual({
      changed: true,
      dry_run: false,
      results: [
        { ...removed, list: "perm", action: "delete_perm", ...denied },
        { ...removed, list: "temp", action: "delete_temp", ...denied },
      ],
    })
    expect(await world().json("deny 203.0.113.7")).toEqual({
      changed: false,
      dry_run: false,
      results: [{ ip: "203.0.113.7", list: null, result: "absent", changed: false, action: null, ...denied }],
    })
  })

  test("what is on no list is denied already, and nothing is recorded", async () => {
    expect(await world().run("deny 203.0.113.7")).toEqual({
      code: 0,
      out: "203.0.113.7 is not on the permanent list or the temporary list\n",
      err: "",
    })
    expect((await world().run("deny 203.0.113.7 --temp")).out).toBe(
      "203.0.113.7 is not on the temporary list\n",
    )
    expect((await world().run("deny 203.0.113.7 --perm")).out).toBe(
      "203.0.113.7 is not on the permanent list\n",
    )
    expect(await world().state()).toEqual({ lists: [], log: [] })
  })

  test("a network is the entry with that name: those inside it stay, and that is said", async () => {
    await world().do("allow 192.0.2.7")
    expect(await world().run("deny 192.0.2.0/28")).toEqual({
      code: 0,
      out: "192.0.2.0/28 is not on the permanent list or the temporary list; entries inside it stay\n",
      err: "",
    })
    expect(await world().addresses()).toEqual(["192.0.2.7"])
  })

  test.each([
    ["203.0.113.7/32", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::ffff:cb00:7107/128", "203.0.113.7"],
    ["2001:DB8:0:0::1", "2001:db8::1"],
    ["::ffff:192.0.2.0/124", "192.0.2.0/28"],
  ])("%s is another spelling of %s", async (text, canonical) => {
    await world().do("allow 203.0.113.7 2001:db8::1 192.0.2.0/28")
    expect((await world().run(`deny ${text}`)).out).toBe(`removed ${canonical} from the permanent list\n`)
    expect(await world().addresses()).not.toContain(canonical)
  })

  describe(
    fault("J-15", "the removal of an entry that another one covers", "a warning that names it, exit 0"),
    () => {
      test("is warned about on stderr, and is no failure", async () => {
        await world().do("allow 10.0.0.0/8")
        await world().do("allow 10.1.2.3 --ttl 8h")
        expect(await world().run("deny 10.1.2.3")).toEqual({
          code: 0,
          out: "removed 10.1.2.3 from the temporary list\n",
          err: "warning: 10.1.2.3 is still allowed by permanent 10.0.0.0/8\n",
        })
        expect(await world().run("deny 10.1.2.3")).toEqual({
          code: 0,
          out: "10.1.2.3 is not on the permanent list or the temporary list\n",
          err: "warning: 10.1.2.3 is still allowed by permanent 10.0.0.0/8\n",
        })
      })

      test("is told to programs", async () => {
        await world().do("allow 10.1.0.0/16 --ttl 1h")
        await world().do("allow 10.1.2.3")
        expect(await world().json("deny 10.1.2.3")).toEqual({
          changed: true,
          dry_run: false,
          results: [
            {
              ip: "10.1.2.3",
              list: "perm",
              result: "removed",
              changed: true,
              action: "delete_perm",
              effective: "allowed",
              matched_by: { list: "temp", ip: "10.1.0.0/16", expires: "2026-01-01T01:00:00.000Z" },
            },
          ],
        })
        expect(await world().run("deny 10.1.2.3 --json")).toMatchObject({ code: 0, err: "" })
      })

      test("is let in by the other list when only one is asked for", async () => {
        await world().do("allow 203.0.113.7")
        await world().do("allow 203.0.113.7 --ttl 8h")
        expect(await world().run("deny 203.0.113.7 --temp")).toEqual({
          code: 0,
          out: "removed 203.0.113.7 from the temporary list\n",
          err: "warning: 203.0.113.7 is still allowed by permanent 203.0.113.7\n",
        })
        await world().do("allow 203.0.113.7 --ttl 8h")
        expect(await world().run("deny 203.0.113.7 --perm")).toEqual({
          code: 0,
          out: "removed 203.0.113.7 from the permanent list\n",
          err: "warning: 203.0.113.7 is still allowed by temporary 203.0.113.7\n",
        })
        expect(await world().json("list")).toMatchObject([{ list: "temp", ip: "203.0.113.7" }])
      })

      test("the narrowest entry is named, a permanent one before a temporary one", async () => {
        await world().do("allow 10.0.0.0/8 10.1.0.0/16")
        await world().do("allow 10.1.2.0/24 --ttl 1h")
        expect((await world().run("deny 10.1.2.3")).err).toBe(
          "warning: 10.1.2.3 is still allowed by permanent 10.1.0.0/16\n",
        )
      })

      test("a network is not covered by what lies within it", async () => {
        await world().do("allow 10.1.0.0/16 10.1.2.3")
        expect(await world().run("deny 10.1.0.0/16")).toMatchObject({ code: 0, err: "" })
        expect(await world().addresses()).toEqual(["10.1.2.3"])
      })
    },
  )

  test("several at once, also from standard input", async () => {
    await world().do("allow 203.0.113.7 203.0.113.8 192.0.2.0/28")
    expect(
      await world().run("deny 203.0.113.9 -", { input: "203.0.113.7 # gone\r\n\r\n192.0.2.0/28\n" }),
    ).toEqual({
      code: 0,
      out:
        "203.0.113.9 is not on the permanent list or the temporary list\n" +
        "removed 203.0.113.7 from the permanent list\n" +
        "removed 192.0.2.0/28 from the permanent list\n",
      err: "",
    })
    expect(await world().addresses()).toEqual(["203.0.113.8"])
  })

  test("one bad address among good ones: it is named, and nothing is removed", async () => {
    await world().do("allow 203.0.113.7")
    const before = await world().state()
    const { code, out, err } = await world().run("deny 203.0.113.7 203.0.113.0/23 1.2.3 --json")
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain("203.0.113.0/23")
    expect(err).toContain("1.2.3")
    expect(await world().state()).toEqual(before)
  })

  test("--dry-run says what would be removed, what would still let in, and removes nothing", async () => {
    await world().do("allow 203.0.113.0/24 203.0.113.7")
    await world().do("allow 203.0.113.7 --ttl 8h")
    const before = await world().state()
    expect(await world().run("deny 203.0.113.7 --dry-run")).toEqual({
      code: 0,
      out:
        "would have removed 203.0.113.7 from the permanent list\n" +
        "would have removed 203.0.113.7 from the temporary list\n",
      err: "warning: 203.0.113.7 is still allowed by permanent 203.0.113.0/24\n",
    })
    expect(await world().run("deny 203.0.113.7 --temp --dry-run")).toEqual({
      code: 0,
      out: "would have removed 203.0.113.7 from the temporary list\n",
      err: "warning: 203.0.113.7 is still allowed by permanent 203.0.113.7\n",
    })
    expect(await world().run("deny 203.0.113.8 --dry-run")).toEqual({
      code: 0,
      out: "203.0.113.8 is not on the permanent list or the temporary list\n",
      err: "warning: 203.0.113.8 is still allowed by permanent 203.0.113.0/24\n",
    })
    expect(await world().json("deny 203.0.113.0/24 --dry-run")).toEqual({
      changed: true,
      dry_run: true,
      results: [
        {
          ip: "203.0.113.0/24",
          list: "perm",
          result: "removed",
          changed: true,
          action: "delete_perm",
          effective: "denied",
          matched_by: null,
        },
      ],
    })
    expect(await world().state()).toEqual(before)
  })

  test("--error-unchanged is exit 3 only if nothing at all had to be changed", async () => {
    const code = async (command: string) => (await world().run(`${command} --error-unchanged`)).code
    await world().do("allow 203.0.113.7 203.0.113.8")
    expect(await code("deny 203.0.113.9")).toBe(3)
    expect(await code("deny 203.0.113.7 --temp")).toBe(3)
    expect(await code("deny 203.0.113.7 --dry-run")).toBe(0)
    expect(await code("deny 203.0.113.7 203.0.113.9")).toBe(0)
    expect(await code("deny 203.0.113.7 203.0.113.9 --json")).toBe(3)
  })

  test("--quiet says nothing, also no warning, and does it", async () => {
    await world().do("allow 10.0.0.0/8 10.1.2.3")
    expect(await world().run("deny 10.1.2.3 --quiet")).toEqual({ code: 0, out: "", err: "" })
    expect(await world().addresses()).toEqual(["10.0.0.0/8"])
  })

  test("an entry that has ended is gone", async () => {
    await world().do("allow 203.0.113.7 --ttl 90s")
    world().clock.advance(90_000)
    expect((await world().run("deny 203.0.113.7")).out).toBe(
      "203.0.113.7 is not on the permanent list or the temporary list\n",
    )
    expect(await world().actions()).toEqual(["expire_temp 203.0.113.7", "add_temp 203.0.113.7"])
  })
})
