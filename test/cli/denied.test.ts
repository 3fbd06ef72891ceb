// `ipgate denied`: who was refused lately, and by which entry that is gone they had been let in.

import { afterEach, beforeEach, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { CliMachine, World } from "../support/cli.ts"

let world: World

// A server alone has refused anybody: what it remembers is in its memory.
beforeEach(async () => {
  world = await World.open("on-line")
})

afterEach(() => world.close())

test("shows the clients that were refused, the last one first, and what let them in before", async () => {
  await world.do("allow 203.0.113.0/24")
  await world.do("allow 198.51.100.7 --ttl 90s")
  expect(await world.decision("203.0.113.7")).toBe(204)
  await world.do("deny 203.0.113.0/24")
  expect(await world.decision("203.0.113.7")).toBe(401)
  world.clock.advance(90_000)
  expect(await world.decision("192.0.2.1")).toBe(401)
  await world.do("deny 198.51.100.7")
  world.clock.advance(60_000)
  expect(await world.decision("203.0.113.7")).toBe(401)
  world.clock.advance(1_000)
  expect(await world.decision("198.51.100.7")).toBe(401)

  const { code, out, err } = await world.run("denied")
  expect({ code, err }).toEqual({ code: 0, err: "" })
  expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["IP", "COUNT", "FIRST", "LAST", "LET IN BEFORE BY"],
    ["198.51.100.7", "1", "0s ago", "0s ago", "temp 198.51.100.7, expired 1m1s ago"],
    ["203.0.113.7", "2", "2m31s ago", "1s ago", "perm 203.0.113.0/24, removed 2m31s ago"],
    ["192.0.2.1", "1", "1m1s ago", "1m1s ago", "-"],
    [""],
  ])
  expect(await world.json("denied -n 2")).toEqual([
    {
      ip: "198.51.100.7",
      count: 1,
      first_seen: "2026-01-01T00:02:31.000Z",
      last_seen: "2026-01-01T00:02:31.000Z",
      last_entry: {
        list: "temp",
        ip: "198.51.100.7",
        ended: "2026-01-01T00:01:30.000Z",
        how: "expired",
      },
    },
    {
      ip: "203.0.113.7",
      count: 2,
      first_seen: "2026-01-01T00:00:00.000Z",
      last_seen: "2026-01-01T00:02:30.000Z",
      last_entry: { list: "perm", ip: "203.0.113.0/24", ended: "2026-01-01T00:00:00.000Z", how: "removed" },
    },
  ])
})

test("names no entry that came after the client was refused", async () => {
  expect(await world.decision("192.0.2.1")).toBe(401)
  world.clock.advance(1_000)
  await world.do("allow 192.0.2.1 --ttl 1h")
  world.clock.advance(1_000)
  await world.do("deny 192.0.2.1")
  expect(await world.json("denied")).toMatchObject([{ ip: "192.0.2.1", last_entry: null }])
  expect(await world.decision("192.0.2.1")).toBe(401)
  expect(await world.json("denied")).toMatchObject([{ ip: "192.0.2.1", last_entry: { how: "removed" } }])
})

test("is an empty table when nobody was refused", async () => {
  expect(await world.run("denied")).toEqual({
    code: 0,
    out: "IP  COUNT  FIRST  LAST  LET IN BEFORE BY\n",
    err: "",
  })
  expect(await world.run("denied --json")).toEqual({ code: 0, out: "[]\n", err: "" })
})

test("a question of an administrator is no refusal", async () => {
  expect((await world.run("check 203.0.113.7")).code).toBe(1)
  expect(await world.json("denied")).toEqual([])
})

test("shows 50 clients, or as many as are asked for", async () => {
  for (let i = 0; i < 60; i++) await world.decision(`203.0.113.${i}`)
  expect(await world.json("denied")).toHaveLength(50)
  expect(await world.json("denied -n 7")).toHaveLength(7)
  expect(await world.json("denied -n 1000")).toHaveLength(60)
})

test("off-line nobody knows, and that is no empty table", async () => {
  const machine = new CliMachine()
  const path = machine.path("ipgate.db")
  const { code, out, err } = await machine.run(`denied --offline --db ${path}`)
  expect({ code, out, exists: existsSync(path) }).toEqual({ code: 2, out: "", exists: false })
  expect(err).toContain("only a running server knows whom it has refused")
  machine.remove()
})
