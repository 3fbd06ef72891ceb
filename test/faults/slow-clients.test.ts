// Clients that take their time, and very many of them: the gate answers everybody else meanwhile.

import { expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { type ServerProcess, TOKEN, Workplace } from "../support/binary.ts"
import { RawConnection, requestText } from "../support/raw-http.ts"
import { fault } from "./fault.ts"
import { IS_LONG_FORM, rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(600_000)

const LISTED = "192.0.2.7"
const OTHER = "192.0.2.8"
const BEARER = `Authorization: Bearer ${TOKEN}`

/** Sockets of one test, all closed at its end. */
class Crowd implements Disposable {
  readonly sockets: Socket[] = []
  private readonly timers: Timer[] = []
  ended = 0

  /** Opens `count` connections that send `first` and then `drip` every second. They never read. */
  async join(
    server: ServerProcess,
    count: number,
    first: string,
    drip: string | null,
    reads = true,
  ): Promise<void> {
    const [address] = server.addresses
    if (address?.kind !== "tcp") throw new Error("the server listens elsewhere")
    await Promise.all(
      Array.from({ length: count }, () => {
        const opened = Promise.withResolvers<void>()
        const socket = connect({ host: address.hostname, port: address.port }, () => {
          socket.write(first)
          opened.resolve()
        })
        if (!reads) socket.pause()
        else socket.resume()
        socket.on("error", () => opened.resolve())
        socket.once("close", () => {
          this.ended++
        })
        this.sockets.push(socket)
        return opened.promise
      }),
    )
    if (drip === null) return
    const own = this.sockets.slice(-count)
    this.timers.push(
      setInterval(() => {
        for (const socket of own) if (!socket.destroyed) socket.write(drip)
      }, 1_000),
    )
  }

  async untilEnded(count: number, seconds: number): Promise<void> {
    const deadline = performance.now() + seconds * 1_000
    while (this.ended < count && performance.now() < deadline) await Bun.sleep(100)
    expect(this.ended).toBeGreaterThanOrEqual(count)
  }

  [Symbol.dispose](): void {
    for (const timer of this.timers) clearInterval(timer)
    for (const socket of this.sockets) socket.destroy()
  }
}

/** Asks on a connection that was there before the crowd, and on new ones, until told to stop. */
function asking(server: ServerProcess) {
  let stopped = false
  const run = async () => {
    const [address] = server.addresses
    if (address === undefined) throw new Error("the server has no address")
    using connection = await RawConnection.open(address)
    let asked = 0
    for (; !stopped; asked++) {
      const client = asked % 2 === 0 ? LISTED : OTHER
      const { status } = await connection.ask(requestText("GET /auth", [`X-Real-IP: ${client}`]))
      expect([client, status]).toEqual([client, client === LISTED ? 204 : 401])
      expect(await server.decision(client)).toBe(status)
      await Bun.sleep(20)
    }
    tally("decisionsCompared", asked * 2)
    return asked
  }
  const running = run()
  return async () => {
    stopped = true
    expect(await running).toBeGreaterThan(0)
  }
}

const memoryOf = ({ pid }: ServerProcess) =>
  Number(/^VmRSS:\s+([0-9]+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

async function gate(place: Workplace): Promise<ServerProcess> {
  const server = await place.serve()
  expect((await server.api("POST", "/api/whitelist/perm", { ip: LISTED })).status).toBe(204)
  return server
}

test(
  fault(
    "T-01",
    "hundreds of connections that send nothing, or a byte of a header each second",
    "all are closed within a minute; everybody else gets the right answer meanwhile",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await gate(place)
    const stop = asking(server)
    using crowd = new Crowd()
    const each = rounds(100, 400)
    await crowd.join(server, each, "", null)
    await crowd.join(server, each, "GET /auth HTTP/1.1\r\nHost: h\r\nX-A: ", "a")
    await crowd.join(server, each, `GET /auth HTTP/1.1\r\nHost: h\r\nX-Real-IP: ${LISTED}`, null)
    // Bun gives a header twelve seconds, whatever comes in that time.
    await crowd.untilEnded(3 * each, 60)
    await stop()
  },
)

test(
  fault(
    "T-02",
    "hundreds of connections whose body comes a byte each second, with a token and without; in the long form until they are closed",
    "nothing is changed by them, memory stays; they are closed after two minutes",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await gate(place)
    const before = memoryOf(server)
    const stop = asking(server)
    using crowd = new Crowd()
    const each = rounds(100, 300)
    const body = `Content-Length: 60000\r\n\r\n{"ip":"198.51.100.1"}`
    const head = "HTTP/1.1\r\nHost: h\r\n"
    await crowd.join(server, each, `POST /api/whitelist/perm ${head}${BEARER}\r\n${body}`, " ")
    await crowd.join(server, each, `POST /api/whitelist/perm ${head}${body}`, " ")
    const chunk = "14\r\n198.51.100.2       \n\r\n"
    await crowd.join(
      server,
      each,
      `POST /api/whitelist/import ${head}${BEARER}\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
      "1\r\n \r\n",
    )
    await crowd.join(server, each, `GET /auth ${head}X-Real-IP: ${LISTED}\r\n${body}`, " ")
    if (IS_LONG_FORM) await crowd.untilEnded(4 * each, 240)
    else await Bun.sleep(2_000)
    await stop()
    expect((await server.read<unknown[]>("/api/whitelist/perm/list")).length).toBe(1)
    expect(memoryOf(server) - before).toBeLessThan(100)
    crowd[Symbol.dispose]()
    // A body that never ends is a fault of the client, not of the server.
    expect((await server.api("GET", "/status")).status).toBe(200)
    expect(await server.stop()).toBe(0)
    expect(server.log().match(/error .*/g)).toBeNull()
  },
)

test(
  fault(
    "T-03",
    "connections that ask for long lists and exports over and over, and never read an answer",
    "the memory of the server is bounded, and everybody else is answered",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await gate(place)
    const lines = Array.from({ length: 20_000 }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
    const file = await place.write("many.txt", `${lines.join("\n")}\n`)
    expect((await server.ipgate("import", file, "--format", "values")).code).toBe(0)
    const ask = (path: string) => requestText(`GET ${path}`, [BEARER])
    // Warm, so that what is measured is what the crowd costs.
    for (let i = 0; i < 50; i++) await server.read("/api/whitelist/perm/list?limit=1000")
    const before = memoryOf(server)
    const stop = asking(server)
    using crowd = new Crowd()
    const each = rounds(20, 100)
    await crowd.join(server, each, ask("/api/whitelist/perm/list?limit=1000").repeat(200), null, false)
    await crowd.join(server, each, ask("/api/whitelist/export").repeat(50), null, false)
    await Bun.sleep(rounds(3_000, 20_000))
    await stop()
    const grown = memoryOf(server) - before
    // Each connection may have one answer under way and what the kernel takes, and no more.
    expect(grown).toBeLessThan(64 + each * 2)
    expect((await server.api("DELETE", "/api/whitelist/perm/10.0.0.1")).headers.get("Ipgate-Result")).toBe(
      "removed",
    )
  },
)

test(
  fault(
    "T-10",
    "2,000 connections at once, each with requests on it, beside one that was there before",
    "every one is answered, in order, and rightly",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await gate(place)
    const [address] = server.addresses
    if (address === undefined) throw new Error("the server has no address")
    const stop = asking(server)
    const connections: RawConnection[] = []
    try {
      for (let i = 0; i < 2_000; i += 100) {
        connections.push(
          ...(await Promise.all(Array.from({ length: 100 }, () => RawConnection.open(address)))),
        )
      }
      let wrong = 0
      for (let round = 0; round < rounds(2, 20); round++) {
        const right = (i: number) => (i % 2 === 0 ? 204 : 401)
        for (const [i, connection] of connections.entries()) {
          connection.send(requestText("GET /auth", [`X-Real-IP: ${i % 2 === 0 ? LISTED : OTHER}`]))
        }
        for (const [i, connection] of connections.entries()) {
          if ((await connection.answer()).status !== right(i)) wrong++
        }
      }
      expect([connections.length, wrong]).toEqual([2_000, 0])
      tally("decisionsCompared", connections.length * rounds(2, 20))
    } finally {
      for (const connection of connections) connection.close()
    }
    await stop()
  },
)
