// A disk that is late under the built server: long work is no illness, and a stop does not wait for ever.

import { expect, setDefaultTimeout, test } from "bun:test"
import { type ServerProcess, Workplace } from "../support/binary.ts"
import { withSystemFault } from "./system-fault.ts"

setDefaultTimeout(120_000)

/** Seconds: longer than the thread of the database may take for a single change, and twice the shortest idle timeout. */
const LATE = 10
/** So late that nobody waits for it. */
const STUCK = 60

const add = (server: ServerProcess, ip: string) => server.api("POST", "/api/whitelist/perm", { ip })

test("behind an import that takes long changes and questions wait their turn, and nothing is called broken or broken off", async () => {
  await using place = await Workplace.make()
  const server = await place.serve(["--idle-timeout", "5s"])
  const silence = await server.api("GET", "/api/events?tail=0")
  const changes = silence.body?.getReader()
  await changes?.read()
  await withSystemFault(server.pid, place.database, { calls: "fsync", delay: LATE, once: true }, async () => {
    let isImported = false
    const file = await place.write("one.txt", "192.0.2.1\n")
    const imported = server.ipgate("import", file).then(({ code }) => {
      isImported = true
      return code
    })
    await Bun.sleep(200)
    const behind = Promise.all([
      add(server, "192.0.2.2").then(({ status }) => status),
      server.api("DELETE", "/api/whitelist/perm/192.0.2.9").then(({ status }) => status),
      server.read<unknown[]>("/api/whitelist/perm/list").then((rows) => rows.length > 0),
    ])
    const seen = new Set<unknown>()
    while (!isImported) {
      seen.add((await server.read<{ db_ok: boolean }>("/status")).db_ok)
      await Bun.sleep(100)
    }
    expect(await imported).toBe(0)
    expect(await behind).toEqual([204, 204, true])
    expect([...seen]).toEqual([true])
  })
  expect(server.log()).not.toContain("does not work")
  let told = ""
  while (!told.includes("192.0.2.2")) told += new TextDecoder().decode((await changes?.read())?.value)
  await changes?.cancel()
  expect(await server.decision("192.0.2.2")).toBe(204)
  expect(await server.stop()).toBe(0)
})

test("a stop while a change waits for the disk ends in time, says so, and is no failure", async () => {
  await using place = await Workplace.make()
  const server = await place.serve()
  expect((await add(server, "192.0.2.1")).status).toBe(204)
  const stuck = { calls: "fsync", delay: STUCK, once: true }
  await withSystemFault(server.pid, place.database, stuck, async () => {
    const change = add(server, "192.0.2.2").then(({ status }) => status)
    await Bun.sleep(200)
    server.signal("SIGTERM")
    expect(await change).toBe(500)
    await server.logged("was not closed in time")
    await server.logged("info stopped")
  })
  expect(await server.exited).toBe(0)
  const next = await place.serve()
  expect(await next.decision("192.0.2.1")).toBe(204)
  expect(await next.stop()).toBe(0)
})
