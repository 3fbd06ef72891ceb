// Loads the store with its native driver, which is unpacked into the temporary directory and can fail there.

import { openFailure } from "./failures.ts"

/** Rejects with `unavailable`, and what to do, if the driver cannot be loaded. */
export async function loadDriver(): Promise<typeof import("./libsql-store.ts")> {
  try {
    return await import("./libsql-store.ts")
  } catch (cause) {
    throw openFailure("", cause)
  }
}
