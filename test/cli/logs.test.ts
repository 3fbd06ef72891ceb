// `ipgate logs`: filters, the newest so many, since when, and what is added while it looks on.

import { beforeAll, describe, expect, test } from "bun:test"
import { CliMachine, throughBothGatesOnce, World } from "../support/cli.ts"
import { type RunningServer, runServer, TOKEN } from "../support/running-server.ts"
import { copyDatabase, editedCopy, temporaryPaths } from "../support/temp-store.ts"

type Row = { readonly timestamp: string; readonly action: string; readonly ip: string }

const path = temporaryPaths()

/** A change or two an hour, the last at 04:00. */
async function fiveHours(world: World): Promise<void> {
  const steps = [
    "allow 203.0.113.7",
    "allow 203.0.113.8 --ttl 30m",
    // Any change of an address that has ended records the end first, so this does not wait for the sweeper of a server.
    "deny 203.0.113.8 203.0.113.7",
    "allow 2001:db8::1 192.0.2.0/28",
  ]
  for (const [i, step] of steps.entries()) {
    if (i > 0) world.clock.advance(3_600_000)
    await world.do(step)
  }
  world.clock.advance(3_600_000)
  await world.do("allow 2001:db8::1 --ttl 1w -r office")
}

const rows = async (world: World, command: string) =>
  ((await world.json(command)) as Row[]).map(
    ({ timestamp, action, ip }) => `${timestamp.slice(11, 16)} ${action} ${ip}`,
  )

const ADDED = "04:00 add_temp 2001:db8::1"
const NETWORK = "03:00 add_perm 192.0.2.0/28"
const SIX = "03:00 add_perm 2001:db8::1"
const DENIED = "02:00 delete_perm 203.0.113.7"
const EXPIRED = "01:30 expire_temp 203.0.113.8"
const TEMPORARY = "01:00 add_temp 203.0.113.8"
const FIRST = "00:00 add_perm 203.0.113.7"

throughBothGatesOnce(
  (world) => {
    test.each([
      ["logs", [ADDED, NETWORK, SIX, DENIED, EXPIRED, TEMPORARY, FIRST]],
      ["logs --action add_perm", [NETWORK, SIX, FIRST]],
      ["logs --action add_temp", [ADDED, TEMPORARY]],
      ["logs --action delete_perm", [DENIED]],
      ["logs --action delete_temp", []],
      ["logs --action expire_temp", [EXPIRED]],
      ["logs --ip 203.0.113.7", [DENIED, FIRST]],
      ["logs --ip ::ffff:203.0.113.7", [DENIED, FIRST]],
      ["logs --ip 203.0.113.7/32", [DENIED, FIRST]],
      ["logs --ip 2001:DB8:0::1", [ADDED, SIX]],
      ["logs --ip ::ffff:192.0.2.0/124", [NETWORK]],
      ["logs --ip 192.0.2.1", []],
      ["logs --ip 2001:db8::1 --action add_perm", [SIX]],
      ["logs -n 2", [ADDED, NETWORK]],
      ["logs --limit 1 --action add_perm", [NETWORK]],
      ["logs -n 999999999", [ADDED, NETWORK, SIX, DENIED, EXPIRED, TEMPORARY, FIRST]],
      ["logs --since 1h", [ADDED, NETWORK, SIX]],
      ["logs --since 3599s", [ADDED]],
      ["logs --since 0", [ADDED]],
      ["logs --since 2026-01-01T03:00:00Z", [ADDED, NETWORK, SIX]],
      ["logs --since 2026-01-01T03:00:00.001Z", [ADDED]],
      ["logs --since 2026-01-01T05:00:00+02:00", [ADDED, NETWORK, SIX]],
      ["logs --since 02:00", [ADDED, NETWORK, SIX, DENIED]],
      ["logs --since 2026-01-02", []],
      ["logs --since 1h -n 2", [ADDED, NETWORK]],
      ["logs --since 3h --action add_perm", [NETWORK, SIX]],
    ])("%s", async (command, expected) => {
      expect(await rows(world(), command)).toEqual(expected)
    })

    test("programs get the members of the API", async () => {
      expect(await world().json("logs -n 1")).toEqual([
        {
          timestamp: "2026-01-01T04:00:00.000Z",
          action: "add_temp",
          ip: "2001:db8::1",
          ttl_seconds: 604800,
          reason: "office",
          api_client_ip: world().client,
        },
      ])
    })

    test("people get columns", async () => {
      const { code, out, err } = await world().run("logs -n 1")
      expect({ code, err }).toEqual({ code: 0, err: "" })
      expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
        ["TIME", "ACTION", "IP", "TTL", "CLIENT", "REASON"],
        ["2026-01-01T04:00:00Z", "add_temp", "2001:db8::1", "7d", world().client ?? "-", "office"],
        [""],
      ])
    })

    test.each([
      ["logs -n 0", '"0" is no number of rows'],
      ["logs -n -1", '"-1" is no number of rows'],
      ["logs -n 1.5", '"1.5" is no number of rows'],
      ["logs -n ten", '"ten" is no number of rows'],
      ["logs -n 1000000000", '"1000000000" is no number of rows'],
      ["logs --since yesterday", '"yesterday" is no time'],
      ["logs --since 5x", "or 4h, for the last four hours"],
      ["logs --since 2026-02-31", '"2026-02-31" is no time'],
      ["logs --ip 10.0.0.5/8", '"10.0.0.5/8" has host bits set'],
      ["logs --ip nonsense", '"nonsense" is not an IP address or CIDR'],
      ["logs -f --since 1h", "--follow and --since exclude each other"],
      ["logs --action add", "Allowed choices are add_temp, delete_temp, add_perm, delete_perm, expire_temp"],
    ])("%s is a usage error", async (command, message) => {
      const { code, out, err } = await world().run(command)
      expect({ code, out }).toEqual({ code: 2, out: "" })
      expect(err).toContain(message)
    })
  },
  { prepare: fiveHours },
)

/** The path of a database whose log holds these rows, written as `rows` shows them, of a day in 2025. */
async function logOf(texts: readonly string[]): Promise<string> {
  const machine = new CliMachine()
  const empty = path()
  await machine.run(`list --offline --db ${empty}`)
  machine.remove()
  const values = texts.map((text) => {
    const [time, action, ip] = text.split(" ")
    return `(${Date.parse(`2025-01-01T${time}Z`)}, '${action}', '${ip}')`
  })
  return editedCopy(empty, path, [`INSERT INTO audit (at, action, ip) VALUES ${values.join(", ")}`])
}

describe("an end that was recorded late", () => {
  const options: { database?: string } = {}
  const [newest, late, before, first] = [
    "02:00 add_perm 203.0.113.9",
    "00:30 expire_temp 203.0.113.8",
    "01:00 add_perm 203.0.113.7",
    "00:00 add_temp 203.0.113.8",
  ]

  beforeAll(async () => {
    options.database = await logOf([first, before, late, newest])
  })

  throughBothGatesOnce((world) => {
    test.each([
      ["logs", [newest, late, before, first]],
      ["logs --since 2025-01-01T01:00:00Z", [newest, before]],
      ["logs --since 2025-01-01T00:30:00Z", [newest, late, before]],
      ["logs --since 2025-01-01T00:30:00Z -n 2", [newest, late]],
      ["logs --since 2025-01-01T00:30:00Z --action expire_temp", [late]],
      ["logs --since 2025-01-01T00:45:00Z --action expire_temp", []],
      ["logs --since 2025-01-01T00:30:00Z --ip 203.0.113.8", [late]],
    ] as const)("hides nothing from %s", async (command, expected) => {
      expect(await rows(world(), command)).toEqual([...expected])
    })
  }, options)
})

test("an open log off-line would keep the server from its database", async () => {
  const machine = new CliMachine()
  const { code, out, err } = await machine.run(`logs -f --offline --db ${path()}`)
  machine.remove()
  expect({ code, out }).toEqual({ code: 2, out: "" })
  expect(err).toContain("leave out --offline, or leave out --follow")
})

describe("a log of more than a page", () => {
  const ROWS = 2_345
  const options: { database?: string } = {}

  beforeAll(async () => {
    const times = Array.from({ length: ROWS }, (_, i) => new Date(i * 1000).toISOString().slice(11, 19))
    options.database = await logOf(times.map((time, i) => `${time} add_perm 10.0.${i >> 8}.${i & 255}`))
  })

  throughBothGatesOnce((world) => {
    const newest = (count: number) =>
      Array.from({ length: count }, (_, i) => ROWS - 1 - i).map((i) => `10.0.${i >> 8}.${i & 255}`)

    test.each([
      ["logs", 50],
      ["logs -n 1", 1],
      ["logs -n 1000", 1_000],
      ["logs -n 1001", 1_001],
      ["logs -n 5000", ROWS],
      ["logs --since 2025-01-01", ROWS],
      ["logs --since 2025-01-01T00:00:01Z", ROWS - 1],
      ["logs --since 2025-01-01 -n 1500", 1_500],
    ])("%s shows %d rows", async (command, count) => {
      expect(await world().addresses(command)).toEqual(newest(count))
    })
  }, options)
})

describe("--follow", () => {
  /**
   * Runs the command until it has shown `earlier` lines, makes the changes, and ends it with a signal when it has shown
   * `total` lines. The last change should be one that is shown: what comes after it would come too late to be seen.
   */
  async function follow(
    world: World,
    command: string,
    { earlier, changes, total }: { earlier: number; changes: readonly string[]; total: number },
  ) {
    let text = ""
    const lines = () => text.split("\n").slice(0, -1)
    const signal = Promise.withResolvers<(name: "SIGINT") => void>()
    const run = world.run(command, {
      write: (more) => {
        text += more
      },
      untilSignal: (handle) => signal.resolve(handle),
    })
    await until(() => lines().length >= earlier)
    for (const change of changes) await world.do(change)
    await until(() => lines().length >= total)
    ;(await signal.promise)("SIGINT")
    const { code, err } = await run
    expect({ code, err }).toEqual({ code: 0, err: "" })
    return lines().map((line) =>
      line.startsWith("{") ? (JSON.parse(line) as Row).ip : (line.split("  ")[2] ?? line),
    )
  }

  async function withServer(use: (world: World) => Promise<void>): Promise<void> {
    const world = await World.open("on-line")
    try {
      await use(world)
    } finally {
      await world.close()
    }
  }

  test("begins with the newest rows, the oldest of them first, and ends with exit 0 on a signal", () =>
    withServer(async (world) => {
      await fiveHours(world)
      expect(await follow(world, "logs -f -n 3", { earlier: 3, changes: [], total: 3 })).toEqual([
        "2001:db8::1",
        "192.0.2.0/28",
        "2001:db8::1",
      ])
    }))

  test("shows the columns of the table without its titles, or one JSON object a line", () =>
    withServer(async (world) => {
      await fiveHours(world)
      const client = world.client
      const shown = async (command: string) => {
        let text = ""
        await world.run(command, {
          write: (more) => {
            text += more
          },
          untilSignal: (handle) =>
            void until(() => text.split("\n").length > 2).then(() => handle("SIGTERM")),
        })
        return text.split("\n")
      }
      expect(await shown("logs -f -n 2")).toEqual([
        `2026-01-01T03:00:00Z  add_perm  192.0.2.0/28  -  ${client ?? "-"}  -`,
        `2026-01-01T04:00:00Z  add_temp  2001:db8::1  7d  ${client ?? "-"}  office`,
        "",
      ])
      const [first = "", second = ""] = await shown("logs -f -n 2 --json")
      expect([JSON.parse(second), JSON.parse(first)]).toEqual((await world.json("logs -n 2")) as unknown[])
    }))

  test("shows each change once, in the order in which it happened", () =>
    withServer(async (world) => {
      await world.do("allow 10.0.0.1")
      const changes = ["allow 10.0.0.2 10.0.0.3", "deny 10.0.0.1 10.0.0.2", "allow 10.0.0.4 --ttl 1h"]
      expect(await follow(world, "logs -f", { earlier: 1, changes, total: 6 })).toEqual([
        "10.0.0.1",
        "10.0.0.2",
        "10.0.0.3",
        "10.0.0.1",
        "10.0.0.2",
        "10.0.0.4",
      ])
    }))

  test("shows changes that are alike, too", () =>
    withServer(async (world) => {
      const changes = ["allow 10.0.0.1 --ttl 1h", "allow 10.0.0.1 --ttl 1h", "allow 10.0.0.1 --ttl 1h"]
      expect(await follow(world, "logs -f", { earlier: 0, changes, total: 3 })).toEqual([
        "10.0.0.1",
        "10.0.0.1",
        "10.0.0.1",
      ])
    }))

  test("begins after the last row that -n asks for", () =>
    withServer(async (world) => {
      await world.do("allow 10.0.0.1 10.0.0.2")
      const run = follow(world, "logs -f -n 1 --json", { earlier: 1, changes: ["allow 10.0.0.3"], total: 2 })
      expect(await run).toEqual(["10.0.0.2", "10.0.0.3"])
    }))

  test("keeps to its filters", () =>
    withServer(async (world) => {
      await world.do("allow 10.0.0.1 10.0.0.2")
      await world.do("deny 10.0.0.1")
      const changes = ["allow 10.0.0.3", "deny 10.0.0.2"]
      expect(await follow(world, "logs -f --action delete_perm", { earlier: 1, changes, total: 2 })).toEqual([
        "10.0.0.1",
        "10.0.0.2",
      ])
      const more = ["allow 10.0.0.9", "allow ::ffff:10.0.0.1"]
      expect(
        await follow(world, "logs -f --ip 10.0.0.1/32", { earlier: 2, changes: more, total: 3 }),
      ).toEqual(["10.0.0.1", "10.0.0.1", "10.0.0.1"])
    }))

  test.each([
    ["a log that was empty", "logs -f", [], ["10.0.0.1", "10.0.0.2"]],
    [
      "a log in which nothing fitted the filter",
      "logs -f --action delete_perm",
      ["allow 10.0.0.2"],
      ["10.0.0.2"],
    ],
  ] as const)("shows the first row of %s", (_, command, before, shown) =>
    withServer(async (world) => {
      for (const change of before) await world.do(change)
      const changes = ["allow 10.0.0.1", before.length === 0 ? "allow 10.0.0.2" : "deny 10.0.0.2"]
      expect(await follow(world, command, { earlier: 0, changes, total: shown.length })).toEqual([...shown])
    }),
  )

  test("goes on through a restart of the server, misses nothing, and says that it waited", async () => {
    const machine = new CliMachine({ environment: { IPGATE_TOKEN: TOKEN } })
    const socket = machine.path("ipgate.sock")
    const listen = [{ kind: "unix", path: socket }] as const
    machine.environment = { ...machine.environment, IPGATE_SERVER: `unix:${socket}` }
    // A directory that outlives the server, for the one that follows it.
    const first = await runServer({ listen, directory: machine.home })
    const stopped = Promise.withResolvers<void>()
    await machine.run("allow 10.0.0.1")
    let second: RunningServer | undefined
    let text = ""
    let end = () => {}
    const run = machine.run("logs -f", {
      write: (more) => {
        text += more
      },
      untilSignal: (handle) => {
        end = () => handle("SIGINT")
      },
      sleep: async () => {
        await stopped.promise
        if (second !== undefined) return
        // The driver keeps the lock of a file until its process ends, so the second server gets a copy.
        const databasePath = copyDatabase(first.databasePath, machine.path("second.db"))
        second = await runServer({ listen, databasePath })
        await machine.run("allow 10.0.0.2")
      },
    })
    await until(() => text.includes("10.0.0.1"))
    await first.stop()
    stopped.resolve()
    await until(() => text.includes("10.0.0.2"))
    await machine.run("allow 10.0.0.3")
    await until(() => text.includes("10.0.0.3"))
    end()
    const { code, err } = await run
    await second?.stop()
    machine.remove()
    expect({ code, err }).toEqual({
      code: 0,
      err: "warning: the server does not answer; waiting for it\nwarning: the server answers again\n",
    })
    expect(text.split("\n").map((line) => line.split("  ")[2])).toEqual([
      "10.0.0.1",
      "10.0.0.2",
      "10.0.0.3",
      undefined,
    ])
  })
})

/** Waits for what comes over the network; whoever waits too long goes on, and finds out by what is missing. */
async function until(done: () => boolean): Promise<void> {
  const end = performance.now() + 3_000
  while (!done() && performance.now() < end) await Bun.sleep(1)
}
