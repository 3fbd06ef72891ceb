// `ipgate allow`: lifetimes, reasons, wide networks, several addresses, standard input, dry runs.

import { describe, expect, test } from "bun:test"
import { fault } from "../faults/fault.ts"
import { throughBothGates, throughBothGatesOnce } from "../support/cli.ts"

const TEN_YEARS = 315_360_000
const NOW = Date.UTC(2026, 0, 1)

throughBothGates((world) => {
  describe("without a lifetime", () => {
    test("lets in permanently, and says so on stdout", async () => {
      expect(await world().run("allow 203.0.113.7")).toEqual({
        code: 0,
        out: "allowed 203.0.113.7 permanently\n",
        err: "",
      })
      expect(await world().json("list")).toEqual([
        { list: "perm", ip: "203.0.113.7", expires: null, reason: null },
      ])
      expect(await world().json("logs")).toEqual([
        {
          timestamp: "2026-01-01T00:00:00.000Z",
          action: "add_perm",
          ip: "203.0.113.7",
          ttl_seconds: null,
          reason: null,
          api_client_ip: world().client,
        },
      ])
    })

    test("tells programs the same", async () => {
      await world().do("allow 203.0.113.7")
      const { code, out, err } = await world().run("allow 203.0.113.7 203.0.113.8 --json")
      expect({ code, err }).toEqual({ code: 0, err: "" })
      expect(JSON.parse(out)).toEqual({
        changed: true,
        dry_run: false,
        results: [
          {
            ip: "203.0.113.7",
            list: "perm",
            result: "unchanged",
            changed: false,
            action: null,
            expires: null,
          },
          {
            ip: "203.0.113.8",
            list: "perm",
            result: "added",
            changed: true,
            action: "add_perm",
            expires: null,
          },
        ],
      })
    })

    test("an entry that is there is already allowed, and nothing is recorded", async () => {
      await world().do("allow 192.0.2.0/28")
      const before = await world().state()
      expect(await world().run("allow ::ffff:192.0.2.0/124")).toEqual({
        code: 0,
        out: "192.0.2.0/28 is already allowed permanently\n",
        err: "",
      })
      expect(await world().state()).toEqual(before)
    })

    test("does not touch the temporary entry of the same address", async () => {
      await world().do("allow 203.0.113.7 --ttl 8h")
      await world().do("allow 203.0.113.7")
      expect(await world().json("list")).toEqual([
        { list: "perm", ip: "203.0.113.7", expires: null, reason: null },
        { list: "temp", ip: "203.0.113.7", expires: "2026-01-01T08:00:00.000Z", reason: "" },
      ])
    })
  })

  describe("with a lifetime", () => {
    test("says until when, for how long, and why", async () => {
      expect(await world().run(["allow", "203.0.113.7", "--ttl", "8h", "-r", "on call"])).toEqual({
        code: 0,
        out: "allowed 203.0.113.7 until 2026-01-01T08:00:00Z (8h): on call\n",
        err: "",
      })
      expect(await world().json("list")).toEqual([
        { list: "temp", ip: "203.0.113.7", expires: "2026-01-01T08:00:00.000Z", reason: "on call" },
      ])
    })

    test("a second time replaces lifetime and reason, and records it", async () => {
      await world().do(["allow", "203.0.113.7", "--ttl", "8h", "-r", "on call"])
      world().clock.advance(60_000)
      expect(await world().run("allow 203.0.113.7 --ttl 1h")).toEqual({
        code: 0,
        out: "allowed 203.0.113.7 until 2026-01-01T01:01:00Z (1h), in place of the earlier lifetime\n",
        err: "",
      })
      expect(await world().json("list")).toEqual([
        { list: "temp", ip: "203.0.113.7", expires: "2026-01-01T01:01:00.000Z", reason: "" },
      ])
      expect(await world().json("logs")).toMatchObject([
        { timestamp: "2026-01-01T00:01:00.000Z", action: "add_temp", ttl_seconds: 3600, reason: null },
        { timestamp: "2026-01-01T00:00:00.000Z", action: "add_temp", ttl_seconds: 28800, reason: "on call" },
      ])
    })

    test("tells programs when it ends and what it did", async () => {
      const added = { ip: "2001:db8::/64", list: "temp", changed: true, action: "add_temp" }
      expect(await world().json("allow 2001:DB8:0::/64 --ttl 30m")).toEqual({
        changed: true,
        dry_run: false,
        results: [{ ...added, result: "added", expires: "2026-01-01T00:30:00.000Z" }],
      })
      expect(await world().json("allow 2001:db8::/64 --ttl 30m")).toEqual({
        changed: true,
        dry_run: false,
        results: [{ ...added, result: "replaced", expires: "2026-01-01T00:30:00.000Z" }],
      })
    })

    test.each([
      ["90s", 90],
      ["30m", 1_800],
      ["8h", 28_800],
      ["1h30m", 5_400],
      ["7d", 604_800],
      ["2w", 1_209_600],
      ["1w1d1h1m1s", 694_861],
      ["3600", 3_600],
      ["1", 1],
      ["3650d", TEN_YEARS],
      [String(TEN_YEARS), TEN_YEARS],
    ])("--ttl %s is %d s", async (text, seconds) => {
      await world().do(`allow 203.0.113.7 --ttl ${text}`)
      expect(await world().json("list")).toMatchObject([
        { expires: new Date(NOW + seconds * 1000).toISOString() },
      ])
      expect(await world().json("logs")).toMatchObject([{ action: "add_temp", ttl_seconds: seconds }])
    })

    test.each([
      ["2026-01-01T08:00:00Z", 28_800],
      ["2026-01-01T08:00Z", 28_800],
      ["2026-01-01T10:00:00+02:00", 28_800],
      ["2026-01-01T08:00:00.001Z", 28_801],
      ["2026-01-01 08:00", 28_800],
      ["2026-01-01 08:00:30", 28_830],
      ["2026-01-02", 86_400],
      ["08:00", 28_800],
      ["8:00", 28_800],
      ["23:59", 86_340],
      ["2035-12-30T00:00:00Z", TEN_YEARS],
    ])("--until %s is %d s from now", async (text, seconds) => {
      await world().do(["allow", "203.0.113.7", "--until", text])
      expect(await world().json("logs")).toMatchObject([{ action: "add_temp", ttl_seconds: seconds }])
    })

    test.each([
      ["2026-01-01 08:00", 46_800],
      ["2026-01-01", 18_000],
      ["19:30", 1_800],
      ["2026-01-01T08:00:00Z", 28_800],
    ])("where it is 19:00 of the day before, --until %s is %d s from now", async (text, seconds) => {
      await world().do(["allow", "203.0.113.7", "--until", text], { timeZone: "America/New_York" })
      expect(await world().json("logs")).toMatchObject([{ action: "add_temp", ttl_seconds: seconds }])
    })
  })

  describe("--reason", () => {
    test.each([
      ["of 500 letters", "x".repeat(500)],
      ["of 500 characters beyond the basic plane", "\u{1f511}".repeat(500)],
      ["in another script", "дежурный инженер, 当番"],
      ["with quotes and a backslash", `"on" 'call' \\ {}`],
    ])("%s is kept as it is", async (_, reason) => {
      await world().do(["allow", "203.0.113.7", "--ttl", "1h", "--reason", reason])
      expect(await world().json("list")).toMatchObject([{ reason }])
      expect(await world().json("logs")).toMatchObject([{ reason }])
    })

    test("that is empty counts as none", async () => {
      await world().do(["allow", "203.0.113.7", "--ttl", "1h", "--reason", ""])
      expect(await world().json("list")).toMatchObject([{ reason: "" }])
      expect(await world().json("logs")).toMatchObject([{ reason: null }])
    })
  })

  test.each([
    ["10.0.0.0/8", "10.0.0.0/8"],
    ["2001:db8::/32", "2001:db8::/32"],
    ["::ffff:10.0.0.0/104", "10.0.0.0/8"],
  ])("%s needs no --force", async (text, canonical) => {
    await world().do(`allow ${text}`)
    expect(await world().addresses()).toEqual([canonical])
  })

  test.each([
    ["10.0.0.0/7", "10.0.0.0/7", 8],
    ["128.0.0.0/1", "128.0.0.0/1", 8],
    ["0.0.0.0/0", "0.0.0.0/0", 8],
    ["::ffff:0:0/96", "0.0.0.0/0", 8],
    ["::ffff:10.0.0.0/103", "10.0.0.0/7", 8],
    ["2001:db8::/31", "2001:db8::/31", 32],
    ["::/0", "::/0", 32],
  ])(
    `${fault("A-16", "networks wider than /8 and /32, in every spelling", "exit 2 without --force, nothing changed")} (%s is refused without --force)`,
    async (text, canonical, length) => {
      for (const option of ["", "--ttl 1h", "--dry-run"]) {
        const { code, out, err } = await world().run(`allow 203.0.113.7 ${text} ${option}`)
        expect({ code, out }).toEqual({ code: 2, out: "" })
        expect(err).toStartWith(`ipgate: ${canonical} is wider than /${length}: `)
        expect(err).toEndWith("\n  add --force if you mean it\n")
      }
      expect(await world().state()).toEqual({ lists: [], log: [] })
      await world().do(`allow ${text} --force`)
      expect(await world().addresses()).toEqual([canonical])
    },
  )

  describe("standard input", () => {
    test("has an address a line, with comments, empty lines and either line end", async () => {
      const input = "\ufeff203.0.113.7\r\n# the office\r\n\r\n  192.0.2.0/28\t# and its network\n2001:db8::1"
      expect(await world().run("allow -", { input })).toEqual({
        code: 0,
        out: "allowed 203.0.113.7 permanently\nallowed 192.0.2.0/28 permanently\nallowed 2001:db8::1 permanently\n",
        err: "",
      })
      expect(await world().addresses()).toEqual(["192.0.2.0/28", "203.0.113.7", "2001:db8::1"])
    })

    test("goes together with arguments, and each network counts once", async () => {
      const { out } = await world().do("allow 198.51.100.1 - 203.0.113.7/32", {
        input: "203.0.113.7\n::ffff:198.51.100.1\n",
      })
      expect(out).toBe("allowed 198.51.100.1 permanently\nallowed 203.0.113.7 permanently\n")
    })

    test("with a bad line adds none of the good ones", async () => {
      const { code, out, err } = await world().run("allow -", {
        input: "203.0.113.7\nbad one\n10.0.0.1/8 # x\n",
      })
      expect({ code, out }).toEqual({ code: 2, out: "" })
      expect(err).toContain('"bad one"')
      expect(err).toContain('"10.0.0.1/8"')
      expect(err).not.toContain("203.0.113.7")
      expect(await world().state()).toEqual({ lists: [], log: [] })
    })

    test.each(["", "\n", "# nothing\r\n"])("%j holds no address", async (input) => {
      expect(await world().run("allow -", { input })).toEqual({
        code: 2,
        out: "",
        err: "ipgate: no address is given\n",
      })
    })
  })

  test("warns where a permanent entry goes on letting the same addresses in", async () => {
    await world().do("allow 192.0.2.0/28")
    const { code, out, err } = await world().run(
      "allow 192.0.2.5 192.0.2.0/28 192.0.2.0/27 192.0.2.77 --ttl 1h",
    )
    expect([code, out.split("\n").length - 1]).toEqual([0, 4])
    expect(err).toBe(
      "warning: 192.0.2.5 is allowed by permanent 192.0.2.0/28 too, and stays so after that\n" +
        "warning: 192.0.2.0/28 is allowed by permanent 192.0.2.0/28 too, and stays so after that\n",
    )
    expect((await world().run("allow 192.0.2.5 --ttl 1h --quiet")).err).toBe("")
  })

  describe("--dry-run", () => {
    test("says what would be done, and does nothing", async () => {
      await world().do("allow 203.0.113.7")
      await world().do("allow 203.0.113.8 --ttl 1h")
      const before = await world().state()
      expect(await world().run("allow 203.0.113.7 203.0.113.9 --dry-run")).toEqual({
        code: 0,
        out: "203.0.113.7 is already allowed permanently\nwould have allowed 203.0.113.9 permanently\n",
        err: "",
      })
      expect(await world().run("allow 203.0.113.7 203.0.113.8 --ttl 8h --dry-run")).toEqual({
        code: 0,
        out: "would have allowed 203.0.113.7 for 8h\nwould have allowed 203.0.113.8 for 8h\n",
        err: "warning: 203.0.113.7 is allowed by permanent 203.0.113.7 too, and stays so after that\n",
      })
      expect(await world().state()).toEqual(before)
    })

    test("tells programs what would change", async () => {
      await world().do("allow 203.0.113.7")
      await world().do("allow 203.0.113.8 --ttl 1h")
      const before = await world().state()
      expect(await world().json("allow 203.0.113.7 203.0.113.9 --dry-run")).toMatchObject({
        changed: true,
        dry_run: true,
        results: [
          { result: "unchanged", changed: false, action: null },
          { result: "added", changed: true, action: "add_perm" },
        ],
      })
      expect(await world().json("allow 203.0.113.7 203.0.113.8 --ttl 1h --dry-run")).toMatchObject({
        changed: true,
        dry_run: true,
        results: [
          { result: "added", changed: true, action: "add_temp" },
          { result: "replaced", changed: true, action: "add_temp" },
        ],
      })
      expect(await world().json("allow 203.0.113.7 --dry-run")).toMatchObject({
        changed: false,
        dry_run: true,
      })
      expect(await world().state()).toEqual(before)
    })

    test("a network that covers the address is not the address", async () => {
      await world().do("allow 203.0.113.0/24")
      expect((await world().run("allow 203.0.113.7 --dry-run")).out).toBe(
        "would have allowed 203.0.113.7 permanently\n",
      )
    })
  })

  test("--error-unchanged is exit 3 only if nothing at all had to be changed", async () => {
    const code = async (command: string) => (await world().run(`${command} --error-unchanged`)).code
    expect(await code("allow 203.0.113.7")).toBe(0)
    expect(await code("allow 203.0.113.7")).toBe(3)
    expect(await code("allow 203.0.113.7 --json")).toBe(3)
    expect(await code("allow 203.0.113.7 --dry-run")).toBe(3)
    expect(await code("allow 203.0.113.8 --dry-run")).toBe(0)
    expect(await code("allow 203.0.113.7 203.0.113.8")).toBe(0)
    expect(await code("allow 203.0.113.7 203.0.113.8")).toBe(3)
    expect(await code("allow 203.0.113.7 --ttl 1h")).toBe(0)
    expect(await code("allow 203.0.113.7 --ttl 1h")).toBe(0)
  })

  test("--quiet says nothing and does it", async () => {
    expect(await world().run("allow 203.0.113.7 -q")).toEqual({ code: 0, out: "", err: "" })
    expect(await world().run("-q allow 203.0.113.8 --ttl 1h")).toEqual({ code: 0, out: "", err: "" })
    expect(await world().addresses()).toEqual(["203.0.113.7", "203.0.113.8"])
  })
})

describe("what is refused changes nothing", () => {
  throughBothGatesOnce(
    (world) => {
      const entry = "203.0.113.7"
      const lifetime = "a lifetime is 1 s to ten years (315360000 s)"
      const past = (text: string) => `--until ${text} is in the past`
      const control = "reason contains a control character"
      const refused: ReadonlyArray<readonly [args: readonly string[], message: string]> = [
        ...["1h30x", "", "-5", "1.5h", "1h 30m", "30m1h", "8H", "1e3", "0x10", "h", "٣h"].map(
          (text) => [[entry, "--ttl", text], `"${text}" is no duration`] as const,
        ),
        ...["0", "0s", "3651d", "315360001", "999999999999"].map(
          (text) => [[entry, "--ttl", text], lifetime] as const,
        ),
        ...["2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z", "2020-01-01", "00:00"].map(
          (text) => [[entry, "--until", text], past(text)] as const,
        ),
        [[entry, "--until", "2035-12-30T00:00:01Z"], lifetime],
        ...["tomorrow", "", "24:00", "18", "18:60", "2026-13-01", "2026-02-31", "2026-02-30T10:00Z"].map(
          (text) => [[entry, "--until", text], `"${text}" is no time`] as const,
        ),
        [[entry, "--ttl", "8h", "--until", "08:00"], "--ttl and --until exclude each other"],
        [[entry, "--reason", "on call"], "--reason belongs to a temporary entry"],
        [[entry, "--ttl", "1h", "--reason", "x".repeat(501)], "reason is longer than 500 characters"],
        [[entry, "--ttl", "1h", "--reason", "\u{1f511}".repeat(501)], "reason is longer than 500 characters"],
        ...["a\nb", "a\rb", "\x1b[31m", "\x07", "\x7f", "\x9b", "\u2028", "\u202e", "\u2066", "\ufeff"].map(
          (text) => [[entry, "--ttl", "1h", "--reason", text], control] as const,
        ),
        [["10.0.0.5/8"], '"10.0.0.5/8" has host bits set; did you mean 10.0.0.0/8 or 10.0.0.5?'],
        [["10.0.0.0/33"], '"10.0.0.0/33" is not a valid CIDR: the prefix length must be 0 to 32'],
        [["203.0.113.07"], '"203.0.113.07" is not an IP address or CIDR'],
        [["fe80::1%eth0"], "remove the zone id"],
        [["[2001:db8::1]:443"], "remove the brackets and the port"],
        [["example.com"], '"example.com" is not an IP address or CIDR'],
        [[""], "it is empty"],
      ]

      test.each(refused)("%j", async (args, message) => {
        const before = await world().state()
        const { code, out, err } = await world().run(["allow", ...args])
        expect({ code, out }).toEqual({ code: 2, out: "" })
        expect(err).toStartWith("ipgate: ")
        expect(err).toContain(message)
        expect(await world().state()).toEqual(before)
      })

      test("one bad address among good ones: every bad one is named, no good one, and none is added", async () => {
        const before = await world().state()
        const { code, out, err } = await world().run(
          "allow 203.0.113.7 10.0.0.5/8 192.0.2.0/28 203.0.113.999 nonsense 2001:db8::1",
        )
        expect({ code, out }).toEqual({ code: 2, out: "" })
        expect(err.split("\n")).toEqual([
          'ipgate: "10.0.0.5/8" has host bits set; did you mean 10.0.0.0/8 or 10.0.0.5?',
          '"203.0.113.999" is not an IP address or CIDR: IPv4 has four decimal numbers from 0 to 255, without leading zeros',
          '"nonsense" is not an IP address or CIDR',
          "",
        ])
        expect(await world().state()).toEqual(before)
      })
    },
    { prepare: (world) => world.do("allow 198.51.100.1 198.51.100.2") },
  )
})

describe("a change that the gate refuses", () => {
  // On the last day that can be written down no entry can end seven days later.
  throughBothGates(
    (world) => {
      const message = "the clock of this machine is wrong: no temporary entry can be added"

      test("is told on stderr, does not keep the others from being tried, and is exit 1", async () => {
        const { code, out, err } = await world().run("allow 203.0.113.7 203.0.113.8 --ttl 7d")
        expect({ code, out }).toEqual({ code: 1, out: "" })
        expect(err).toContain(`203.0.113.7: ${message}`)
        expect(err).toContain(`203.0.113.8: ${message}`)
      })

      test("is an error that --quiet does not swallow", async () => {
        const { code, out, err } = await world().run("allow 203.0.113.7 --ttl 7d --quiet")
        expect({ code, out }).toEqual({ code: 1, out: "" })
        expect(err).toContain(message)
      })

      test("is a result of its own for programs", async () => {
        const { code, out, err } = await world().run("allow 203.0.113.7 --ttl 7d --json")
        expect({ code, err }).toEqual({ code: 1, err: "" })
        expect(JSON.parse(out)).toEqual({
          changed: false,
          dry_run: false,
          results: [
            {
              ip: "203.0.113.7",
              list: null,
              result: "error",
              changed: false,
              action: null,
              message,
              hint: null,
            },
          ],
        })
      })
    },
    { wall: Date.UTC(9999, 11, 31) },
  )
})
