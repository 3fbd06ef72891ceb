// `ipgate status`: well, degraded or out of reach, and waiting for a server that is well.

import { describe, expect, test } from "bun:test"
import { CliMachine, throughBothGates } from "../support/cli.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { runServer } from "../support/running-server.ts"

throughBothGates((world) => {
  test("says that all is well, and how much is on the lists", async () => {
    await world().do("allow 203.0.113.7 192.0.2.0/28")
    await world().do("allow 203.0.113.8 --ttl 1h")
    expect(await world().run("status")).toEqual({
      code: 0,
      out: "ipgate   ok, up 0s\nlists    2 permanent, 1 temporary\ndb       ok\n",
      err: "",
    })
    expect(await world().run("status --json")).toEqual({
      code: 0,
      out: '{"status":"ok","uptime":"0s","perm_whitelist_count":2,"temp_whitelist_count":1,"db_ok":true}\n',
      err: "",
    })
    expect(await world().run("status -q")).toEqual({ code: 0, out: "", err: "" })
  })

  test("with --wait does not wait for what is well already", async () => {
    const sleep = () => Promise.reject(new Error("slept"))
    expect(await world().run("status --wait 10s -q", { sleep })).toEqual({ code: 0, out: "", err: "" })
  })

  test.each(["soon", "", "-1s", "1h30x"])("--wait %j is a usage error", async (text) => {
    const { code, out, err } = await world().run(["status", "--wait", text])
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toStartWith(`ipgate: "${text}" is no duration\n  use 90s`)
  })
})

test("tells how long the server has been up, by its clock", async () => {
  const clock = new FakeClock()
  const server = await runServer({ clock })
  const machine = new CliMachine({ environment: { IPGATE_SERVER: server.url } })
  clock.advance(90_000)
  clock.stepWall(3_600_000)
  expect((await machine.run("status")).out).toStartWith("ipgate   ok, up 1m30s\n")
  await server.stop()
  machine.remove()
})

test("needs no token", async () => {
  const server = await runServer()
  const machine = new CliMachine({ environment: { IPGATE_SERVER: server.url } })
  expect(await machine.run("list")).toMatchObject({ code: 4, out: "" })
  expect(await machine.run("status --quiet")).toEqual({ code: 0, out: "", err: "" })
  await server.stop()
  machine.remove()
})

describe("a server that is not well", () => {
  /** Answers /status only; after so many degraded answers it is well. */
  async function withAnswers(
    answers: ReadonlyArray<() => Response>,
    use: (machine: CliMachine, asked: () => number) => Promise<void>,
  ): Promise<void> {
    let asked = 0
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => (answers[asked++] ?? (answers.at(-1) as () => Response))(),
    })
    const machine = new CliMachine({ environment: { IPGATE_SERVER: `127.0.0.1:${server.port}` } })
    try {
      await use(machine, () => asked)
    } finally {
      machine.remove()
      await server.stop(true)
    }
  }

  const document = (status: string) =>
    Response.json({
      status,
      uptime: "3d4h12m5s",
      perm_whitelist_count: 12,
      temp_whitelist_count: 3,
      db_ok: status === "ok",
    })
  const degraded = () => document("degraded")
  const well = () => document("ok")

  test("is exit 1, and the answer is still data", () =>
    withAnswers([degraded], async (machine) => {
      expect(await machine.run("status")).toEqual({
        code: 1,
        out:
          "ipgate   degraded, up 3d4h12m5s\n" +
          "lists    12 permanent, 3 temporary\n" +
          "db       does not work: changes fail, decisions go on\n",
        err: "",
      })
      const { code, out, err } = await machine.run("status --json")
      expect({ code, err }).toEqual({ code: 1, err: "" })
      expect(JSON.parse(out)).toMatchObject({ status: "degraded", db_ok: false })
    }))

  test("is waited for with --wait", () =>
    withAnswers([degraded, degraded, well], async (machine, asked) => {
      const { code, out } = await machine.run("status --wait 10s")
      expect(code).toBe(0)
      expect(out).toStartWith("ipgate   ok, up 3d4h12m5s\n")
      expect(asked()).toBe(3)
    }))

  test("is exit 1 if it is still not well in the end, having been asked once more at the end", () =>
    withAnswers([degraded], async (machine, asked) => {
      const before = machine.clock.mono()
      expect((await machine.run("status --wait 1s")).code).toBe(1)
      expect(machine.clock.mono() - before).toBe(1_000)
      expect(asked()).toBe(11)
    }))

  test.each([
    ["another program", () => new Response("<html>", { headers: { "Content-Type": "text/html" } })],
    ["another version", () => Response.json({ status: "ok" })],
    ["an error", () => new Response("no such page", { status: 404 })],
  ])("%s in its place is exit 1 at once", async (_, answer) =>
    withAnswers([answer], async (machine, asked) => {
      const { code, out, err } = await machine.run("status --wait 10s")
      expect({ code, out }).toEqual({ code: 1, out: "" })
      expect(err).toStartWith("ipgate: ")
      expect(asked()).toBe(1)
    }),
  )
})

describe("a server that does not answer", () => {
  test("is waited for until it does", async () => {
    const machine = new CliMachine()
    const socket = machine.path("ipgate.sock")
    let server: { stop(): Promise<void> } | undefined
    let sleeps = 0
    const { code, err } = await machine.run(`status --wait 10s --quiet --server unix:${socket}`, {
      sleep: async (milliseconds) => {
        machine.clock.advance(milliseconds)
        if (++sleeps === 3) server = await runServer({ listen: [{ kind: "unix", path: socket }] })
      },
    })
    expect({ code, err, sleeps }).toEqual({ code: 0, err: "", sleeps: 3 })
    await server?.stop()
    machine.remove()
  })

  test("is exit 5 when the time is over", async () => {
    const machine = new CliMachine()
    const before = machine.clock.mono()
    const { code, out, err } = await machine.run(`status --wait 2s --server unix:${machine.path("no.sock")}`)
    expect({ code, out }).toEqual({ code: 5, out: "" })
    expect(err).toStartWith("ipgate: no ipgate server answers at unix:")
    expect(machine.clock.mono() - before).toBe(2_000)
    machine.remove()
  })

  test("is exit 5 at once without --wait", async () => {
    const machine = new CliMachine()
    const sleep = () => Promise.reject(new Error("slept"))
    expect(await machine.run(`status --server unix:${machine.path("no.sock")}`, { sleep })).toMatchObject({
      code: 5,
      out: "",
    })
    machine.remove()
  })
})
