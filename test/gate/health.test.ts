// The health of the database: what reads and what writes is told apart, and a bad question is nobody's illness.

import { expect, test } from "bun:test"
import { GateError } from "../../src/core/errors.ts"
import { Health } from "../../src/gate/health.ts"

function failing(code: "failed" | "unavailable" | "invalid" | "conflict"): Promise<never> {
  return Promise.reject(new GateError(code, "why"))
}

test("is good until something fails, and passes on what came of each call", async () => {
  const health = new Health()
  expect(health.ok).toBe(true)
  expect(await health.watchRead(Promise.resolve(7))).toBe(7)
  expect(await health.watchWrite(Promise.resolve("text"))).toBe("text")
  expect(health.ok).toBe(true)
  const error = new GateError("failed", "the disk is full")
  expect(await health.watchWrite(Promise.reject(error)).catch((cause) => cause)).toBe(error)
  expect(health.ok).toBe(false)
})

test("a change that failed is made good by a change only, and a question by a question", async () => {
  for (const code of ["failed", "unavailable"] as const) {
    const health = new Health()
    await health.watchWrite(failing(code)).catch(() => {})
    await health.watchRead(Promise.resolve())
    expect(health.ok).toBe(false)
    await health.watchWrite(Promise.resolve())
    expect(health.ok).toBe(true)
    await health.watchRead(failing(code)).catch(() => {})
    await health.watchWrite(Promise.resolve())
    expect(health.ok).toBe(false)
    await health.watchRead(Promise.resolve())
    expect(health.ok).toBe(true)
  }
})

test("what makes no sense is nobody's illness, and makes nobody well", async () => {
  const health = new Health()
  const refuse = async () => {
    await health.watchRead(failing("invalid")).catch(() => {})
    await health.watchWrite(failing("invalid")).catch(() => {})
  }
  await refuse()
  expect(health.ok).toBe(true)
  await health.watchWrite(failing("failed")).catch(() => {})
  await refuse()
  expect(health.ok).toBe(false)
  await health.watchWrite(Promise.resolve())
  await health.watchRead(failing("failed")).catch(() => {})
  await refuse()
  expect(health.ok).toBe(false)
})

test("an error of another kind is a failure", async () => {
  const health = new Health()
  await health.watchRead(Promise.reject(new TypeError("a defect"))).catch(() => {})
  expect(health.ok).toBe(false)
})
