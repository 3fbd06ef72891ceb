// Who goes first where all threads of the server share one processor: the calls that the kernel gets.

import { expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { getPriority } from "node:os"
import { Workplace } from "../support/binary.ts"

setDefaultTimeout(60_000)

test("the thread that decides has short slices, and the one of the database gives way to it", async () => {
  await using place = await Workplace.make()
  const calls = place.path("calls")
  const server = await place.serve([], {
    prefix: ["strace", "-D", "-f", "-qq", "-o", calls, "-e", "trace=sched_setattr,setpriority"],
  })
  expect(await server.stop()).toBe(0)
  const lines = readFileSync(calls, "utf8").split("\n")
  const of = (name: string) => lines.filter((line) => line.includes(`${name}(`))
  const nice = getPriority()
  expect(of("sched_setattr")).toHaveLength(1)
  expect(of("sched_setattr")[0]).toMatch(
    new RegExp(`SCHED_OTHER.*RESET_ON_FORK.*sched_nice=${nice},.*sched_runtime=100000.* = 0$`),
  )
  expect(of("setpriority")).toHaveLength(1)
  expect(of("setpriority")[0]).toMatch(
    new RegExp(`^([0-9]+) +setpriority\\(PRIO_PROCESS, \\1, ${Math.min(nice + 10, 19)}\\) = 0$`),
  )
})
