// Which runs of the bench may replace the figures of the last one, and what a reader finds in those.

import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { compactJson } from "../../scripts/benches/compact-json.ts"
import { whyNotLatest } from "../../scripts/benches/latest.ts"
import type { Machine } from "../../scripts/benches/machine.ts"
import { markdown } from "../../scripts/benches/markdown.ts"
import { FULL, QUICK } from "../../scripts/benches/plan.ts"
import type { Findings } from "../../scripts/benches/report.ts"

const BENCHES = join(import.meta.dir, "../../scripts/benches")
const WHOLE: Findings = {
  date: "2026-11-23T10:00:00.000Z",
  machine: { versions: {}, allocator: {} } as Machine,
  plan: FULL,
  seconds: 733,
  targets: [],
  tables: [],
  rounds: {},
  leftOut: [],
  wrong: [],
}

test("a whole run may, and no other one", () => {
  expect(whyNotLatest(WHOLE, [])).toBeNull()
  expect(whyNotLatest({ ...WHOLE, plan: QUICK }, [])).toContain("quick")
  expect(whyNotLatest(WHOLE, ["auth", "stall"])).toContain("auth, stall did not")
  expect(whyNotLatest({ ...WHOLE, leftOut: ["wrk is missing"] }, [])).toContain("wrk is missing")
  expect(whyNotLatest({ ...WHOLE, wrong: ["one", "two"] }, [])).toContain("2 were wrong")
})

test("one section, as often named as there are sections, is not a whole run", async () => {
  const files = ["latest.json", "latest.md"].map((name) => join(BENCHES, name))
  const before = files.map((file) => readFileSync(file, "utf8"))
  const names = new Array<string>(8).fill("refused").join(",")
  const child = Bun.spawn([process.execPath, join(BENCHES, "main.ts"), "--only", names], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  })
  const stdout = await new Response(child.stdout).text()
  const after = files.map((file) => readFileSync(file, "utf8"))
  if (after.join() !== before.join())
    await Promise.all(files.map((file, i) => Bun.write(file, before[i] ?? "")))
  expect(after).toEqual(before)
  expect(stdout).toContain("latest.json and latest.md stay as they were: ")
}, 60_000)

test("the page names wrong answers", () => {
  expect(markdown(WHOLE)).not.toContain("wrong")
  expect(markdown({ ...WHOLE, wrong: ["bare Bun.serve: no request was answered"] })).toContain(
    "- bare Bun.serve: no request was answered",
  )
})

test("what the bench keeps is the same after it was written, but for digits that no clock has", () => {
  const figures = { name: "a", none: null, list: [], long: Array.from({ length: 99 }, (_, i) => i * 1000) }
  const kept = { ...figures, rows: [figures, figures], nested: { figures } }
  expect(JSON.parse(compactJson(kept))).toEqual(kept)
  expect(JSON.parse(compactJson({ seconds: 8.288182161, entries: 1234567 }))).toEqual({
    seconds: 8.28818,
    entries: 1234567,
  })
})
