// What a large import of temporary entries takes of the memory that the unit of the package allows.

import { expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { TOKEN, Workplace } from "../support/binary.ts"

setDefaultTimeout(120_000)

const ENTRIES = 400_000
/** Mebibytes. It takes 230; with an object for each line it took 500. */
const MOST = 350

test("an import of temporary entries keeps no object for each line", async () => {
  await using place = await Workplace.make()
  const server = await place.serve()
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const lines = Array.from(
    { length: ENTRIES },
    (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}\t${until}\n`,
  )
  const answer = await fetch(`${server.url}/api/whitelist/import`, {
    method: "POST",
    headers: { Authorization: `Bearer ${TOKEN}` },
    body: lines.join(""),
  })
  expect(await answer.json()).toMatchObject({ added: ENTRIES })
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8")
  const peak = Number(/^VmHWM:\s+([0-9]+) kB$/m.exec(status)?.[1]) / 1024
  expect(peak).toBeGreaterThan(0)
  expect(peak).toBeLessThan(MOST)
  expect(await server.stop()).toBe(0)
})
