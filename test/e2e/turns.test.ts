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
  const [own = "", database = ""] = of("sched_setattr")
  expect(of("sched_setattr")).toHaveLength(2)
  expect(own).toMatch(
    new RegExp(`SCHED_OTHER.*RESET_ON_FORK.*sched_nice=${nice},.*sched_runtime=100000.* = 0$`),
  )
  expect(database).toMatch(
    new RegExp(`SCHED_BATCH.*sched_flags=0,.*sched_nice=${Math.min(nice + 10, 19)},.* = 0$`),
  )
  const threadOf = (line: string) => line.split(" ")[0]
  expect(threadOf(own)).toBe(String(server.pid))
  expect(threadOf(database)).not.toBe(threadOf(own))
  expect(of("setpriority")).toEqual([])
})

test("where the short way is forbidden, the thread of the database has at least a lower priority", async () => {
  await using place = await Workplace.make()
  const calls = place.path("calls")
  const server = await place.serve([], {
    prefix: [
      ...["strace", "-D", "-f", "-qq", "-o", calls, "-e", "trace=sched_setattr,setpriority"],
      ...["-e", "inject=sched_setattr:error=EPERM"],
    ],
  })
  expect(await server.decision("192.0.2.1")).toBe(401)
  expect(await server.stop()).toBe(0)
  const lines = readFileSync(calls, "utf8").split("\n")
  const lowered = lines.filter((line) => line.includes("setpriority("))
  expect(lowered).toHaveLength(1)
  expect(lowered[0]?.split(" ")[0]).not.toBe(String(server.pid))
  expect(lowered[0]).toMatch(
    new RegExp(`^[0-9]+ +setpriority\\(PRIO_PROCESS, 0, ${Math.min(getPriority() + 10, 19)}\\) += 0$`),
  )
})
