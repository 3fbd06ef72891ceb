// The quick form of the bench: every answer right, and nothing left behind. How long anything took is not asked.

import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

setDefaultTimeout(180_000)

const MAIN = join(import.meta.dir, "../../scripts/benches/main.ts")

/** Runs the bench with a directory of its own for temporary files. */
async function bench(...args: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), "ipgate-bench-"))
  try {
    const child = Bun.spawn([process.execPath, MAIN, ...args], {
      env: { ...process.env, TMPDIR: directory },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { code: await child.exited, stdout, stderr, left: readdirSync(directory) }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

test("the quick form finds every answer right, and removes what it made", async () => {
  const { code, stdout, stderr, left } = await bench("--quick")
  expect(stdout.split("\n").filter((line) => line.startsWith("WRONG"))).toEqual([])
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  expect(stdout).toContain("; 0 wrong answers; ")
  expect(left).toEqual([])
})

test("a section that does not exist is refused, with the names of those that do", async () => {
  const { code, stdout } = await bench("--quick", "--only", "auth,nothing")
  expect(code).toBe(2)
  expect(stdout).toContain("there is no section nothing")
  expect(stdout).toContain("bulk, start, auth, index, refused, stall, writes, commands")
})
