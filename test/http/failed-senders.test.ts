// Wrong tokens slow down who sends them, in bounded memory, and never a right one.

import { describe, expect, test } from "bun:test"
import { FailedSenders } from "../../src/http/failed-senders.ts"
import { fault } from "../faults/fault.ts"
import { FakeClock } from "../support/fake-clock.ts"
import { address } from "../support/parsed.ts"
import { runServer } from "../support/running-server.ts"

const A = address("203.0.113.7")
const refuse = () => new Response(null, { status: 401 })

const delays = (senders: FailedSenders, count: number, sender: typeof A | null = A) =>
  Array.from({ length: count }, () => senders.delayAfterFailure(sender))

describe("the delay", () => {
  test("is none for a few, and then grows to a second", () => {
    const senders = new FailedSenders(new FakeClock())
    expect(delays(senders, 13)).toEqual([0, 0, 0, 0, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000])
    expect(delays(senders, 5_000).every((delay) => delay === 1000)).toBe(true)
  })

  test("is each sender's own", () => {
    const senders = new FailedSenders(new FakeClock())
    delays(senders, 20)
    expect(delays(senders, 1, address("203.0.113.8"))).toEqual([0])
    expect(delays(senders, 1, null)).toEqual([0])
    expect(delays(senders, 1)).toEqual([1000])
  })

  test("is that of a whole /64 of IPv6, and of no more", () => {
    const senders = new FailedSenders(new FakeClock())
    for (let i = 0; i < 20; i++) senders.delayAfterFailure(address(`2001:db8::${i + 1}`))
    expect(delays(senders, 1, address("2001:db8::ffff:0:0:1"))).toEqual([1000])
    expect(delays(senders, 1, address("2001:db8:0:1::1"))).toEqual([0])
  })

  test("begins anew after a minute of peace, by the clock that nobody sets", () => {
    const clock = new FakeClock()
    const senders = new FailedSenders(clock)
    delays(senders, 20)
    clock.stepWall(3_600_000)
    expect(delays(senders, 1)).toEqual([1000])
    clock.advance(59_999)
    expect(delays(senders, 1)).toEqual([1000])
    clock.advance(60_000)
    expect(delays(senders, 1)).toEqual([0])
  })

  test("is forgotten for who failed longest ago, when there are too many senders", () => {
    const senders = new FailedSenders(new FakeClock())
    delays(senders, 20)
    delays(senders, 20, null)
    for (let i = 0; i < 1023; i++) senders.delayAfterFailure(address(`10.0.${i >> 8}.${i & 255}`))
    expect(delays(senders, 1, null)).toEqual([1000])
    expect(delays(senders, 1)).toEqual([0])
  })
})

describe("a sender that keeps on", () => {
  test("keeps its delay, however many others come and go meanwhile", () => {
    const senders = new FailedSenders(new FakeClock())
    delays(senders, 20)
    for (let i = 0; i < 2_048; i++) {
      senders.delayAfterFailure(address(`10.0.${i >> 8}.${i & 255}`))
      if (i % 512 === 511) expect(delays(senders, 1)).toEqual([1000])
    }
  })
})

describe("the answer", () => {
  test("is held for as long, and only so many at once", async () => {
    const waiting: Array<{ milliseconds: number; wake: () => void }> = []
    const sleep = (milliseconds: number) => new Promise<void>((wake) => waiting.push({ milliseconds, wake }))
    const senders = new FailedSenders(new FakeClock(), sleep)
    for (let i = 0; i < 4; i++) expect(senders.answer(A, refuse)).toBeInstanceOf(Response)
    const held = Array.from({ length: 128 }, () => senders.answer(A, refuse))
    expect(held.every((answer) => answer instanceof Promise)).toBe(true)
    expect([waiting.length, waiting[0]?.milliseconds, waiting.at(-1)?.milliseconds]).toEqual([128, 16, 1000])
    // On top of those: at once, and nothing is kept.
    for (let i = 0; i < 10_000; i++) expect(senders.answer(A, refuse)).toBeInstanceOf(Response)
    expect(waiting.length).toBe(128)
    waiting[0]?.wake()
    expect(((await held[0]) as Response).status).toBe(401)
    expect(senders.answer(A, refuse)).toBeInstanceOf(Promise)
  })
})

test(fault(
  "B-12",
  "10,000 wrong tokens, and a right one from the same address in the middle and after them",
  "401 each, later and later; 204 at once for the right one",
), async () => {
  const server = await runServer()
  try {
    const wrong = () => server.request("GET", "/api/logs", { headers: { Authorization: "Bearer wrong" } })
    const statuses = new Map<number, number>()
    let left = 10_000
    const flood = Array.from({ length: 250 }, async () => {
      while (left-- > 0) {
        const { status } = await wrong()
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    })
    // In the middle of it: those that are held must not hold this one.
    const right = async () =>
      (await server.api("POST", "/api/whitelist/temp", { ip: "192.0.2.1", ttl_seconds: 60 })).status
    await wrong()
    expect(await right()).toBe(204)
    await Promise.all(flood)
    expect([...statuses]).toEqual([[401, 10_000]])
    const [slow, quick] = [wrong().then(() => "wrong"), right().then(String)]
    expect(await Promise.race([slow, quick])).toBe("204")
    expect(await slow).toBe("wrong")
    // Whoever shows no token guesses nothing.
    expect((await server.request("GET", "/api/logs")).status).toBe(401)
  } finally {
    await server.stop()
  }
}, 120_000)
