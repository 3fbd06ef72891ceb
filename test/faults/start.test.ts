// Starts: nothing is decided before everything is known, and a start that fails leaves everything as it was.

import { expect, setDefaultTimeout, test } from "bun:test"
import { type ServerProcess, Workplace } from "../support/binary.ts"
import { freePort } from "../support/free-port.ts"
import { digest } from "../support/temp-store.ts"
import { fault } from "./fault.ts"
import { rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(120_000)

test(
  fault(
    "P-04",
    "decisions are asked for from the moment of the start, with many entries",
    "no connection, and then right answers only",
  ),
  async () => {
    await using place = await Workplace.make()
    const entries = rounds(100_000, 1_000_000)
    const lines = Array.from({ length: entries }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
    await place.write("many.txt", lines.join("\n"))
    expect((await place.ipgate(["--offline", "--quiet", "import", place.path("many.txt")])).code).toBe(0)
    for (let round = 0; round < rounds(3, 10); round++) {
      const port = await freePort()
      let server: ServerProcess | null = null
      const starting = place.serve(["--listen", `127.0.0.1:${port}`]).then((started) => {
        server = started
        return started
      })
      let refused = 0
      for (let answers = 0; answers < 200; ) {
        const last = lines.at(-1 - (answers % 100)) ?? ""
        const wanted = answers % 2 === 0 ? { ip: last, status: 204 } : { ip: "192.0.2.1", status: 401 }
        // What is refused after it has said that it listens is a fault; the asking may have begun just before.
        const saidSo = server !== null
        const answer = await fetch(`http://127.0.0.1:${port}/auth`, {
          headers: { "X-Real-IP": wanted.ip },
        }).catch(() => null)
        if (answer === null) {
          refused++
          expect(saidSo).toBe(false)
          await Bun.sleep(1)
          continue
        }
        tally("letIn", answer.status === 204 && wanted.status === 401 ? 1 : 0)
        expect([wanted.ip, answer.status]).toEqual([wanted.ip, wanted.status])
        answers++
      }
      expect(refused).toBeGreaterThan(0)
      await (await starting).kill()
    }
  },
)

test(
  fault(
    "P-11 P-09",
    "twenty starts that fail, for a bad configuration and for a port in use",
    "exit 78 and 1, one line, and the same lists and log",
  ),
  async () => {
    await using place = await Workplace.make()
    const server = await place.serve()
    await server.api("POST", "/api/whitelist/perm", { ip: "192.0.2.1" })
    await server.stop()
    const before = digest(place.database)
    const bad = await place.write("bad.toml", 'listn = "127.0.0.1:1"\n')
    for (let i = 0; i < 20; i++) {
      const { code, stderr } = await place.ipgate(["serve", "--config", bad])
      expect([code, stderr.includes("listn")]).toEqual([78, true])
    }
    expect(digest(place.database)).toBe(before)
    await using other = await Workplace.make()
    const { url } = await other.serve()
    for (let i = 0; i < 20; i++) {
      const { code, stderr } = await place.ipgate(["serve", "--listen", url.replace("http://", "")])
      expect([code, stderr.includes(url.replace("http://", ""))]).toEqual([1, true])
    }
    const next = await place.serve()
    expect((await next.audit()).map(({ action, ip }) => [action, ip])).toEqual([["add_perm", "192.0.2.1"]])
    expect(await next.decision("192.0.2.1")).toBe(204)
  },
)

test(
  fault(
    "D-23",
    "twenty servers are started on one file at once",
    "one of them serves, the others name the cause and exit with 5",
  ),
  async () => {
    await using place = await Workplace.make()
    const servers: ServerProcess[] = []
    const refusals: string[] = []
    await Promise.all(
      Array.from({ length: rounds(8, 20) }, () =>
        place.serve().then(
          (server) => servers.push(server),
          (error) => refusals.push(String(error)),
        ),
      ),
    )
    expect([servers.length, refusals.length]).toEqual([1, rounds(8, 20) - 1])
    for (const refusal of refusals)
      expect(refusal).toMatch(/ended with 5:\n[\s\S]*another process holds the database/)
    expect((await servers[0]?.api("POST", "/api/whitelist/perm", { ip: "192.0.2.1" }))?.status).toBe(204)
  },
)
