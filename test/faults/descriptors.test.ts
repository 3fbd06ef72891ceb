// A server that may open no file and no connection more: what it still does, and that it recovers by itself. Bun 1.4.5
// tries to accept over and over meanwhile, which takes a core, so nothing is asked about the CPU: the README says so.

import { expect, setDefaultTimeout, test } from "bun:test"
import { readdirSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { type ServerProcess, TOKEN, Workplace } from "../support/binary.ts"
import { RawConnection, requestText } from "../support/raw-http.ts"
import { fault } from "./fault.ts"
import { rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(300_000)

const LISTED = "192.0.2.7"
const LIMIT = 64
const HELD = 150

const descriptorsOf = ({ pid }: ServerProcess) => readdirSync(`/proc/${pid}/fd`).length

test(
  fault(
    "T-06 T-07",
    "64 descriptors for the server and 150 connections that hold them, while decisions and changes are asked for on one that was there before",
    "every decision is right, a change is durable or refused; afterwards all goes on without a restart",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve([], { prefix: ["prlimit", `--nofile=${LIMIT}`] })
    const [address] = server.addresses
    if (address?.kind !== "tcp") throw new Error("the server listens elsewhere")
    expect((await server.api("POST", "/api/whitelist/perm", { ip: LISTED })).status).toBe(204)
    const promised = [LISTED]
    for (let round = 0; round < rounds(2, 10); round++) {
      using before = await RawConnection.open(address)
      // The kernel takes connections for the server; an answer shows that this one is the server's.
      const question = requestText("GET /auth", [`X-Real-IP: ${LISTED}`])
      expect((await before.ask(question)).status).toBe(204)
      const held: Socket[] = []
      try {
        for (let i = 0; i < HELD; i++) {
          const socket = connect({ host: address.hostname, port: address.port })
          // A connection that says nothing stays in the kernel for a while.
          socket.write("GET /auth HTTP/1.1\r\n")
          socket.on("error", () => {})
          held.push(socket)
        }
        while (descriptorsOf(server) < LIMIT) await Bun.sleep(20)
        for (let i = 0; i < 40; i++) {
          const client = i % 2 === 0 ? LISTED : "192.0.2.8"
          const { status } = await before.ask(requestText("GET /auth", [`X-Real-IP: ${client}`]))
          expect([client, status]).toEqual([client, client === LISTED ? 204 : 401])
          await Bun.sleep(20)
        }
        tally("decisionsCompared", 40)
        const ip = `198.51.100.${round}`
        const body = JSON.stringify({ ip })
        const head = [`Authorization: Bearer ${TOKEN}`, `Content-Length: ${body.length}`]
        const change = await before.ask(requestText("POST /api/whitelist/perm", head, body))
        expect([204, 500]).toContain(change.status)
        if (change.status === 204) promised.push(ip)
        const auth = await before.ask(requestText("GET /auth", [`X-Real-IP: ${ip}`]))
        expect(auth.status).toBe(change.status === 204 ? 204 : 401)
      } finally {
        for (const socket of held) socket.destroy()
      }
      while (descriptorsOf(server) > LIMIT - 10) await Bun.sleep(20)
      expect(await server.decision(LISTED)).toBe(204)
      expect(await server.decision("192.0.2.8")).toBe(401)
      const later = `198.51.101.${round}`
      expect((await server.api("POST", "/api/whitelist/perm", { ip: later })).status).toBe(204)
      promised.push(later)
    }
    await server.kill()
    const next = await place.serve()
    let lost = 0
    for (const ip of promised) if ((await next.decision(ip)) !== 204) lost++
    tally("lost", lost)
    expect(lost).toBe(0)
    expect(await next.stop()).toBe(0)
  },
)
