// The bench: measures everything side by side in one run, and fails only if an answer is wrong.

import { parseArgs } from "node:util"
import { builtBinary } from "../../test/support/binary.ts"
import { Lab } from "./lab.ts"
import { whyNotLatest, writeLatest } from "./latest.ts"
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

A full run takes up to 15 minutes and writes scripts/benches/latest.json and latest.md, if nothing had to be left out and
every answer was right.
Leave the machine alone meanwhile.`

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: Object.keys(SECTIONS).join(",") },
    help: { type: "boolean", short: "h", default: false },
  },
})
const chosen = new Set(values.only.split(","))
const unknown = [...chosen].find((name) => !Object.hasOwn(SECTIONS, name))
if (values.help || unknown !== undefined) {
  print(unknown === undefined ? USAGE : `scripts/bench: there is no section ${unknown}\n\n${USAGE}`)
  process.exit(unknown === undefined ? 0 : 2)
}

builtBinary()
const { programs, leftOut } = findPrograms()
await using lab = await Lab.open(values.quick ? QUICK : FULL, programs)
const report = new Report(describeMachine(lab), lab.plan)
for (const what of leftOut) report.leaveOut(what)
if (programs.taskset !== null && !lab.cores.pinned) report.leaveOut("one core: server and load share it")
for (const [name, measure] of Object.entries(SECTIONS)) {
  if (chosen.has(name)) await measure(lab, report)
}
print(`\n${report.summary()}`)
const findings = report.findings()
const missing = Object.keys(SECTIONS).filter((name) => !chosen.has(name))
const why = whyNotLatest(findings, missing)
if (why === null) await writeLatest(findings)
else print(`latest.json and latest.md stay as they were: ${why}`)
process.exitCode = findings.wrong.length === 0 ? 0 : 1
