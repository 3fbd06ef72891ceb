// The life of a listener: every default of Bun replaced, an address that is taken, a socket file, and an orderly stop.

import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { GateError } from "../../src/core/errors.ts"
import type { Handler } from "../../src/http/guard.ts"
import type { Routes } from "../../src/http/routes.ts"
import { type Listener, listen } from "../../src/http/server.ts"
import type { ListenAddress } from "../../src/listen-address.ts"
import { fault } from "../faults/fault.ts"
import { ask, RawConnection, requestText } from "../support/raw-http.ts"
import { ANY_PORT } from "../support/running-server.ts"

const hello: Handler = () => new Response("hello")
const ROUTES: Routes = {
  paths: { "/hello": hello },
  notFound: () => new Response(null, { status: 404 }),
  trustsLoopback: false,
}

let directory: string
let open: Listener[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ipgate-test-"))
  open = []
})

afterEach(async () => {
  await Promise.all(open.map((listener) => listener.stop()))
  rmSync(directory, { recursive: true, force: true })
})

function start(address: ListenAddress, routes = ROUTES): Listener {
  const listener = listen(address, routes)
  open.push(listener)
  return listener
}

const socketAt = (name: string): ListenAddress & { kind: "unix" } => ({
  kind: "unix",
  path: join(directory, name),
})

function failureOf(address: ListenAddress): GateError {
  try {
    start(address)
  } catch (error) {
    if (error instanceof GateError) return error
    throw error
  }
  throw new Error("it listens")
}

describe(
  fault(
    "H-03 S-01",
    "the options that go to Bun, under hostile variables",
    "development off, explicit address, limits",
  ),
  () => {
    test.each(["tcp", "unix"])("%s", (kind) => {
      const serve = spyOn(Bun, "serve")
      try {
        start(kind === "tcp" ? ANY_PORT : socketAt("gate.sock"))
        const options = serve.mock.calls[0]?.[0] as unknown as Record<string, unknown>
        // Error pages with source text; bodies larger than any endpoint takes; an idle connection closed before nginx lets go of it.
        expect(options.development).toBe(false)
        expect(options.maxRequestBodySize).toBeLessThanOrEqual(65 * 2 ** 20)
        expect(options.idleTimeout).toBeGreaterThan(60)
        // One that resolves later without a Response is sent as a 204.
        expect(options.error?.constructor.name).toBe("Function")
        // A table of methods answers 404 where 405 is due, and a Response there gets an ETag.
        const handlers = Object.values(options.routes as Record<string, unknown>)
        expect(handlers.map((handler) => typeof handler)).toEqual(["function"])
        if (kind === "tcp") {
          expect(options).toMatchObject({ hostname: "127.0.0.1", port: 0, reusePort: false })
        } else {
          expect(options).not.toHaveProperty("port")
        }
      } finally {
        serve.mockRestore()
      }
    })

    test("nor is PORT of the environment", () => {
      const before = { ...process.env }
      try {
        for (const name of ["PORT", "BUN_PORT", "NODE_PORT"]) process.env[name] = "1"
        const { address } = start(ANY_PORT)
        expect(address.kind === "tcp" && address.port > 1).toBe(true)
      } finally {
        for (const name of ["PORT", "BUN_PORT", "NODE_PORT"]) {
          if (before[name] === undefined) delete process.env[name]
          else process.env[name] = before[name]
        }
      }
    })
  },
)

describe("over TCP", () => {
  test("port 0 becomes the port that was given out", async () => {
    const { address } = start(ANY_PORT)
    expect(address).toEqual({ kind: "tcp", hostname: "127.0.0.1", port: expect.any(Number) })
    expect((await ask(address, requestText("GET /hello"))).body).toBe("hello")
  })

  test("a port that is taken is told by name", async () => {
    const { address } = start(ANY_PORT)
    const { code, message } = failureOf(address)
    expect(code).toBe("failed")
    const port = address.kind === "tcp" && address.port
    expect(message).toBe(`cannot listen on 127.0.0.1:${port}: another process listens there`)
    // Neither has it been shared out.
    for (let i = 0; i < 20; i++) expect((await ask(address, requestText("GET /hello"))).status).toBe(200)
  })

  test("an address that is not of this machine is told by name", () => {
    const { code, message } = failureOf({ kind: "tcp", hostname: "192.0.2.1", port: 0 })
    expect([code, message]).toEqual([
      "failed",
      "cannot listen on 192.0.2.1:0: this machine has no such address",
    ])
  })
})

describe("on a unix socket", () => {
  test("others have no access", () => {
    const before = process.umask(0)
    try {
      const address = socketAt("gate.sock")
      start(address)
      expect(statSync(address.path).mode & 0o777).toBe(0o660)
    } finally {
      process.umask(before)
    }
  })

  test("others have none either between its birth and its mode, and files are made as before", () => {
    const before = process.umask(0o022)
    const address = socketAt("gate.sock")
    const { serve } = Bun
    const modesAtBirth: number[] = []
    const spy = spyOn(Bun, "serve").mockImplementation(((options: Parameters<typeof serve>[0]) => {
      const server = serve(options)
      modesAtBirth.push(statSync(address.path).mode & 0o777)
      return server
    }) as typeof serve)
    try {
      start(address)
      expect(modesAtBirth).toEqual([0o600])
      expect(process.umask()).toBe(0o022)
    } finally {
      spy.mockRestore()
      process.umask(before)
    }
  })

  test("the socket of a server that was killed is replaced", async () => {
    const address = socketAt("gate.sock")
    const child = Bun.spawn(
      [
        process.execPath,
        "-e",
        `require("net").createServer().listen(${JSON.stringify(address.path)}, () => process.kill(process.pid, "SIGKILL"))`,
      ],
      { stdout: "ignore", stderr: "ignore" },
    )
    await child.exited
    expect(statSync(address.path).isSocket()).toBe(true)
    start(address)
    expect((await ask(address, requestText("GET /hello"))).body).toBe("hello")
  })

  test("a file that is no socket stays, and is told by name", () => {
    const address = socketAt("notes.txt")
    writeFileSync(address.path, "mine")
    expect(failureOf(address).message).toBe(
      `cannot listen on unix:${address.path}: a file that is no socket stands there`,
    )
    expect(readFileSync(address.path, "utf8")).toBe("mine")
  })

  test("so does a symbolic link, whatever it points to", async () => {
    const target = join(directory, "other.sock")
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(target, resolve))
    const address = socketAt("gate.sock")
    symlinkSync(target, address.path)
    expect(failureOf(address).code).toBe("failed")
    expect(statSync(target).isSocket()).toBe(true)
    other.close()
  })

  test("the socket of a server that answers is not taken away", async () => {
    const address = socketAt("gate.sock")
    start(address)
    expect(failureOf(address).message).toStartWith(`cannot listen on unix:${address.path}: `)
    expect((await ask(address, requestText("GET /hello"))).body).toBe("hello")
  })

  test("nor is it by another spelling of its path", async () => {
    const address = socketAt("gate.sock")
    start(address)
    symlinkSync(directory, join(directory, "other"))
    const other = socketAt("other/gate.sock")
    expect(failureOf(other).message).toBe(`cannot listen on unix:${other.path}: another server listens there`)
    expect((await ask(address, requestText("GET /hello"))).body).toBe("hello")
  })

  test("a directory that does not exist is told by name", () => {
    const { message } = failureOf(socketAt("missing/gate.sock"))
    expect(message).toBe(
      `cannot listen on unix:${directory}/missing/gate.sock: there is no directory ${directory}/missing`,
    )
  })

  test("the file goes with the listener", async () => {
    const address = socketAt("gate.sock")
    await start(address).stop()
    expect(existsSync(address.path)).toBe(false)
  })
})

describe("stop", () => {
  test("waits for requests under way, and takes no new connection", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    const slow: Handler = async () => {
      arrive()
      await released
      return new Response("late")
    }
    const listener = start(ANY_PORT, { ...ROUTES, paths: { "/slow": slow } })
    using connection = await RawConnection.open(listener.address)
    connection.send(requestText("GET /slow"))
    await arrived

    let stopped = false
    const stopping = listener.stop().then(() => {
      stopped = true
    })
    await expect(RawConnection.open(listener.address)).rejects.toThrow()
    await Bun.sleep(20)
    expect(stopped).toBe(false)

    release()
    expect((await connection.answer()).body).toBe("late")
    await stopping
  })

  test("does not wait for idle connections", async () => {
    const listener = start(ANY_PORT)
    using connection = await RawConnection.open(listener.address)
    await connection.ask(requestText("GET /hello"))
    await listener.stop()
    expect(await connection.rest()).toBe("")
  })

  test("waits for nobody who has sent half of a request", async () => {
    const listener = start(ANY_PORT)
    for (const half of [
      "G",
      "GET /hello HTTP/1.1\r\nHos",
      "POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 9",
    ]) {
      const connection = await RawConnection.open(listener.address)
      connection.send(half)
    }
    expect((await ask(listener.address, requestText("GET /hello"))).body).toBe("hello")
    await listener.stop()
  })

  test("gives a slow reader all of its answer", async () => {
    const size = 30_000_000
    const large: Handler = () => new Response(new Uint8Array(size))
    const listener = start(ANY_PORT, { ...ROUTES, paths: { "/large": large } })
    const { hostname, port } = listener.address as ListenAddress & { kind: "tcp" }
    const socket = connect({ host: hostname, port })
    socket.write(requestText("GET /large"))
    let received = 0
    let isStopped = false
    await new Promise((resolve) => socket.once("readable", resolve))
    const stopped = listener.stop().then(() => {
      isStopped = true
    })
    await Bun.sleep(100)
    expect(isStopped).toBe(false)
    socket.on("data", (bytes) => {
      received += bytes.length
    })
    await stopped
    await new Promise((resolve) => socket.once("close", resolve))
    expect(received).toBeGreaterThan(size)
  })
})
