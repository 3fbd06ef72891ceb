// What is sent to the service manager, word for word, and how often.

import { expect, test } from "bun:test"
import { passesSockets, ServiceManager, watchdogInterval } from "../../src/systemd/service-manager.ts"

function recorded(): { manager: ServiceManager; sent: string[] } {
  const sent: string[] = []
  const manager = new ServiceManager({ send: (lines) => sent.push(lines), monotonicMicroseconds: () => null })
  return { manager, sent }
}

test("three signs of life come in the time that the manager waits for one", () => {
  expect(watchdogInterval({ WATCHDOG_USEC: "30000000" }, 7)).toBe(10_000)
  expect(watchdogInterval({ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "7" }, 7)).toBe(10_000)
  expect(watchdogInterval({ WATCHDOG_USEC: "1" }, 7)).toBe(1)
})

test.each([
  {},
  { WATCHDOG_USEC: "0" },
  { WATCHDOG_USEC: "-1" },
  { WATCHDOG_USEC: "" },
  { WATCHDOG_USEC: "30000000", WATCHDOG_PID: "8" },
])("none are wanted by %j", (environment) => {
  expect(watchdogInterval(environment, 7)).toBeNull()
})

test("sockets are meant for the process that is named, or for whoever is started", () => {
  expect(passesSockets({ LISTEN_FDS: "1" }, 7)).toBe(true)
  expect(passesSockets({ LISTEN_FDS: "1", LISTEN_PID: "7" }, 7)).toBe(true)
  expect(passesSockets({ LISTEN_FDS: "1", LISTEN_PID: "8" }, 7)).toBe(false)
  expect(passesSockets({ LISTEN_FDS: "0", LISTEN_PID: "7" }, 7)).toBe(false)
  expect(passesSockets({}, 7)).toBe(false)
})

test("a status of several lines is one, and adds no field", () => {
  const { manager, sent } = recorded()
  manager.ready("the last reload failed: a\nSTOPPING=1\r\n\tb")
  expect(sent).toEqual(["READY=1\nSTATUS=the last reload failed: a STOPPING=1 b"])
})

test("a reload is told without its time where nobody knows that", () => {
  const { manager, sent } = recorded()
  manager.reloading()
  expect(sent).toEqual(["RELOADING=1\nSTATUS=reloading"])
})

test("the first sign of life comes at once, and each has the status of its moment", async () => {
  const { manager, sent } = recorded()
  let asked = 0
  manager.keepAlive(1, () => `${++asked} permanent`)
  expect(sent).toEqual(["WATCHDOG=1\nSTATUS=1 permanent"])
  while (sent.length < 3) await Bun.sleep(1)
  manager.leave()
  expect(sent.slice(0, 3)).toEqual([1, 2, 3].map((n) => `WATCHDOG=1\nSTATUS=${n} permanent`))
})
