// `ipgate import` and `ipgate export`: whole files in, or nothing; and what comes out goes in again.

import { describe, expect, test } from "bun:test"
import { compare } from "../../cli/bulk/compare.ts"
import { mustFit } from "../../cli/bulk/must-fit.ts"
import type { Gate } from "../../src/core/gate.ts"
import { LARGEST_IMPORT } from "../../src/wire/largest-import.ts"
import { throughBothGates, throughBothGatesOnce, World } from "../support/cli.ts"
import { FakeClock } from "../support/fake-clock.ts"

const counts = { added: 0, replaced: 0, unchanged: 0, removed: 0, duplicates: 0, ended: 0 }

async function some(world: World): Promise<void> {
  await world.do("allow 203.0.113.7 192.0.2.0/28 2001:db8::/64")
  await world.do(["allow", "198.51.100.7", "--ttl", "8h", "-r", "on call"])
}

throughBothGates((world) => {
  test("import puts all entries of a file on the lists, and says how many", async () => {
    await some(world())
    const file = world().machine.file(
      "office.txt",
      "203.0.113.7\n# new\r\n203.0.113.8\r\n\n10.0.0.0/8 # all\n203.0.113.8/32\n",
    )
    expect(await world().run(`import ${file}`)).toEqual({
      code: 0,
      out: "2 added, 0 replaced, 1 unchanged, 1 duplicate in the file\n",
      err: "",
    })
    expect(await world().addresses("list --perm")).toEqual([
      "10.0.0.0/8",
      "192.0.2.0/28",
      "203.0.113.7",
      "203.0.113.8",
      "2001:db8::/64",
    ])
    expect((await world().actions()).slice(0, 2).sort()).toEqual([
      "add_perm 10.0.0.0/8",
      "add_perm 203.0.113.8",
    ])
    expect(await world().json("logs -n 1")).toMatchObject([{ api_client_ip: world().client }])
    expect((await world().run("check 203.0.113.8 10.1.2.3 203.0.113.7 -q")).code).toBe(0)
  })

  test("import takes a wide network if it is told to", async () => {
    const input = "0.0.0.0/0\n"
    await world().do("import - --format values --force", { input })
    expect(await world().addresses("list")).toEqual(["0.0.0.0/0"])
    const exported = (await world().do("export")).out
    expect((await world().run("import - --format csv", { input: exported })).code).toBe(2)
    expect((await world().run("import - --format csv --force", { input: exported })).code).toBe(0)
  })

  test("import takes lifetimes and reasons of the file, and of the options where the file names none", async () => {
    const input = "ip,ttl,reason\n203.0.113.7,1h,office\n203.0.113.8,,\n203.0.113.9,90s,\n"
    expect(
      await world().json(["import", "-", "--format", "csv", "--ttl", "8h", "--reason", "bulk"], { input }),
    ).toEqual({ changed: true, dry_run: false, ...counts, added: 3 })
    expect(await world().json("list")).toEqual([
      { list: "temp", ip: "203.0.113.9", expires: "2026-01-01T00:01:30.000Z", reason: "bulk" },
      { list: "temp", ip: "203.0.113.7", expires: "2026-01-01T01:00:00.000Z", reason: "office" },
      { list: "temp", ip: "203.0.113.8", expires: "2026-01-01T08:00:00.000Z", reason: "bulk" },
    ])
  })

  test("import replaces temporary entries, and leaves out those that have ended", async () => {
    await some(world())
    const input = JSON.stringify([
      { ip: "198.51.100.7", ttl: 60, reason: "shorter" },
      { ip: "198.51.100.8", expires: "2025-12-31T23:59:59Z" },
      "203.0.113.7",
    ])
    expect(await world().run("import - --format json", { input })).toEqual({
      code: 0,
      out: "0 added, 1 replaced, 1 unchanged, 1 already ended and left out\n",
      err: "",
    })
    expect(await world().json("list --temp")).toEqual([
      { list: "temp", ip: "198.51.100.7", expires: "2026-01-01T00:01:00.000Z", reason: "shorter" },
    ])
  })

  test("import --prune removes what the file does not name, up to a number", async () => {
    await some(world())
    const before = await world().state()
    const input = "203.0.113.9\n"
    for (const option of ["", "--dry-run"]) {
      const { code, out, err } = await world().run(
        `import - --format values --prune --max-removals 2 ${option}`,
        { input },
      )
      expect(code).toBe(2)
      // Who tries it sees what would go.
      expect(out).toBe(
        option === ""
          ? ""
          : "+ 203.0.113.9\n- 192.0.2.0/28\n- 203.0.113.7\n- 2001:db8::/64\n" +
              "1 added, 0 replaced, 0 unchanged, 3 removed (dry run: nothing was changed)\n",
      )
      expect(err).toBe(
        "ipgate: pruning would remove 3 permanent entries, and at most 2 may go: nothing was changed\n" +
          "  if they shall go, allow as many: --max-removals 3, or prune=3 of the API\n",
      )
      expect(await world().state()).toEqual(before)
    }
    expect(await world().run("import - --format values --prune --max-removals 3", { input })).toEqual({
      code: 0,
      out: "1 added, 0 replaced, 0 unchanged, 3 removed\n",
      err: "",
    })
    expect(await world().addresses()).toEqual(["203.0.113.9", "198.51.100.7"])
    expect((await world().run("check 203.0.113.7 -q")).code).toBe(1)
  })

  test.each([
    ["import - --format values --prune --ttl 1h", "203.0.113.7\n192.0.2.0/28\n"],
    ["import - --format values --prune --ttl 1h --dry-run", "203.0.113.7\n"],
    ["import - --format csv --prune --max-removals 100", "ip,ttl\n203.0.113.7,1h\n"],
  ])("%s is refused where it would empty the permanent list", async (command, input) => {
    await some(world())
    const before = await world().state()
    expect(await world().run(command, { input })).toEqual({
      code: 2,
      out: "",
      err:
        "ipgate: standard input names no permanent entry, and --prune would remove all that there are: nothing was changed\n" +
        "  an import never empties a list: leave --prune out, or remove entries with `ipgate deny`\n",
    })
    expect(await world().state()).toEqual(before)
  })

  test("an export of values says that ends are lost, unless somebody has asked for that", async () => {
    await some(world())
    const { code, out, err } = await world().run("export --format values")
    expect([code, out.split("\n").length - 1]).toEqual([0, 4])
    expect(err).toBe(
      "warning: values has no lifetimes, and 1 of these are temporary: an import lets them in for good unless it has --ttl; --perm leaves them out\n",
    )
    for (const command of [
      "export --format values --temp",
      "export --format values --perm",
      "export --format values --quiet",
      "export",
      "export --format json",
    ])
      expect(await world().run(command)).toMatchObject({ code: 0, err: "" })
  })

  test("import --dry-run says what it would do to each entry, and does nothing", async () => {
    await some(world())
    const before = await world().state()
    const input = "ip,ttl\n203.0.113.7,\n203.0.113.8,\n198.51.100.7,1h\n198.51.100.8,1h\n"
    expect(await world().run("import - --format csv --dry-run --prune", { input })).toEqual({
      code: 0,
      out:
        "= 203.0.113.7\n+ 203.0.113.8\n~ 198.51.100.7 until 2026-01-01T01:00:00Z\n+ 198.51.100.8 until 2026-01-01T01:00:00Z\n- 192.0.2.0/28\n- 2001:db8::/64\n" +
        "2 added, 1 replaced, 1 unchanged, 2 removed (dry run: nothing was changed)\n",
      err: "",
    })
    expect(await world().json("import - --format csv --dry-run --prune", { input })).toEqual({
      changed: true,
      dry_run: true,
      ...counts,
      added: 2,
      replaced: 1,
      unchanged: 1,
      removed: 2,
    })
    expect(await world().state()).toEqual(before)
  })

  test("import --dry-run is right about lists that do not fit into one piece", async () => {
    const input = Array.from({ length: 20_000 }, (_, i) => `2001:db8::${i.toString(16)}:1`).join("\n")
    await world().do("import - --format values", { input })
    expect(await world().json("import - --format values --dry-run --prune", { input })).toEqual({
      changed: false,
      dry_run: true,
      ...counts,
      unchanged: 20_000,
    })
  })

  test("import --quiet says nothing, and does it", async () => {
    expect(await world().run("import - --format values -q", { input: "203.0.113.7\n" })).toEqual({
      code: 0,
      out: "",
      err: "",
    })
    expect(await world().addresses()).toEqual(["203.0.113.7"])
  })

  const reasons = [
    "on call",
    `"quoted", and 'so'`,
    " padded ",
    "=1+1",
    "+1",
    "-1",
    "@x",
    "'=1+1",
    "#1",
    "a,b;c",
    "x;=1+1",
    "＝1+1",
    "'＝1+1",
    "当番",
  ]

  test.each(["csv", "json"])("what export writes as %s, import takes back", async (format) => {
    await some(world())
    for (const [i, reason] of reasons.entries()) {
      await world().do(["allow", `198.51.100.${i + 100}`, "--ttl", "1h", "-r", reason])
    }
    const lists = await world().json("list")
    const { out } = await world().do(`export --format ${format}`)
    const everything = (await world().addresses()).join(" ")
    await world().do(`deny ${everything}`)
    expect(await world().addresses()).toEqual([])
    expect(await world().json(`import - --format ${format}`, { input: out })).toEqual({
      changed: true,
      dry_run: false,
      ...counts,
      added: 4 + reasons.length,
    })
    expect(await world().json("list")).toEqual(lists)
  })

  test("no cell of a CSV begins as a formula, however it is divided", async () => {
    for (const [i, reason] of ["=1+1", "＝1+1", "x;=1+1"].entries()) {
      await world().do(["allow", `198.51.100.${i}`, "--ttl", "1h", "-r", reason])
    }
    const { out } = await world().do("export")
    const shown = out.split("\n").map((line) => line.split(",")[4])
    expect(shown.slice(1, 4)).toEqual(["'=1+1", "'＝1+1", '"x;=1+1"'])
  })

  test("an empty export is still a file, which import refuses as empty", async () => {
    expect(await world().run("export")).toEqual({ code: 0, out: "ip,list,ttl,expires,reason\n", err: "" })
    expect(await world().run("export --format json")).toEqual({ code: 0, out: "[]\n", err: "" })
    expect(await world().run("export --format values")).toEqual({ code: 0, out: "", err: "" })
    for (const [format, input] of [
      ["csv", "ip,list,ttl,expires,reason\n"],
      ["json", "[]\n"],
      ["values", "# nothing\n"],
    ] as const) {
      expect(await world().run(`import - --format ${format}`, { input })).toEqual({
        code: 2,
        out: "",
        err:
          "ipgate: standard input holds no entry, and nothing was changed\n" +
          "  an import never empties the lists: remove entries with `ipgate deny`\n",
      })
    }
  })
})

describe("export", () => {
  throughBothGatesOnce(
    (world) => {
      test("writes CSV", async () => {
        expect(await world().run("export")).toEqual({
          code: 0,
          out:
            "ip,list,ttl,expires,reason\n" +
            "192.0.2.0/28,perm,,,\n" +
            "203.0.113.7,perm,,,\n" +
            "2001:db8::/64,perm,,,\n" +
            "198.51.100.7,temp,28800,2026-01-01T08:00:00.000Z,on call\n",
          err: "",
        })
      })

      test.each(["export --format json", "export --json"])("%s writes JSON", async (command) => {
        const { code, out, err } = await world().run(command)
        expect({ code, err }).toEqual({ code: 0, err: "" })
        const permanent = { list: "perm", ttl: null, expires: null, reason: null }
        expect(JSON.parse(out)).toEqual([
          { ip: "192.0.2.0/28", ...permanent },
          { ip: "203.0.113.7", ...permanent },
          { ip: "2001:db8::/64", ...permanent },
          {
            ip: "198.51.100.7",
            list: "temp",
            ttl: 28800,
            expires: "2026-01-01T08:00:00.000Z",
            reason: "on call",
          },
        ])
      })

      test("writes one list, and bare addresses", async () => {
        expect((await world().run("export --format values")).out).toBe(
          "192.0.2.0/28\n203.0.113.7\n2001:db8::/64\n198.51.100.7\n",
        )
        expect((await world().run("export --format values --temp")).out).toBe("198.51.100.7\n")
        expect((await world().run("export --format values --perm")).out).toBe(
          "192.0.2.0/28\n203.0.113.7\n2001:db8::/64\n",
        )
      })
    },
    { prepare: some },
  )
})

describe("what is refused changes nothing", () => {
  throughBothGatesOnce(
    (world) => {
      test.each([
        [
          "values",
          "203.0.113.8\nnonsense\n10.0.0.5/8\n",
          ["2 bad lines", 'line 2: "nonsense"', 'line 3: "10.0.0.5/8" has host bits'],
        ],
        [
          "csv",
          "ip,ttl\n203.0.113.8,1h\n203.0.113.9,soon\n",
          ["1 bad line,", 'line 3: "soon" is no lifetime'],
        ],
        [
          "csv",
          "ip,expires\n203.0.113.8,2026-02-28T00:00:00Z\n203.0.113.9,2026-02-31T00:00:00Z\n",
          ["1 bad line,", 'line 3: "2026-02-31" is no day of the calendar'],
        ],
        [
          "json",
          '[{"ip":"203.0.113.8","expires":"2026-06-31T00:00:00Z"}]',
          ["1 bad entry,", 'entry 1: "2026-06-31" is no day of the calendar'],
        ],
        ["csv", "ip,list\n203.0.113.8,temp\n", ["line 2: a temporary entry needs a lifetime"]],
        ["csv", "ip,list,ttl\n203.0.113.8,perm,1h\n", ["line 2: a permanent entry has no lifetime"]],
        ["csv", "ip,list\n203.0.113.8,white\n", ["line 2: the list must be perm or temp"]],
        ["csv", "ip,reason\n203.0.113.8,x\n", ["line 2: a reason belongs to a temporary entry"]],
        ["csv", `ip,ttl,reason\n203.0.113.8,1h,${"x".repeat(501)}\n`, ["line 2: reason is longer than 500"]],
        ["csv", "address\n203.0.113.8\n", ["line 1: the first line must name the columns"]],
        ["csv", 'ip\n203.0.113.8\n"203.0.113.9\n', ["line 3: a quote is never closed"]],
        ["csv", "ip\n203.0.113.8,1h\n", ["line 2: there are more fields than columns"]],
        ["values", "x\n".repeat(1_003), ["1003 bad lines", 'line 1: "x"', 'line 100: "x"', 'line 1003: "x"']],
        ["csv", `ip,ttl\n203.0.113.8,${"9".repeat(70)}\n`, [`line 2: "${"9".repeat(64)}…" is no lifetime`]],
        ["csv", `ip,list\n203.0.113.8,${"x".repeat(70)}\n`, [`perm or temp, not "${"x".repeat(64)}…"`]],
        ["json", "[", ["not valid JSON"]],
        ["json", "{}", ["must be an array"]],
        ["json", '["203.0.113.8", 7, null]', ["2 bad entries", "entry 2:", "entry 3:"]],
        [
          "values",
          "203.0.113.8\n0.0.0.0/0\n2001::/31\n10.0.0.0/8\n",
          [
            "2 bad lines",
            "line 2: 0.0.0.0/0 is wider than /8",
            "line 3: 2001::/31 is wider than /32",
            "  add --force if you mean",
          ],
        ],
        ["csv", "ip,ttl\n0.0.0.0/1,1h\n", ["1 bad line", "line 2: 0.0.0.0/1 is wider than /8"]],
        ["json", '["::/0"]', ["1 bad entry", "entry 1: ::/0 is wider than /32"]],
        ["csv", "ip;ttl\n203.0.113.8;1h\n", ['"ip;ttl" is none']],
        ["csv", "ttl\n1h\n", ["there is no ip"]],
        ["values", "203.0.113.8\0\n", ["is not UTF-8 text"]],
      ] as const)("%s %j", async (format, input, messages) => {
        const before = await world().state()
        for (const option of ["", "--dry-run"]) {
          const { code, out, err } = await world().run(`import - --format ${format} ${option}`, { input })
          expect({ code, out }).toEqual({ code: 2, out: "" })
          for (const message of messages) expect(err).toContain(message)
        }
        expect(await world().state()).toEqual(before)
      })

      test.each([
        ["import -", "the format of standard input is not known"],
        ["import office.doc", "the format of office.doc is not known by its name"],
        ["import - --format xml", "Allowed choices are values, csv, json"],
        ["import - --format values --ttl 0", "a lifetime is 1 s to ten years"],
        ["import - --format values --ttl soon", '"soon" is no duration'],
        ["import - --format values --prune --max-removals x", "is no number"],
        ["import - --format values --max-removals 5", "--max-removals needs --prune"],
        ["import /proc/no/such/file.txt", "/proc/no/such/file.txt does not exist or cannot be read"],
        ["import", "missing required argument 'file'"],
        ["export --temp --perm", "--temp and --perm exclude each other"],
        ["export --format xml", "Allowed choices are values, csv, json"],
      ])("%s", async (command, message) => {
        const { code, out, err } = await world().run(command, { input: "203.0.113.8\n" })
        expect({ code, out }).toEqual({ code: 2, out: "" })
        expect(err).toContain(message)
      })
    },
    { prepare: some },
  )
})

describe("a client whose clock is wrong", () => {
  const HOUR = 3_600_000
  const NOW = Date.UTC(2026, 0, 1)

  test.each([-2 * HOUR, 2 * HOUR])("by %d ms lets nobody in for longer or shorter", async (wrong) => {
    const world = await World.open("on-line")
    const clock = new FakeClock(NOW + wrong)
    const input = "ip,ttl,expires\n203.0.113.7,1d,\n203.0.113.8,,\n203.0.113.9,,2026-01-01T03:00:00Z\n"
    const counts = { out: "3 added, 0 replaced, 0 unchanged\n", code: 0, err: "" }
    expect(await world.run("import - --format csv --ttl 1h", { input, clock })).toEqual(counts)
    expect(await world.json("list")).toMatchObject([
      { ip: "203.0.113.8", expires: "2026-01-01T01:00:00.000Z" },
      { ip: "203.0.113.9", expires: "2026-01-01T03:00:00.000Z" },
      { ip: "203.0.113.7", expires: "2026-01-02T00:00:00.000Z" },
    ])
    const rows = (await world.json("logs --since 1970-01-01")) as Array<{ ip: string; ttl_seconds: number }>
    expect(new Map(rows.map(({ ip, ttl_seconds }) => [ip, ttl_seconds]))).toEqual(
      new Map([
        ["203.0.113.7", 86400],
        ["203.0.113.8", 3600],
        ["203.0.113.9", 10800],
      ]),
    )
    await world.close()
  })

  test("learns of what only the server finds by the lines of the file", async () => {
    const world = await World.open("on-line")
    const clock = new FakeClock(NOW + 2 * HOUR)
    const end = "2035-12-30T01:00:00Z"
    for (const [format, input, bad] of [
      [
        "csv",
        `# a\nip,expires\n203.0.113.7,\n\n203.0.113.8,${end}\n# b\n203.0.113.9,${end}\n`,
        ["line 5", "line 7"],
      ],
      ["json", `["203.0.113.7", {"ip": "203.0.113.8", "expires": "${end}"}]`, ["entry 2"]],
    ] as const) {
      const fault = "the lifetime must be 1 to 315360000 seconds, or a time like 2026-11-21T18:00:00Z"
      expect(await world.run(`import - --format ${format}`, { input, clock })).toEqual({
        code: 2,
        out: "",
        err: `ipgate: standard input was refused, and nothing was changed\n${bad.map((at) => `${at}: ${fault}\n`).join("")}`,
      })
    }
    expect(await world.addresses()).toEqual([])
    await world.close()
  })

  test("exports what import takes back, and compares with it, also what ends in ten years", async () => {
    const world = await World.open("on-line")
    await world.do("allow 203.0.113.7 --ttl 315360000")
    const behind = { clock: new FakeClock(NOW - 2 * HOUR) }
    const { out } = await world.do("export", behind)
    expect(out).toEndWith("\n203.0.113.7,temp,315360000,2035-12-30T00:00:00.000Z,\n")
    expect((await world.do("import - --format csv", { input: out })).out).toStartWith("0 added, 1 replaced")
    const input = "203.0.113.7\n"
    const dryRun = "import - --format values --ttl 1h --dry-run"
    expect((await world.do(dryRun, { ...behind, input })).out).toStartWith(
      "~ 203.0.113.7 until 2025-12-31T23:00:00Z\n",
    )
    await world.close()
  })
})

test("an import that is too large for the server is refused before it is sent, and by a dry run", async () => {
  // Reasons of as many bytes as one can have: 2 kB a line.
  const reason = "🙂".repeat(500)
  const rows = Array.from({ length: 34_000 }, (_, i) => `10.${i >> 8}.${i & 255}.1,60,${reason}\n`)
  const world = await World.open("on-line")
  expect(
    await world.run("import - --format csv --dry-run", { input: `ip,ttl,reason\n${rows.join("")}` }),
  ).toEqual({
    code: 2,
    out: "",
    err:
      "ipgate: the entries of standard input are 65.4 MiB for the server, which takes 64 MiB at once: nothing was changed\n" +
      "  split the file, or stop the server and add --offline\n",
  })
  await world.close()
}, 60_000)

test("what fits into one import, and what to do with the rest", () => {
  expect(() => mustFit(LARGEST_IMPORT, "it", { isPruning: false })).not.toThrow()
  expect(() => mustFit(LARGEST_IMPORT + 1, "it", { isPruning: false })).toThrow(
    "the entries of it are 64.1 MiB for the server",
  )
  expect(() => mustFit(LARGEST_IMPORT + 1, "it", { isPruning: true })).toThrow(
    expect.objectContaining({ hint: expect.stringContaining("would remove the other parts") }),
  )
})

test("a file that is larger than any import is not read to its end", async () => {
  const world = await World.open("off-line")
  const readBytes = async (_: string, most: number) =>
    most <= 256 * 1024 * 1024 ? ("too large" as const) : null
  expect(await world.run("import /dev/zero --format values", { readBytes })).toEqual({
    code: 2,
    out: "",
    err: "ipgate: /dev/zero is larger than 256 MiB, and nothing was changed\n  split it into several files\n",
  })
  await world.close()
})

// What comes over a network comes in pieces of any size.
test.each([1, 7, 1000])("a comparison is right whatever the pieces of %d bytes cut through", async (size) => {
  const encoder = new TextEncoder()
  const held = encoder.encode("192.0.2.0/28\n203.0.113.7\n198.51.100.7\t2026-01-01T08:00:00.000Z\t当番\n")
  const gate = {
    async *export() {
      for (let start = 0; start < held.length; start += size) yield held.slice(start, start + size)
    },
  }
  const wanted = encoder.encode("203.0.113.7\n203.0.113.8\n198.51.100.7\t60\n")
  const { counts: found, lines } = await compare(gate as unknown as Gate, wanted, Date.UTC(2026, 0, 1), true)
  expect(lines).toEqual([
    "= 203.0.113.7",
    "+ 203.0.113.8",
    "~ 198.51.100.7 until 2026-01-01T00:01:00Z",
    "- 192.0.2.0/28",
  ])
  expect(found).toEqual({ ...counts, added: 1, replaced: 1, unchanged: 1, removed: 1 })
})
