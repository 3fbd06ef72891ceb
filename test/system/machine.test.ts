// A test that is killed leaves nothing behind: no process, no control group, no mount of the machine that it had booted.

import { expect, setDefaultTimeout, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { debianTree, MISSING_FOR_SYSTEM } from "./debian-tree.ts"

setDefaultTimeout(300_000)

const HOLD = `
import { Machine } from "${join(import.meta.dir, "machine.ts")}"
await Machine.boot(process.argv.at(-1) ?? "")
console.log("up")
setInterval(() => {}, 1000)
`

test.skipIf(MISSING_FOR_SYSTEM.length > 0)("a machine ends with the process that has booted it", async () => {
  const before = groups()
  const child = Bun.spawn([process.execPath, "-e", HOLD, await debianTree()], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  })
  const { value } = await child.stdout.getReader().read()
  expect(new TextDecoder().decode(value)).toBe("up\n")
  const running = descendants(child.pid)
  expect(running.map(nameOf)).toContain("systemd-journal")
  expect(groups().length).toBe(before.length + 1)

  child.kill("SIGKILL")
  await child.exited
  const deadline = performance.now() + 30_000
  const left = () => [...running.map(nameOf).filter((name) => name !== ""), ...groups().filter(isNew)]
  const isNew = (name: string) => !before.includes(name)
  while (left().length > 0 && performance.now() < deadline) await Bun.sleep(50)
  expect(left()).toEqual([])
  expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain("ipgate-machine")
})

/** The control groups of machines, wherever the host has the unified hierarchy. */
function groups(): string[] {
  return ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].flatMap((directory) => {
    try {
      return readdirSync(directory).filter((name) => name.startsWith("ipgate-machine."))
    } catch {
      return []
    }
  })
}

function descendants(pid: number): number[] {
  const children = readText(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number)
  return children.flatMap((child) => [child, ...descendants(child)])
}

function nameOf(pid: number): string {
  return readText(`/proc/${pid}/comm`).trim()
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
