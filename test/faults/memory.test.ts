// What a flood leaves behind in the server's memory, in its log and on its disk: nothing.

import { expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { type ServerProcess, TOKEN, Workplace } from "../support/binary.ts"
import { fault } from "./fault.ts"
import { load } from "./load.ts"
import { rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(600_000)

const MIB = 16

const memoryOf = ({ pid }: ServerProcess) =>
  Number(/^VmRSS:\s+([0-9]+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

/** The least of a few readings: what a collector has not got round to yet is no leak. */
async function settledMemory(server: ServerProcess): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < 20; i++) {
    least = Math.min(least, memoryOf(server))
    await Bun.sleep(100)
  }
  return least
}

const IN = "HTTP/1.1\r\nHost: gate.test\r\nX-Real-IP: "

/** Every fourth client is listed, the others are as many as there are requests. */
const isListed = (i: number) => i % 4 === 0
const addressOf = (i: number) =>
  isListed(i)
    ? `10.1.${(i >> 10) & 255}.${(i >> 2) & 255}`
    : `172.${16 + ((i >> 16) & 15)}.${(i >> 8) & 255}.${i & 255}`

test(
  fault(
    "T-11 L-05 H-22",
    "a million requests over 16 connections that are kept, from as many clients (300,000 in the short form)",
    "every answer right; memory within 16 MiB of what it was after the first 100,000; a sum in the log now and then, no record",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const [address] = server.addresses
    if (address === undefined) throw new Error("the server has no address")
    expect((await server.api("POST", "/api/whitelist/perm", { ip: "10.1.0.0/16" })).status).toBe(204)
    const flood = (requests: number) =>
      load(address, {
        requests,
        connections: 16,
        atOnce: 64,
        request: (i) => `GET /auth${i % 3 === 0 ? "?x=1" : ""} ${IN}${addressOf(i)}\r\n\r\n`,
        status: (i) => (isListed(i) ? 204 : 401),
      })
    const logged = server.log().length
    const first = 100_000
    expect(await flood(first)).toBe(0)
    const base = await settledMemory(server)
    const all = rounds(300_000, 1_000_000)
    const wrong = await flood(all - first)
    tally("decisionsCompared", all)
    tally("letIn", wrong)
    expect(wrong).toBe(0)
    const after = await settledMemory(server)
    console.log(
      `memory after ${first} requests: ${base.toFixed(1)} MiB, after ${all}: ${after.toFixed(1)} MiB`,
    )
    expect(after - base).toBeLessThan(MIB)
    // A sum now and then, however many there were.
    const lines = server.log().slice(logged).trim().split("\n").filter(Boolean)
    expect(lines.filter((line) => !line.includes(" info refused requests="))).toEqual([])
    expect(lines.length).toBeLessThan(20)
    expect((await server.audit()).length).toBe(1)
    const { allowed, denied } = await server.read<Record<string, number>>("/api/decisions")
    expect([allowed, denied]).toEqual([
      Math.ceil(first / 4) + Math.ceil((all - first) / 4),
      all - Math.ceil(first / 4) - Math.ceil((all - first) / 4),
    ])
  },
)

test(
  fault(
    "B-12",
    "10,000 wrong tokens of all lengths over 250 connections (100,000 in the long form)",
    "401 each, memory as before, no line in the log; the right token is served at once",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    const [address] = server.addresses
    if (address === undefined) throw new Error("the server has no address")
    const guesses = (requests: number) =>
      load(address, {
        requests,
        // More than the server holds back at once, so that the flood goes on.
        connections: 250,
        atOnce: 1,
        request: (i) => {
          const guess =
            i % 3 === 0
              ? TOKEN.slice(0, i % TOKEN.length)
              : TOKEN.replace(/.$/, String.fromCharCode(97 + (i % 26)))
          return `GET /api/logs HTTP/1.1\r\nHost: gate.test\r\nAuthorization: Bearer ${guess}\r\n\r\n`
        },
        status: () => 401,
      })
    expect(await guesses(10_000)).toBe(0)
    const base = await settledMemory(server)
    const logged = server.log().length
    expect(await guesses(rounds(10_000, 100_000))).toBe(0)
    expect((await server.api("GET", "/api/logs")).status).toBe(200)
    expect((await settledMemory(server)) - base).toBeLessThan(MIB)
    expect(server.log().slice(logged)).toBe("")
  },
)
