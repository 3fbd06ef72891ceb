// The standard metrics of a process, from /proc. The library's own set leans on what this runtime does not have.

import { readdirSync, readFileSync } from "node:fs"
import { Counter, Gauge, type Registry } from "@prometheus-io/client"

/** `startedAt` is when the process began, in milliseconds since 1970. */
export function registerProcessMetrics(registry: Registry, startedAt: number): void {
  const registers = [registry]
  new Gauge({
    name: "process_start_time_seconds",
    help: "Start time of the process since unix epoch in seconds",
    registers,
  }).set(startedAt / 1000)
  new Counter({
    name: "process_cpu_seconds_total",
    help: "Total user and system CPU time spent in seconds",
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes",
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  new Gauge({
    name: "process_open_fds",
    help: "Number of open file descriptors",
    registers,
    collect() {
      this.set(readdirSync("/proc/self/fd").length)
    },
  })
  const limit = /^Max open files +([0-9]+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]
  if (limit !== undefined) {
    new Gauge({
      name: "process_max_fds",
      help: "Maximum number of open file descriptors",
      registers,
    }).set(Number(limit))
  }
}
