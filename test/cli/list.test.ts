// `ipgate list`: both lists, in their order, however long they are.

import { beforeAll, describe, expect, test } from "bun:test"
import { entryKey } from "../../src/store/entry-key.ts"
import { CliMachine, throughBothGates, throughBothGatesOnce } from "../support/cli.ts"
import { network } from "../support/parsed.ts"
import { editedCopy, temporaryPaths } from "../support/temp-store.ts"

const path = temporaryPaths()

throughBothGates((world) => {
  test("empty lists are a line of titles, and an empty array for programs", async () => {
    expect(await world().run("list")).toEqual({
      code: 0,
      out: "LIST  IP  EXPIRES  REMAINING  REASON\n",
      err: "",
    })
    expect(await world().run("list --json")).toEqual({ code: 0, out: "[]\n", err: "" })
  })

  test("the permanent list comes first, IPv4 before IPv6, then by address, then by length", async () => {
    await world().do(
      "allow 2001:db8::1 10.0.0.0 9.255.255.255 10.0.0.0/9 10.0.0.0/8 :: 203.0.113.7 2001:db8::/64 100.0.0.1",
    )
    await world().do("allow 1.1.1.1 --ttl 1h")
    expect(await world().addresses()).toEqual([
      "9.255.255.255",
      "10.0.0.0/8",
      "10.0.0.0/9",
      "10.0.0.0",
      "100.0.0.1",
      "203.0.113.7",
      "::",
      "2001:db8::/64",
      "2001:db8::1",
      "1.1.1.1",
    ])
  })

  test("of the temporary list the soonest to end comes first, and equal ends by address", async () => {
    await world().do("allow 2001:db8::1 203.0.113.9 203.0.113.10 --ttl 2h")
    await world().do("allow 203.0.113.200 --ttl 1h")
    await world().do("allow 10.0.0.1 --ttl 3h")
    expect(await world().addresses()).toEqual([
      "203.0.113.200",
      "203.0.113.9",
      "203.0.113.10",
      "2001:db8::1",
      "10.0.0.1",
    ])
  })

  test("what has ended is not shown", async () => {
    await world().do("allow 203.0.113.7 --ttl 90s")
    await world().do("allow 203.0.113.8 --ttl 91s")
    world().clock.advance(90_000)
    expect(await world().addresses()).toEqual(["203.0.113.8"])
    expect((await world().run("list")).out).toContain("2026-01-01T00:01:31Z  1s ")
  })

  test("--temp and --perm show one list each", async () => {
    await world().do("allow 203.0.113.7")
    await world().do("allow 203.0.113.8 --ttl 1h")
    expect(await world().addresses("list --perm")).toEqual(["203.0.113.7"])
    expect(await world().addresses("list --temp")).toEqual(["203.0.113.8"])
  })

  test("--quiet shows nothing; with --json it shows the JSON", async () => {
    await world().do("allow 203.0.113.7")
    expect(await world().run("list --quiet")).toEqual({ code: 0, out: "", err: "" })
    expect(await world().run("list --quiet --json")).toEqual({
      code: 0,
      out: '[{"list":"perm","ip":"203.0.113.7","expires":null,"reason":null}]\n',
      err: "",
    })
  })
})

describe("lists of more than a page", () => {
  const PERMANENT = 2_001
  const TEMPORARY = 1_000
  // 7 and the number of addresses have no common divisor, so every address comes once, and out of order.
  const shuffled = (count: number, name: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => name((i * 7) % count))
  const permanent = (i: number) => `10.0.${i >> 8}.${i & 255}`
  const temporary = (i: number) => `2001:db8::${(i + 1).toString(16)}`
  const options: { database?: string } = {}

  beforeAll(async () => {
    const machine = new CliMachine()
    const empty = path()
    await machine.run(`list --offline --db ${empty}`)
    machine.remove()
    options.database = await editedCopy(empty, path, [
      insert("permanent (key, ip)", shuffled(PERMANENT, permanent), () => ""),
      insert(
        "temporary (key, ip, expires_at)",
        shuffled(TEMPORARY, temporary),
        (ip) => `, ${Date.UTC(2027, 0, 1) + Number.parseInt(ip.slice("2001:db8::".length), 16)}`,
      ),
    ])
  })

  throughBothGatesOnce((world) => {
    test("are shown to the end, each entry once and in order", async () => {
      const expected = [
        ...Array.from({ length: PERMANENT }, (_, i) => permanent(i)),
        ...Array.from({ length: TEMPORARY }, (_, i) => temporary(i)),
      ]
      expect(await world().addresses()).toEqual(expected)
      const { out } = await world().do("list")
      expect(out.split("\n").map((line) => line.split(/ +/)[1])).toEqual(["IP", ...expected, undefined])
    })

    test("one list alone, too", async () => {
      expect(await world().addresses("list --temp")).toHaveLength(TEMPORARY)
      expect(await world().addresses("list --perm")).toHaveLength(PERMANENT)
    })
  }, options)
})

function insert(into: string, texts: readonly string[], more: (ip: string) => string): string {
  const values = texts.map(
    (ip) => `(x'${Buffer.from(entryKey(network(ip))).toString("hex")}', '${ip}'${more(ip)})`,
  )
  return `INSERT INTO ${into} VALUES ${values.join(", ")}`
}
