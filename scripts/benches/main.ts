// The bench: measures everything side by side in one run, and fails only if an answer is wrong.

import { join } from "node:path"
import { parseArgs } from "node:util"
import { builtBinary } from "../../test/support/binary.ts"
import { Lab } from "./lab.ts"
import { describeMachine } from "./machine.ts"
import { FULL, QUICK } from "./plan.ts"
import { findPrograms } from "./programs.ts"
import { print, Report } from "./report.ts"
import { measureAuth } from "./sections/auth.ts"
import { measureBulk } from "./sections/bulk.ts"
import { measureCommands } from "./sections/commands.ts"
import { measureIndex } from "./sections/index.ts"
import { measureRefused } from "./sections/refused.ts"
import { measureStall } from "./sections/stall.ts"
import { measureStart } from "./sections/start.ts"
import { measureWrites } from "./sections/writes.ts"

const SECTIONS = {
  bulk: measureBulk,
  start: measureStart,
  auth: measureAuth,
  index: measureIndex,
  refused: measureRefused,
  stall: measureStall,
  writes: measureWrites,
  commands: measureCommands,
} as const

const USAGE = `Usage: scripts/bench [--quick] [--only SECTION,...]

  --quick   tiny sizes, under a minute: are the answers right?
  --only    some sections: ${Object.keys(SECTIONS).join(", ")}

A full run takes up to 15 minutes and writes scripts/benches/latest.json and latest.md.
Leave the machine alone meanwhile.`

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: Object.keys(SECTIONS).join(",") },
    help: { type: "boolean", short: "h", default: false },
  },
})
const chosen = values.only.split(",")
const unknown = chosen.find((name) => !Object.hasOwn(SECTIONS, name))
if (values.help || unknown !== undefined) {
  print(unknown === undefined ? USAGE : `scripts/bench: there is no section ${unknown}\n\n${USAGE}`)
  process.exit(unknown === undefined ? 0 : 2)
}

builtBinary()
const { programs, leftOut } = findPrograms()
await using lab = await Lab.open(values.quick ? QUICK : FULL, programs)
const report = new Report(describeMachine(lab), values.quick)
for (const what of leftOut) report.leaveOut(what)
for (const [name, measure] of Object.entries(SECTIONS)) {
  if (chosen.includes(name)) await measure(lab, report)
}
print(`\n${report.summary()}`)
// A part of the figures must not take the place of all of them.
if (!values.quick && chosen.length === Object.keys(SECTIONS).length) {
  await Bun.write(join(import.meta.dir, "latest.json"), report.json())
  await Bun.write(join(import.meta.dir, "latest.md"), report.markdown())
}
process.exitCode = report.right ? 0 : 1
