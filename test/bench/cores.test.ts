// Where the bench runs, and what it starts: on the core of the load, but for commands that have the whole machine.

import { expect, test } from "bun:test"
import { join } from "node:path"

const BENCHES = join(import.meta.dir, "../../scripts/benches")

/** In a process of its own, which it moves. */
const SCRIPT = `
  const { allowedCores, Cores } = await import("${BENCHES}/cores.ts")
  const { findPrograms } = await import("${BENCHES}/programs.ts")
  const own = () => Bun.spawnSync(["grep", "Cpus_allowed_list", "/proc/self/status"]).stdout.toString()
  const cores = new Cores(findPrograms().programs)
  const atFirst = own()
  cores.moveHere()
  const moved = own()
  cores.moveEverywhere()
  console.log(JSON.stringify({ pinned: cores.pinned, atFirst, moved, everywhere: own(), named: allowedCores() }))
`

test("what is started has one core, and all of them again when the bench has moved everywhere", async () => {
  const child = Bun.spawn([process.execPath, "-e", SCRIPT], { stdin: "ignore", stdout: "pipe" })
  const { pinned, atFirst, moved, everywhere, named } = JSON.parse(await new Response(child.stdout).text())
  expect(everywhere).toBe(atFirst)
  expect(atFirst).toContain(named)
  expect(moved === atFirst).toBe(!pinned)
})
