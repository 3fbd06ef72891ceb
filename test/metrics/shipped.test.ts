// The dashboard and the alerts that go with the product ask for nothing that a server does not tell.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { join } from "node:path"
import { systemClock } from "../../src/core/clock.ts"
import { ANY_PORT, type RunningServer, runServer } from "../support/running-server.ts"
import { readExposition } from "./exposition.ts"

const DOCS = join(import.meta.dir, "../../docs")

let server: RunningServer
let families: readonly string[]
/** The labels that each sample name comes with. */
const told = new Map<string, Set<string>>()

beforeAll(async () => {
  server = await runServer({ metricsListen: ANY_PORT, clock: systemClock })
  await server.request("GET", "/status")
  const { samples, types } = readExposition(await (await fetch(`${server.metricsUrl}/metrics`)).text())
  families = [...types.keys()]
  for (const { name, labels } of samples) {
    const known = told.get(name) ?? new Set()
    for (const label of Object.keys(labels)) known.add(label)
    told.set(name, known)
  }
})

afterAll(() => server.stop())

/** What Prometheus adds by itself. */
const OF_PROMETHEUS = ["job", "instance"]

function expectKnown(expression: string): void {
  for (const [, name, matchers = ""] of expression.matchAll(
    /\b((?:ipgate|process)_[a-z_]+)(?:\{([^}]*)\})?/g,
  )) {
    const labels = told.get(String(name))
    expect([expression, name, labels !== undefined]).toEqual([expression, name, true])
    const asked = [...matchers.matchAll(/([a-z_]+)=~?"/g)].map(([, label]) => String(label))
    const unknown = asked.filter((label) => !OF_PROMETHEUS.includes(label) && labels?.has(label) !== true)
    expect([expression, unknown]).toEqual([expression, []])
  }
}

test("the README has each metric, and no other", async () => {
  const readme = await Bun.file(join(DOCS, "../README.md")).text()
  const [, section = ""] = /\n## Metrics\n([\s\S]*?)\n## /.exec(readme) ?? []
  const cells = section.split("\n").map((line) => /^\| (`.*?) \|/.exec(line)?.[1] ?? "")
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name]) => String(name)))
  expect(named.toSorted()).toEqual([...families].toSorted())
})

test("every alert", async () => {
  const { groups } = Bun.YAML.parse(await Bun.file(join(DOCS, "prometheus-alerts.yml")).text()) as {
    groups: Array<{ rules: Array<{ alert: string; expr: string; annotations: { summary: string } }> }>
  }
  const rules = groups.flatMap((group) => group.rules)
  expect(rules.length).toBeGreaterThan(4)
  for (const { expr, annotations } of rules) {
    expectKnown(expr)
    expect(annotations.summary).not.toBeEmpty()
  }
})

test("every panel of the dashboard, and each says what it shows", async () => {
  const { panels } = (await Bun.file(join(DOCS, "grafana-dashboard.json")).json()) as {
    panels: Array<{ id: number; title: string; targets: Array<{ expr: string }> }>
  }
  const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  expect(expressions.length).toBeGreaterThanOrEqual(panels.length)
  for (const expression of expressions) expectKnown(expression)
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  expect(panels.filter(({ title }) => title === "")).toEqual([])
})
