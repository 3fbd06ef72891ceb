// How long the kernel's monitor of memory accesses has run, by what /proc tells.

import { afterAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { memoryMonitor } from "../../scripts/benches/memory-monitor.ts"

const processes = mkdtempSync(join(tmpdir(), "ipgate-monitor-"))
afterAll(() => rmSync(processes, { recursive: true }))

async function process(name: string, comm: string, schedstat: string): Promise<void> {
  await Bun.write(join(processes, name, "comm"), `${comm}\n`)
  await Bun.write(join(processes, name, "schedstat"), schedstat)
}

test("the time of its threads, as it goes on, and of no other process", async () => {
  await process("77", "kdamond.0", "1500000 7 3\n")
  await process("78", "kdamond.1", "2000000 7 3\n")
  await process("79", "kworker/0:1", "9000000 7 3\n")
  await process("80", "my-kdamond.0", "9000000 7 3\n")
  await process("self", "kdamond.0", "9000000 7 3\n")
  const monitor = memoryMonitor(processes)
  expect(monitor()).toBe(3.5)
  await process("78", "kdamond.1", "42000000 7 3\n")
  expect(monitor()).toBe(43.5)
  rmSync(join(processes, "77"), { recursive: true })
  expect(monitor()).toBe(42)
})

test("none where the kernel has no such thread, or keeps no such figures", async () => {
  await process("78", "kdamond.1", "")
  expect(memoryMonitor(processes)()).toBe(0)
  rmSync(join(processes, "78"), { recursive: true })
  expect(memoryMonitor(processes)()).toBe(0)
  expect(memoryMonitor()()).toBeGreaterThanOrEqual(0)
})
