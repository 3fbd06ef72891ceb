// A bench that is told to end: nothing of it stays, however often it is told.

import { afterEach, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

setDefaultTimeout(60_000)

const MAIN = join(import.meta.dir, "../../scripts/benches/main.ts")
const ended: Array<() => Promise<void> | void> = []

afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

/** A bench whose processes are known by its directory for temporary files. Resolves when a server of it runs. */
async function runningBench() {
  const directory = mkdtempSync(join(tmpdir(), "ipgate-bench-"))
  const child = Bun.spawn([process.execPath, MAIN, "--quick", "--only", "stall"], {
    env: { ...process.env, TMPDIR: directory },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  })
  ended.push(async () => {
    child.kill("SIGKILL")
    await child.exited
    for (const pid of processesOf(directory)) process.kill(pid, "SIGKILL")
    rmSync(directory, { recursive: true, force: true })
  })
  const output = child.stdout[Symbol.asyncIterator]()
  const printed = async (text: string) => {
    const decoder = new TextDecoder()
    for (let all = ""; !all.includes(text); ) {
      const { done, value } = await output.next()
      if (done) throw new Error(`the bench ended without "${text}":\n${all}`)
      all += decoder.decode(value, { stream: true })
    }
  }
  await printed("changes a second asked for")
  return { child, directory, printed }
}

/** Those whose environment or arguments name the directory. */
function processesOf(directory: string): number[] {
  const names = (pid: string) => {
    try {
      return ["environ", "cmdline"].some((file) =>
        readFileSync(`/proc/${pid}/${file}`, "utf8").includes(directory),
      )
    } catch {
      return false
    }
  }
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && names(name))
    .map(Number)
}

test.each([
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends every process and takes the directory away", async (signal, code) => {
  const { child, directory } = await runningBench()
  expect(processesOf(directory).length).toBeGreaterThan(1)
  child.kill(signal)
  expect(await child.exited).toBe(code)
  expect(processesOf(directory)).toEqual([])
  expect(readdirSync(directory)).toEqual([])
})

test("a second Ctrl-C does not end the cleaning", async () => {
  const { child, directory, printed } = await runningBench()
  child.kill("SIGINT")
  await printed("what the bench has started is ended")
  child.kill("SIGINT")
  expect(await child.exited).toBe(130)
  expect(processesOf(directory)).toEqual([])
  expect(readdirSync(directory)).toEqual([])
})
