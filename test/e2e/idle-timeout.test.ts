// A silent connection is closed when the configuration says so, and not before, on both kinds of listeners.

import { expect, setDefaultTimeout, test } from "bun:test"
import { connect, type Socket } from "node:net"
import { Workplace } from "../support/binary.ts"

setDefaultTimeout(60_000)

const SHORTEST = 5

test("idle_timeout holds for TCP and for a unix socket", async () => {
  await using place = await Workplace.make()
  const path = place.path("gate.sock")
  await place.write("ipgate.toml", `[server]\nidle_timeout = "${SHORTEST}s"\n`)
  const server = await place.serve(["--listen", "127.0.0.1:0", `unix:${path}`])
  const tcp = server.addresses.find((address) => address.kind === "tcp")
  const seconds = await Promise.all([
    silentFor(connect(tcp?.port ?? 0, "127.0.0.1")),
    silentFor(connect(path)),
  ])
  // Bun's clock for this ticks coarsely; the default of two minutes is far away.
  for (const time of seconds) {
    expect(time).toBeGreaterThan(SHORTEST - 2)
    expect(time).toBeLessThan(45)
  }
  await server.stop()
})

/** Asks once, and is fulfilled with the seconds after which the server closes the connection. */
function silentFor(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let answeredAt = 0
    socket.on("connect", () => socket.write("GET /auth HTTP/1.1\r\nHost: x\r\n\r\n"))
    socket.on("data", () => {
      answeredAt = performance.now()
    })
    socket.on("close", () => resolve((performance.now() - answeredAt) / 1000))
    socket.on("error", reject)
  })
}
