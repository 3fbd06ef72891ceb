// What is done to a server while clients are at work.

import { constants } from "node:os"
import type { ServerProcess } from "../../support/binary.ts"
import { type SystemFault, withSystemFault } from "../system-fault.ts"

/** A fault that passes, while the process goes on. */
export type Passing = "none" | "stopped" | "fsync fails" | "disk is full" | "writes fail"

export const PASSING: readonly Passing[] = [
  "none",
  "none",
  "stopped",
  "fsync fails",
  "disk is full",
  "writes fail",
]

const SYSTEM: Partial<Record<Passing, SystemFault>> = {
  "fsync fails": { calls: "fsync,fdatasync", error: "EIO" },
  "disk is full": { calls: "pwrite64", error: "ENOSPC" },
  "writes fail": { calls: "pwrite64,ftruncate", error: "EIO" },
}

/** Applies a fault for so many milliseconds. */
export async function pass(
  fault: Passing,
  server: ServerProcess,
  database: string,
  milliseconds: number,
): Promise<void> {
  const system = SYSTEM[fault]
  if (system !== undefined) {
    await withSystemFault(server.pid, database, system, () => Bun.sleep(milliseconds))
  } else if (fault === "stopped") {
    process.kill(server.pid, constants.signals.SIGSTOP)
    await Bun.sleep(milliseconds)
    process.kill(server.pid, constants.signals.SIGCONT)
  } else {
    await Bun.sleep(milliseconds)
  }
}
