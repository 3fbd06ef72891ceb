// What the bench says of a process that has let it down: how it ended, and its last words.

import { expect, test } from "bun:test"
import { fate, mortal } from "../../scripts/benches/fate.ts"
import { cpuSeconds } from "../../scripts/benches/process-figures.ts"

function run(script: string) {
  const child = Bun.spawn(["sh", "-c", script], { stdin: "pipe", stdout: "ignore", stderr: "pipe" })
  return { child, ofIt: mortal(child) }
}

test("one that has ended: its code or its signal, and what it said", async () => {
  const { ofIt } = run("echo the disk is full >&2; exit 3")
  expect(await fate(ofIt)).toBe("it ended with 3 and said:\nthe disk is full")
  // Two rows of a table may be about one process.
  expect(await fate(ofIt)).toContain("the disk is full")
  expect(await fate(run("kill -9 $$").ofIt)).toBe("it ended with 137 and said nothing")
})

test("one that runs has said nothing yet, and is not waited for", async () => {
  const { child, ofIt } = run("read line")
  expect(await fate(ofIt)).toBe("it still runs")
  child.stdin.end()
  await child.exited
  expect(() => cpuSeconds(child.pid)).toThrow(`process ${child.pid} has ended`)
})
