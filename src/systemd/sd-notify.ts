// The way to systemd: sd_notify(3) of libsystemd, which knows every form of $NOTIFY_SOCKET. Bun has no datagram unix sockets.

import { dlopen } from "bun:ffi"
import type { Notify } from "./service-manager.ts"

const CLOCK_MONOTONIC = 1

/** Says what is wrong if the library is not there, as on a system without systemd. */
export function openSystemd(): Notify | { readonly problem: string } {
  try {
    const { symbols } = dlopen("libsystemd.so.0", { sd_notify: { args: ["i32", "ptr"], returns: "i32" } })
    return {
      // The variable stays as it is, because more will be sent.
      send: (lines) => void symbols.sd_notify(0, Buffer.from(`${lines}\0`)),
      monotonicMicroseconds,
    }
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : String(cause) }
  }
}

/** The clock of the whole machine, which no JavaScript clock shows: theirs begin with the process. */
function monotonicMicroseconds(): bigint | null {
  try {
    const { symbols, close } = dlopen("libc.so.6", {
      clock_gettime: { args: ["i32", "ptr"], returns: "i32" },
    })
    const time = new BigInt64Array(2)
    const failed = symbols.clock_gettime(CLOCK_MONOTONIC, time) !== 0
    close()
    const [seconds = 0n, nanoseconds = 0n] = time
    return failed ? null : seconds * 1_000_000n + nanoseconds / 1_000n
  } catch {
    return null
  }
}
