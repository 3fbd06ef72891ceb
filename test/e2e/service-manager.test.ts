// The built binary under a service manager: what it says and when, and that silence means what it should.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { fault } from "../faults/fault.ts"
import { Workplace } from "../support/binary.ts"
import { FrozenThread, threadsOf } from "../support/frozen-thread.ts"
import { NotifySocket } from "../support/notify-socket.ts"

setDefaultTimeout(60_000)

let place: Workplace
beforeEach(async () => {
  place = await Workplace.make()
})
afterEach(() => place[Symbol.asyncDispose]())

/** Long enough for many signs of life in between, and no sign of life is late by so much. */
const WATCHDOG = { WATCHDOG_USEC: "600000" }
const SIGN = "WATCHDOG=1"
const isAlive = (message: string) => message.startsWith(SIGN)

describe(
  fault(
    "P-08",
    "a service manager of our own hears a server start, reload, fail and stop",
    "ready when it answers",
  ),
  () => {
    test.each([
      ["a path", (path: string) => path],
      ["an abstract name", () => `@ipgate-test-${crypto.randomUUID()}`],
    ])("over %s", async (_, nameOf) => {
      await using manager = await NotifySocket.open(nameOf(place.path("notify")))
      const server = await place.serve([], { env: { NOTIFY_SOCKET: manager.name } })
      await manager.until(({ length }) => length >= 1)
      expect(manager.messages).toEqual(["READY=1 | STATUS=0 permanent, 0 temporary"])

      await server.ipgate("allow", "192.0.2.0/28")
      const before = microsecondsSinceBoot()
      server.signal("SIGHUP")
      await manager.until(({ length }) => length >= 3)
      const [reloading = "", ready] = manager.messages.slice(1)
      const [, at = ""] = /^RELOADING=1 \| MONOTONIC_USEC=(\d+) \| STATUS=reloading$/.exec(reloading) ?? []
      expect(Number(at)).toBeGreaterThanOrEqual(before)
      expect(Number(at)).toBeLessThanOrEqual(microsecondsSinceBoot() + 2e6)
      expect(ready).toBe("READY=1 | STATUS=1 permanent, 0 temporary")

      await place.write("ipgate.toml", "nonsense")
      server.signal("SIGHUP")
      await manager.until(({ length }) => length >= 5)
      expect(manager.messages[4]).toStartWith("READY=1 | STATUS=the last reload failed: ")

      expect(await server.stop()).toBe(0)
      await manager.until(({ length }) => length >= 6)
      expect(manager.messages.slice(5)).toEqual(["STOPPING=1 | STATUS=stopping"])
    })

    test("it says that it is ready when it answers, and not before", async () => {
      await using manager = await NotifySocket.open(place.path("notify"))
      const before = await place.serve()
      await before.ipgate("allow", "203.0.113.7")
      await before.stop()
      const socket = place.path("gate.sock")
      const starting = place.serve(["--listen", `unix:${socket}`], { env: { NOTIFY_SOCKET: manager.name } })
      await manager.until(({ length }) => length >= 1)
      const answer = await fetch("http://localhost/auth", {
        unix: socket,
        headers: { "X-Real-IP": "203.0.113.7" },
      })
      expect(answer.status).toBe(204)
      await (await starting).stop()
    })

    test("a start that fails is never ready", async () => {
      await using manager = await NotifySocket.open(place.path("notify"))
      const env = { NOTIFY_SOCKET: manager.name }
      expect((await place.ipgate(["serve", "--listen", "nowhere"], { env })).code).toBe(78)
      expect((await place.ipgate(["serve", "--listen", "unix:/proc/none"], { env })).code).toBe(1)
      // Whoever comes next is heard, so nothing before it was lost on its way.
      await (await place.serve([], { env })).stop()
      await manager.until((messages) => messages.some((message) => message.startsWith("READY=1")))
      expect(manager.messages[0]).toStartWith("READY=1")
    })

    test.each<readonly [string, Readonly<Record<string, string>>]>([
      ["nobody listens there", { NOTIFY_SOCKET: "/proc/no/such" }],
      ["it is empty", { NOTIFY_SOCKET: "" }],
      ["the library is missing", { NOTIFY_SOCKET: "/run/x", LD_LIBRARY_PATH: "." }],
    ])("NOTIFY_SOCKET is set, and %s: it serves all the same", async (_, env) => {
      // A file of that name which is no library stands before the real one.
      if (env.LD_LIBRARY_PATH !== undefined) await place.write("libsystemd.so.0", "no library")
      const server = await place.serve([], { env })
      expect(await server.decision("203.0.113.7")).toBe(401)
      expect(server.log().includes("libsystemd.so.0 is missing")).toBe(env.LD_LIBRARY_PATH !== undefined)
      expect(await server.stop()).toBe(0)
    })
  },
)

describe(
  fault(
    "P-08",
    "the loop of a server stands still while its other threads run, and then its database while the loop runs",
    "signs of life from the loop that decides, and from nothing else",
  ),
  () => {
    test("come while the loop runs, stop while it alone stands still, and come again", async () => {
      await using manager = await NotifySocket.open(place.path("notify"))
      const server = await place.serve([], { env: { NOTIFY_SOCKET: manager.name, ...WATCHDOG } })
      const alive = () => manager.count(SIGN)
      await manager.until(() => alive() >= 3)
      expect(manager.messages.find(isAlive)).toBe("WATCHDOG=1 | STATUS=0 permanent, 0 temporary")

      let frozen: number
      {
        await using _loop = await FrozenThread.freeze(server.pid)
        // What was on its way has arrived when the receiver is silent for longer than the manager would wait.
        await Bun.sleep(600)
        frozen = alive()
        await Bun.sleep(1500)
        expect(alive()).toBe(frozen)
        const threads = threadsOf(server.pid)
        expect(threads.length).toBeGreaterThan(3)
        expect(threads.filter(({ isFrozen }) => isFrozen).map(({ id }) => id)).toEqual([server.pid])
      }
      await manager.until(() => alive() >= frozen + 2)
      expect(await server.stop()).toBe(0)
    })

    test("come while the thread of the database stands still, because decisions go on", async () => {
      await using manager = await NotifySocket.open(place.path("notify"))
      const server = await place.serve([], { env: { NOTIFY_SOCKET: manager.name, ...WATCHDOG } })
      const alive = () => manager.count(SIGN)
      {
        const [database = -1, ...others] = threadsOf(server.pid).flatMap(({ id, name }) =>
          name === "Worker" ? [id] : [],
        )
        expect(others).toEqual([])
        await using _database = await FrozenThread.freeze(database)
        const before = alive()
        await manager.until(() => alive() >= before + 5)
        expect(await server.decision("203.0.113.7")).toBe(401)
      }
      expect(await server.stop()).toBe(0)
    })

    test.each([
      ["the manager waits for none", {}],
      ["it waits for those of another process", { ...WATCHDOG, WATCHDOG_PID: "1" }],
      ["it names no time", { WATCHDOG_USEC: "soon" }],
    ])("none where %s", async (_, env) => {
      await using manager = await NotifySocket.open(place.path("notify"))
      const server = await place.serve([], { env: { NOTIFY_SOCKET: manager.name, ...env } })
      await Bun.sleep(700)
      await server.stop()
      await manager.until((messages) => messages.some((message) => message.startsWith("STOPPING=1")))
      expect(manager.messages.filter(isAlive)).toEqual([])
    })
  },
)

test("sockets from systemd are refused, because ipgate opens its own", async () => {
  for (const check of [[], ["--check"]]) {
    const { code, stderr } = await place.ipgate(["serve", ...check], { env: { LISTEN_FDS: "1" } })
    expect(code).toBe(78)
    expect(stderr).toContain("LISTEN_FDS is set: ipgate opens its sockets itself")
  }
  // Somebody else's, inherited from a shell that was started so; and none at all.
  for (const env of [{ LISTEN_FDS: "1", LISTEN_PID: "1" }, { LISTEN_FDS: "0" }]) {
    const server = await place.serve([], { env })
    expect(await server.stop()).toBe(0)
  }
})

/** A second less than it is: the file is not exact. */
function microsecondsSinceBoot(): number {
  return Math.floor(Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1e6) - 1e6
}
