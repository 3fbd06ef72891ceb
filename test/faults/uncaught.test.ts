// An error that nobody caught: nobody knows what state the process is in, so it says so, ends, and loses nothing.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { Workplace } from "../support/binary.ts"
import { fault } from "./fault.ts"

setDefaultTimeout(60_000)

const MAIN = join(import.meta.dir, "../../cli/main.ts")

const FAULTS: ReadonlyArray<readonly [what: string, source: string]> = [
  ["a timer throws", 'setTimeout(() => { throw new Error("out of nowhere") })'],
  ["a promise is rejected", 'void Promise.reject(new Error("out of nowhere"))'],
  ["what is thrown is no error", "setTimeout(() => { throw undefined })"],
]

/** The program from its source, with a part before it that breaks down at SIGUSR2: a release takes no such part. */
async function breaking(place: Workplace, source: string): Promise<string> {
  await place.write("break.ts", `process.on("SIGUSR2", () => { ${source} })\n`)
  const script = `#!/bin/sh\nexec '${process.execPath}' --preload '${place.path("break.ts")}' '${MAIN}' "$@"\n`
  await place.write("ipgate", script, 0o755)
  return place.path("ipgate")
}

describe(
  fault(
    "P-06",
    "a timer or a promise breaks down inside of a server that has just acknowledged a change",
    "logged, exit 1, and the next server has the change",
  ),
  () => {
    test.each(FAULTS)("%s", async (_, source) => {
      await using place = await Workplace.make()
      const server = await place.serve([], { binary: await breaking(place, source) })
      expect((await server.api("POST", "/api/whitelist/perm", { ip: "192.0.2.1" })).status).toBe(204)

      server.signal("SIGUSR2")
      expect(await server.exited).toBe(1)
      expect(server.log()).toContain("an error that nobody has caught: stopping")

      const next = await place.serve()
      expect(await next.decision("192.0.2.1")).toBe(204)
      expect((await next.audit()).map(({ action, ip }) => [action, ip])).toEqual([["add_perm", "192.0.2.1"]])
      expect(await next.stop()).toBe(0)
    })
  },
)
