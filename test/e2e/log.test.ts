// The log of the built binary: its form for each reader, one line a change, and readers that are slow, gone or full.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { spawnSync } from "node:child_process"
import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs"
import { connect } from "node:net"
import { fault } from "../faults/fault.ts"
import { builtBinary, TOKEN, Workplace } from "../support/binary.ts"

setDefaultTimeout(60_000)

let place: Workplace
let servers: Bun.Subprocess[]
beforeEach(async () => {
  place = await Workplace.make()
  servers = []
})
afterEach(async () => {
  for (const server of servers) {
    server.kill("SIGKILL")
    await server.exited
  }
  await place[Symbol.asyncDispose]()
})

/** A server whose standard error is what a line of the shell makes of it; it listens on a socket of the workplace. */
async function serve(redirection: string, env: Readonly<Record<string, string>> = {}, wrapper = "") {
  const socket = place.path("gate.sock")
  const { IPGATE_LOG_FORMAT: _, ...usual } = place.env
  const line = `${redirection}; exec ${wrapper} "$0" serve --listen unix:${socket}`
  const server = Bun.spawn(["bash", "-c", line, builtBinary()], {
    cwd: place.directory,
    env: { ...usual, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  servers.push(server)
  const ask = (path: string, init: BunFetchRequestInit = {}) =>
    fetch(`http://localhost${path}`, { unix: socket, ...init })
  while ((await ask("/status").catch(() => null)) === null) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`)
    await Bun.sleep(10)
  }
  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(`/api/whitelist/${path}`, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}` },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    })
    await answer.text()
    return answer.status
  }
  return {
    api,
    decision: async (ip: string) => (await ask("/auth", { headers: { "X-Real-IP": ip } })).status,
    stop: () => {
      server.kill("SIGTERM")
      return server.exited
    },
    socket,
    printed: () => new Response(server.stdout).text(),
  }
}

type Line = Readonly<Record<string, unknown>> & { readonly event: string }

function linesOf(path: string): Line[] {
  const text = readFileSync(path, "utf8")
  expect(text).toEndWith("\n")
  expect(text).not.toContain(TOKEN)
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line)
}

describe("for a program", () => {
  test("each line is an object, and each change is one of them", async () => {
    const path = place.path("log")
    const server = await serve(`exec 2>${path}`)
    const reason = 'x"\\ <0>forged é'
    expect(await server.api("POST", "perm", { ip: "192.0.2.0/28" })).toBe(204)
    expect(await server.api("POST", "temp", { ip: "203.0.113.7", ttl_seconds: 1, reason })).toBe(204)
    expect(await server.api("DELETE", "perm/192.0.2.0%2F28")).toBe(204)
    while ((await server.decision("203.0.113.7")) === 204) await Bun.sleep(50)
    while (!readFileSync(path, "utf8").includes("list.expire")) await Bun.sleep(50)
    expect(await server.stop()).toBe(0)

    const lines = linesOf(path)
    for (const line of lines) {
      expect(Object.keys(line).slice(0, 4)).toEqual(["time", "level", "msg", "event"])
      expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }
    const events = lines
      .map(({ event }) => event)
      .filter((event) => !/^server\.root|auth\.refused$/.test(event))
    expect(events).toEqual([
      "db.create",
      "server.start",
      "list.add",
      "list.add",
      "list.remove",
      "list.expire",
      "server.stop",
      "server.stop",
    ])
    const changes = lines.filter(({ event }) => event.startsWith("list."))
    expect(changes).toMatchObject([
      { level: "notice", ip: "192.0.2.0/28", list: "perm", token: "file" },
      { level: "notice", ip: "203.0.113.7", list: "temp", ttl_seconds: 1, reason, token: "file" },
      { level: "notice", ip: "192.0.2.0/28", list: "perm" },
      { level: "notice", ip: "203.0.113.7", list: "temp" },
    ])
  })

  test("nothing below the level that somebody wants, from the first line", async () => {
    const path = place.path("log")
    const server = await serve(`exec 2>${path}`, { IPGATE_LOG_LEVEL: "warn" })
    expect(await server.api("POST", "perm", { ip: "192.0.2.1" })).toBe(204)
    expect(await server.stop()).toBe(0)
    const lines = linesOf(path).filter(({ event }) => event !== "server.root")
    expect(lines).toMatchObject([{ level: "warn", event: "db.create" }])
  })

  test("a large import is one line with its counts", async () => {
    const path = place.path("log")
    const server = await serve(`exec 2>${path}`)
    const networks = Array.from({ length: 3000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`)
    expect(await server.api("POST", "import", `${networks.join("\n")}\n`)).toBe(200)
    expect(await server.stop()).toBe(0)
    const changes = linesOf(path).filter(({ event }) => event.startsWith("list."))
    expect(changes).toMatchObject([{ event: "list.import", added: 3000, removed: 0, level: "notice" }])
  })

  test(
    fault("L-05", "a hundred thousand refused requests", "a few lines, and each request counted"),
    async () => {
      const path = place.path("log")
      const server = await serve(`exec 2>${path}`)
      await pipelined(server.socket, 100_000)
      expect(await server.stop()).toBe(0)
      const refused = linesOf(path).filter(({ event }) => event === "auth.refused")
      expect(refused.length).toBeGreaterThan(0)
      expect(refused.length).toBeLessThan(4)
      expect(refused.reduce((sum, { requests }) => sum + Number(requests), 0)).toBe(100_000)
      expect(readFileSync(path).length).toBeLessThan(4_000)
    },
  )

  test("none of that where somebody wants none", async () => {
    const path = place.path("log")
    const server = await serve(`exec 2>${path}`, { IPGATE_LOG_REFUSALS: "none" })
    await pipelined(server.socket, 1_000)
    expect(await server.stop()).toBe(0)
    expect(linesOf(path).filter(({ event }) => event === "auth.refused")).toEqual([])
  })

  test("nothing below the level that it starts with", async () => {
    const path = place.path("log")
    const server = await serve(`exec 2>${path}`, { IPGATE_LOG_LEVEL: "warn" })
    expect(await server.api("POST", "perm", { ip: "192.0.2.1" })).toBe(204)
    expect(await server.stop()).toBe(0)
    const levels = linesOf(path).map(({ level }) => level)
    expect(levels).toContain("warn")
    expect(levels.filter((level) => level === "info" || level === "notice")).toEqual([])
  })
})

describe("for the journal", () => {
  const JOURNAL = "export JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2)"

  test("each line has a priority and no time", async () => {
    const path = place.path("log")
    const server = await serve(`exec 2>${path}; ${JOURNAL}`)
    await server.api("POST", "perm", { ip: "192.0.2.1" })
    expect(await server.stop()).toBe(0)
    const text = readFileSync(path, "utf8")
    expect(text).toMatch(/^(<[3-7]>[^\n]+\n)+$/)
    expect(text).toMatch(/^<6>listening on unix:\S+ permanent=0 temporary=0$/m)
    expect(text).toMatch(/^<5>allowed ip="192.0.2.1" list="perm" token="file"$/m)
    expect(text).not.toMatch(/\d\d:\d\d:\d\d/)
  })

  test("why a server did not start has the priority of an error", async () => {
    const path = place.path("log")
    await place.run(["bash", "-c", `exec 2>${path}; ${JOURNAL}; exec "$0" serve --listen a b`, builtBinary()])
    const lines = readFileSync(path, "utf8").trimEnd().split("\n")
    expect(lines.length).toBe(2)
    for (const line of lines) expect(line).toStartWith("<3>")
  })
})

test("on a terminal it is text", async () => {
  const { stdout } = await place.run(
    [
      "python3",
      "-c",
      "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)",
      builtBinary(),
      ...["serve", "--listen", "unix:/proc/none"],
    ],
    { env: { IPGATE_LOG_FORMAT: undefined } },
  )
  expect(stdout).toMatch(/^\S+Z warn made a new, empty database/m)
})

describe(
  fault("L-06", "a reader of the log that is gone, full, closed, asleep or stopped", "the server goes on"),
  () => {
    /** Two thousand changes, and a decision after each hundred: all as if there were no log. */
    async function busy(server: Awaited<ReturnType<typeof serve>>) {
      const reason = "r".repeat(490)
      for (let block = 0; block < 20; block++) {
        const statuses = await Promise.all(
          Array.from({ length: 100 }, (_, i) =>
            server.api("POST", "temp", { ip: `10.0.${block}.${i}`, ttl_seconds: 600, reason }),
          ),
        )
        expect(new Set(statuses)).toEqual(new Set([204]))
        expect(await server.decision(`10.0.${block}.99`)).toBe(204)
        expect(await server.decision("203.0.113.1")).toBe(401)
      }
    }

    /** What the server writes into the pipe from here on to its end, which SIGTERM brings about. */
    async function untilEnd(server: Awaited<ReturnType<typeof serve>>, pipe: SleepyReader): Promise<string> {
      let isEnded = false
      const stopped = server.stop().finally(() => {
        isEnded = true
      })
      let text = ""
      while (!isEnded) {
        text += pipe.read()
        await Bun.sleep(5)
      }
      expect(await stopped).toBe(0)
      return text + pipe.read()
    }

    test("gone after the first line: it serves, and stops as usual", async () => {
      const server = await serve("exec 2> >(head -1)")
      await busy(server)
      expect(await server.stop()).toBe(0)
      expect(await server.printed()).toMatch(/^\{"time".*\}\n$/)
    })

    test("a full disk", async () => {
      const server = await serve("exec 2>/dev/full")
      await busy(server)
      expect(await server.stop()).toBe(0)
    })

    test("closed from the beginning: no line gets into another file", async () => {
      const server = await serve("exec 2>&-")
      await busy(server)
      expect(await server.stop()).toBe(0)
      expect(readFileSync(place.database).includes("listening on")).toBe(false)
      expect((await place.ipgate(["list", "--offline"])).code).toBe(0)
    })

    test("asleep: it serves, and says afterwards how many lines are lost", async () => {
      using pipe = new SleepyReader(place.path("fifo"))
      const server = await serve(`exec 2>${pipe.path}`)
      await busy(server)
      let text = ""
      while (!text.includes('"event":"log.lost"')) {
        text += pipe.read()
        await Bun.sleep(5)
      }
      const lost = /^\{.*"event":"log.lost","lines":(\d+)\}$/m.exec(text)?.[1]
      const told = text.match(/"event":"list.add"/g)?.length ?? 0
      expect(Number(lost) + told).toBeGreaterThanOrEqual(2000)
      expect(told).toBeLessThan(2000)
      text += await untilEnd(server, pipe)
      const messages = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).msg]))
      expect(messages.at(-1)).toBe("stopped")
    })

    test("asleep until it stops: what it has said is whole, to the last line", async () => {
      using pipe = new SleepyReader(place.path("fifo"))
      const server = await serve(`exec 2>${pipe.path}`)
      // Several times what a pipe holds, and less than what is kept for a reader that is late.
      const reason = "r".repeat(490)
      for (let i = 0; i < 500; i++)
        expect(
          await server.api("POST", "temp", { ip: `10.0.${i >> 8}.${i & 255}`, ttl_seconds: 600, reason }),
        ).toBe(204)
      const text = await untilEnd(server, pipe)
      expect(text.match(/"event":"list.add"/g)).toHaveLength(500)
      expect(text).toEndWith("\n")
      expect(JSON.parse(text.trimEnd().split("\n").at(-1) ?? "").msg).toBe("stopped")
    })

    test("a terminal that is stopped: it serves, and stops as usual", async () => {
      const server = await serve(":", {}, `python3 -c '${STOPPED_TERMINAL}'`)
      await busy(server)
      expect(await server.stop()).toBe(0)
    })

    test("asleep for good: it stops all the same", async () => {
      using pipe = new SleepyReader(place.path("fifo"))
      const server = await serve(`exec 2>${pipe.path}`)
      await busy(server)
      expect(await server.stop()).toBe(0)
    })
  },
)

/** A named pipe that is open for reading and from which nothing is taken until the test asks. */
class SleepyReader {
  private readonly buffer = Buffer.alloc(1 << 20)
  private readonly handle: number

  constructor(readonly path: string) {
    expect(spawnSync("mkfifo", [path]).status).toBe(0)
    this.handle = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  }

  /** All that has come. */
  read(): string {
    let text = ""
    for (;;) {
      try {
        text += this.buffer.toString("utf8", 0, readSync(this.handle, this.buffer))
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === "EAGAIN") return text
        throw cause
      }
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.handle)
  }
}

const STATUS_LENGTH = "HTTP/1.1 401 ".length - 1

/** Runs the rest of its arguments with standard error on a terminal of which nobody reads the other end. */
const STOPPED_TERMINAL = [
  "import os, pty, sys",
  "ours, theirs = pty.openpty()",
  "os.set_inheritable(ours, True)",
  "os.dup2(theirs, 2)",
  "os.execv(sys.argv[1], sys.argv[1:])",
].join("; ")

/** So many requests for decisions about strangers over one connection, and their answers, which must all be a no. */
function pipelined(path: string, count: number): Promise<void> {
  const request = "GET /auth HTTP/1.1\r\nHost: x\r\nX-Real-IP: 198.51.100.1\r\n\r\n"
  return new Promise((resolve, reject) => {
    let answered = 0
    let rest = ""
    const socket = connect(path, () => {
      for (let sent = 0; sent < count; sent += 1_000)
        socket.write(request.repeat(Math.min(1_000, count - sent)))
    })
    socket.on("data", (bytes) => {
      const parts = (rest + bytes.toString("latin1")).split("HTTP/1.1 401 ")
      // The status line may come in two pieces.
      rest = (parts.at(-1) ?? "").slice(-STATUS_LENGTH)
      answered += parts.length - 1
      if (answered < count) return
      socket.destroy()
      resolve()
    })
    socket.on("error", reject)
    socket.on("close", () => reject(new Error(`${answered} of ${count} were refused`)))
  })
}
