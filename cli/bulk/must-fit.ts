// Whether the entries of a file are few enough for one import into a server.

import { LARGEST_IMPORT } from "../../src/wire/largest-import.ts"
import { UsageError } from "../exit.ts"

const MEBIBYTE = 1024 * 1024

/** Throws what the server would say in the end, before anything is sent and for a dry run too. `size` is in bytes. */
export function mustFit(size: number, name: string, { isPruning }: { readonly isPruning: boolean }): void {
  if (size <= LARGEST_IMPORT) return
  const mebibytes = (Math.ceil((size / MEBIBYTE) * 10) / 10).toFixed(1)
  throw new UsageError(
    `the entries of ${name} are ${mebibytes} MiB for the server, which takes ${LARGEST_IMPORT / MEBIBYTE} MiB at once: nothing was changed`,
    isPruning
      ? "stop the server and add --offline; --prune with a part of the file would remove the other parts"
      : "split the file, or stop the server and add --offline",
  )
}
