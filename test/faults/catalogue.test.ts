// Every row of the catalogue has a test or a reason, and the pages say so.

import { expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CATALOGUE, CHAPTERS } from "./catalogue.ts"
import { NOT_TESTED } from "./not-tested.ts"
import { latestRun, PAGE_PATH, pageOf, summaryOf, withoutResults } from "./page.ts"
import { registeredFaults } from "./registered.ts"
import { resultsOf, resultText } from "./results.ts"

const README = join(import.meta.dir, "../../README.md")

const faults = registeredFaults()
const ids = CATALOGUE.map(({ id }) => id)
const covered = new Set(faults.flatMap((test) => test.ids))

test("the catalogue has 175 rows, each with its words, in the order of its chapters", () => {
  expect(new Set(ids).size).toBe(175)
  for (const row of CATALOGUE) {
    expect(row.id).toMatch(/^[A-Z]-[0-9]{2}$/)
    expect(Object.keys(CHAPTERS)).toContain(row.id.charAt(0))
    expect(row.fault.length).toBeGreaterThan(5)
    expect(row.expected.length).toBeGreaterThan(2)
  }
})

test("every row has a test, or stands in the table with its reason, and not both", () => {
  expect(ids.filter((id) => !covered.has(id) && !Object.hasOwn(NOT_TESTED, id))).toEqual([])
  expect(ids.filter((id) => covered.has(id) && Object.hasOwn(NOT_TESTED, id))).toEqual([])
})

test("no test and no reason names a row that there is not", () => {
  expect([...covered, ...Object.keys(NOT_TESTED)].filter((id) => !ids.includes(id))).toEqual([])
})

test("no two tests have one title, because a result is found by it", () => {
  const titles = faults.map(({ title }) => title)
  expect(titles.filter((title, i) => titles.indexOf(title) !== i)).toEqual([])
})

test("the page is the one that these tests make, but for its results", () => {
  const page = pageOf(faults, latestRun())
  if (process.env.UPDATE_FAULTS === "1") writeFileSync(PAGE_PATH, page)
  expect(withoutResults(readFileSync(PAGE_PATH, "utf8"))).toBe(withoutResults(page))
})

test("the README quotes the figures of the last whole run", () => {
  const latest = latestRun()
  const quoted = /<!-- faults:start -->\n([\s\S]*?)\n<!-- faults:end -->/.exec(
    readFileSync(README, "utf8"),
  )?.[1]
  const expected = latest === null ? "no whole run has been recorded" : summaryOf(latest)
  expect(quoted).toContain(expected)
})

test("a result is told by the report: passed, failed, left out, not run", () => {
  const one = (title: string) => ({ ids: [], done: "", holds: "", file: "", title })
  const report = `<testsuites>
    <testcase name="a" classname="b &gt; [H-01] x: &quot;y&quot;" time="0" />
    <testcase name="c" classname="b &gt; [H-01] x: &quot;y&quot;" time="0"><failure message="m">m</failure></testcase>
    <testcase name="[H-02] x: y" classname="" time="0"><skipped /></testcase>
    <testcase name="[H-03] x: y" classname="" time="0" />
  </testsuites>`
  const titles = ['[H-01] x: "y"', "[H-02] x: y", "[H-03] x: y", "[H-04] x: y"]
  const results = resultsOf(report, titles.map(one))
  expect(titles.map((title) => resultText(results.get(title)))).toEqual([
    "**failed** (1 of 2 tests)",
    "left out: a program is missing",
    "passed (1 test)",
    "not run",
  ])
})
