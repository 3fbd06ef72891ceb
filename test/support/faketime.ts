// A wall clock that a test sets for a process of its own, by libfaketime.

import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const LIBRARIES = "/usr/lib"

/** The library, or `null` if it is not installed (`apt-get install faketime`). */
export const LIBFAKETIME: string | null = find()

/** The clock of one or more processes. It goes on from where it is set, and the monotonic clock stays the real one. */
export class SteppedClock {
  constructor(private readonly path: string) {
    this.step(0)
  }

  /** For the environment of a process. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: LIBFAKETIME ?? "",
      FAKETIME_TIMESTAMP_FILE: this.path,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
    }
  }

  /** Sets the clock so many seconds beside the real one, at once for every process. */
  step(seconds: number): void {
    // A file that is half written would be read as no step at all.
    writeFileSync(`${this.path}.new`, `${seconds < 0 ? "-" : "+"}${Math.abs(seconds)}\n`)
    renameSync(`${this.path}.new`, this.path)
  }
}

function find(): string | null {
  const directories = ["", ...readdirSync(LIBRARIES).filter((name) => name.includes("-linux-"))]
  const paths = directories.map((name) => join(LIBRARIES, name, "faketime/libfaketimeMT.so.1"))
  return paths.find((path) => existsSync(path)) ?? null
}
