// The machine in a few lines, for the head of the terminal and of the page.

import type { Machine } from "./machine.ts"

export function machineText(machine: Machine): string[] {
  const { cpu, cores, kernel, memory, disk, pinned, versions, allocator, sources } = machine
  return [
    `${cpu}, ${cores} cores, ${memory} MiB of memory, Linux ${kernel}, files on ${disk}`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
    `the sources are ${sources}`,
    pinned
      ? "the server on core 0, the load on core 1"
      : "server and load are NOT on cores of their own: the figures say little",
    ...Object.entries(allocator).map(
      ([name, value]) => `every server with ${name}=${value}, as in the shipped unit`,
    ),
  ]
}
