// `ipgate check`: let in or not, by which entry, for how long.

import { describe, expect, test } from "bun:test"
import { throughBothGates, throughBothGatesOnce, type World } from "../support/cli.ts"

async function entries(world: World): Promise<void> {
  await world.do("allow 10.0.0.0/8 10.1.0.0/16 203.0.113.7 2001:db8::/64")
  await world.do("allow 10.1.2.0/24 198.51.100.0/24 198.51.100.7 203.0.113.7 --ttl 27680s")
}

throughBothGatesOnce(
  (world) => {
    test.each([
      ["203.0.113.7", "203.0.113.7 allowed by permanent 203.0.113.7"],
      ["::ffff:203.0.113.7", "203.0.113.7 allowed by permanent 203.0.113.7"],
      ["10.9.9.9", "10.9.9.9 allowed by permanent 10.0.0.0/8"],
      ["10.1.2.3", "10.1.2.3 allowed by permanent 10.1.0.0/16"],
      ["10.1.2.0/24", "10.1.2.0/24 allowed by permanent 10.1.0.0/16"],
      ["2001:db8::1", "2001:db8::1 allowed by permanent 2001:db8::/64"],
      ["198.51.100.7", "198.51.100.7 allowed by temporary 198.51.100.7 (7h41m left)"],
      ["198.51.100.8", "198.51.100.8 allowed by temporary 198.51.100.0/24 (7h41m left)"],
    ])("%s is let in", async (text, line) => {
      expect(await world().run(`check ${text}`)).toEqual({ code: 0, out: `${line}\n`, err: "" })
      expect(await world().run(`check ${text} --quiet`)).toEqual({ code: 0, out: "", err: "" })
    })

    test.each(["203.0.113.8", "2001:db8:0:1::1", "198.51.100.0/23", "0.0.0.0/0", "::/0"])(
      "%s is not",
      async (text) => {
        expect(await world().run(`check ${text}`)).toEqual({
          code: 1,
          out: `${text} denied: no entry contains it\n`,
          err: "",
        })
        expect(await world().run(`check ${text} --quiet`)).toEqual({ code: 1, out: "", err: "" })
      },
    )

    test("of several, one that is not let in is enough for exit 1, and each is answered in order", async () => {
      expect(await world().run("check 203.0.113.8 203.0.113.7 -", { input: "10.9.9.9\n" })).toEqual({
        code: 1,
        out:
          "203.0.113.8 denied: no entry contains it\n" +
          "203.0.113.7 allowed by permanent 203.0.113.7\n" +
          "10.9.9.9 allowed by permanent 10.0.0.0/8\n",
        err: "",
      })
    })

    test("programs get one member each", async () => {
      const { code, out, err } = await world().run("check 203.0.113.8 203.0.113.7 198.51.100.8 --json")
      expect({ code, err }).toEqual({ code: 1, err: "" })
      expect(JSON.parse(out)).toEqual([
        { ip: "203.0.113.8", allowed: false, matched_by: null },
        {
          ip: "203.0.113.7",
          allowed: true,
          matched_by: { list: "perm", ip: "203.0.113.7", expires: null },
        },
        {
          ip: "198.51.100.8",
          allowed: true,
          matched_by: { list: "temp", ip: "198.51.100.0/24", expires: "2026-01-01T07:41:20.000Z" },
        },
      ])
    })

    test("a bad address is a usage error", async () => {
      const { code, out, err } = await world().run("check 203.0.113.7 203.0.113")
      expect({ code, out }).toEqual({ code: 2, out: "" })
      expect(err).toStartWith('ipgate: "203.0.113" is not an IP address or CIDR')
    })

    test("a question is recorded nowhere", async () => {
      const before = await world().state()
      await world().run("check 203.0.113.7 203.0.113.8")
      expect(await world().state()).toEqual(before)
    })
  },
  { prepare: entries },
)

describe("a temporary entry", () => {
  throughBothGates((world) => {
    test("lets in until the moment when it ends, and not longer", async () => {
      await world().do("allow 203.0.113.7 --ttl 90s")
      world().clock.advance(30_500)
      expect((await world().run("check 203.0.113.7")).out).toEndWith("(1m left)\n")
      world().clock.advance(59_499)
      expect(await world().run("check 203.0.113.7")).toEqual({
        code: 0,
        out: "203.0.113.7 allowed by temporary 203.0.113.7 (1s left)\n",
        err: "",
      })
      world().clock.advance(1)
      expect(await world().run("check 203.0.113.7")).toEqual({
        code: 1,
        out: "203.0.113.7 denied: no entry contains it\n",
        err: "",
      })
    })
  })
})
