// The prober as a process: what belongs to a window, and that it ends when nobody is left to ask it.

import { afterEach, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Lines } from "../../scripts/benches/lines.ts"
import type { Window } from "../../scripts/benches/prober.ts"

const PROBER = join(import.meta.dir, "../../scripts/benches/prober.ts")
const ended: Array<() => Promise<void> | void> = []

afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

/** A gate that lets everybody in until it is told to hold its answers, and answers those with 500 when it lets them go. */
function stallingGate() {
  let release: PromiseWithResolvers<void> | null = null
  let enough = Promise.withResolvers<void>()
  let lacking = 0
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async () => {
      if (release === null) return new Response(null, { status: 204 })
      if (--lacking === 0) enough.resolve()
      await release.promise
      return new Response(null, { status: 500 })
    },
  })
  ended.push(() => server.stop(true))
  return {
    port: server.port,
    /** Resolves when so many more requests are held. */
    hold: (count: number) => {
      release ??= Promise.withResolvers()
      enough = Promise.withResolvers()
      lacking = count
      return enough.promise
    },
    release: () => {
      release?.resolve()
      release = null
    },
  }
}

async function startProber(port: number | undefined, patience: number) {
  const directory = mkdtempSync(join(tmpdir(), "ipgate-prober-"))
  ended.push(() => rmSync(directory, { recursive: true }))
  const clients = join(directory, "clients.txt")
  await Bun.write(clients, "in 192.0.2.1\n")
  const options = { hostname: "127.0.0.1", port, perSecond: 200, connections: 400, clients, patience }
  const child = Bun.spawn([process.execPath, PROBER, JSON.stringify(options)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  })
  ended.push(async () => {
    child.kill("SIGKILL")
    await child.exited
  })
  const lines = new Lines(child, "the prober")
  expect(await lines.next()).toBe("ready")
  const tell = (line: string) => {
    child.stdin.write(`${line}\n`)
    child.stdin.flush()
  }
  const told = async () => JSON.parse(await lines.next()) as Window
  return { child, tell, told }
}

test("requests that a server holds at the end of a window are that window's, and not the next one's", async () => {
  const gate = stallingGate()
  const { tell, told } = await startProber(gate.port, 100)
  tell("begin")
  await gate.hold(1)
  tell("end")
  const stalled = await told()
  expect(stalled.unanswered).toBeGreaterThan(0)

  tell("begin")
  gate.release()
  tell("end")
  const next = await told()
  // Those that were held are answered meanwhile, and wrongly; none of them was due in this window.
  expect({ wrong: next.wrong, unanswered: next.unanswered }).toEqual({ wrong: 0, unanswered: 0 })
})

test("a window waits for its last answers, and judges them", async () => {
  const gate = stallingGate()
  const { tell, told } = await startProber(gate.port, 20_000)
  tell("begin")
  await gate.hold(1)
  tell("end")
  const window = told()
  // By then it has long read that line, and would have told.
  await gate.hold(50)
  gate.release()
  const { wrong, unanswered } = await window
  expect(wrong).toBeGreaterThan(0)
  expect(unanswered).toBe(0)
})

test("when its input ends, so does the prober: it would turn its core to nobody's good", async () => {
  const { child } = await startProber(stallingGate().port, 100)
  child.stdin.end()
  expect(await child.exited).toBe(0)
})
