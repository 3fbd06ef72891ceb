// A server that the system gives no more memory, in the middle of a change that needs much of it.

import { expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Workplace } from "../support/binary.ts"
import { fault } from "./fault.ts"
import { rounds } from "./rounds.ts"
import { tally } from "./tally.ts"

setDefaultTimeout(300_000)

const MEBIBYTE = 1 << 20
const IMPORTED = 200_000
/** Mebibytes that the server may take besides what it has. */
const ALLOWED = [1, -64, 6, 0, 3, 12, 24]

/** Bytes of memory of its own that a process has been given. */
function memoryOf(pid: number): number {
  const [, kibibytes] = /^VmData:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
  return Number(kibibytes) * 1024
}

test(
  fault(
    "P-07",
    "the system refuses a server more memory while it imports many entries and others change single ones",
    "it dies or refuses, lets nobody in by it, and the next start has what was acknowledged and a whole import or none",
  ),
  async () => {
    await using place = await Workplace.make()
    const acknowledged = new Set<string>()
    let imports = 0
    let refused = 0
    for (let round = 0; round < rounds(3, 24); round++) {
      const many = Array.from(
        { length: IMPORTED },
        (_, i) => `${11 + round}.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
      )
      const file = await place.write("many.txt", `${many.join("\n")}\n`)
      const server = await place.serve()
      // From less than it has, so that it gets nothing more, to what is almost enough.
      const limit = memoryOf(server.pid) + (ALLOWED[round % ALLOWED.length] ?? 0) * MEBIBYTE
      const { code } = await place.run(["prlimit", "--pid", String(server.pid), `--data=${limit}`])
      expect(code).toBe(0)
      const importing = server.ipgate("import", file)
      for (let i = 0; i < 40; i++) {
        const ip = `192.0.${round}.${i}`
        try {
          const answer = await server.api("POST", "/api/whitelist/perm", { ip })
          if (answer.status === 204) acknowledged.add(ip)
          expect(await server.decision("203.0.113.1")).not.toBe(204)
        } catch (cause) {
          // Refused or broken off: it has died.
          if (!(cause instanceof Error) || !("code" in cause)) throw cause
          break
        }
      }
      const wasImported = (await importing).code === 0
      if (!wasImported) refused++
      await server.kill()
      tally("crashCycles", 1)

      const next = await place.serve()
      const lost: string[] = []
      for (const ip of acknowledged) if ((await next.decision(ip)) !== 204) lost.push(ip)
      tally("lost", lost.length)
      expect(lost).toEqual([])
      const [first, last] = await Promise.all(
        [many.at(0), many.at(-1)].map((ip) => next.decision(String(ip))),
      )
      expect([round, last]).toEqual([round, first as number])
      if (wasImported) expect(first).toBe(204)
      if (first === 204) imports++
      const { perm_whitelist_count: count } = await next.read<{ perm_whitelist_count: number }>("/status")
      // Besides, only what had no answer.
      const besides = count - imports * IMPORTED - acknowledged.size
      expect([round, besides >= 0 && besides <= round + 1]).toEqual([round, true])
      expect(await next.stop()).toBe(0)
    }
    expect(refused).toBeGreaterThan(0)
  },
)

test(
  fault(
    "P-07",
    "the driver gets the memory for a text, and SQLite is refused its own copy, which the driver does not tell",
    "an error, and not a change of nothing that is told to be done",
  ),
  async () => {
    await using place = await Workplace.make()
    const script = join(import.meta.dir, "insert-without-memory.ts")
    const told: string[] = []
    // Copies of the text: with two the driver has its own.
    for (const copies of [2, 2.25, 2.5, 2.75, 3]) {
      const { stdout } = await place.run([process.execPath, script, String(copies)])
      told.push(stdout.trim())
    }
    expect(told).toContain("SQLITE_TOOBIG")
    expect(told).not.toContain("inserted 0")
  },
)
