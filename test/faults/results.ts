// What a run of the fault tests has shown, from the report that Bun writes in the form of JUnit.

import type { Registered } from "./registered.ts"

export type Result = { readonly passed: number; readonly failed: number; readonly leftOut: number }

const CASE = /<testcase name="([^"]*)" classname="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g

/** By the title: how many tests ran under it, and how they ended. */
export function resultsOf(report: string, faults: readonly Registered[]): Map<string, Result> {
  const cases = [...report.matchAll(CASE)].map(([, name = "", classname = "", inner = ""]) => ({
    title: plain(`${classname} ${name}`),
    kind: inner.includes("<skipped") ? "leftOut" : inner.includes("<failure") ? "failed" : "passed",
  }))
  return new Map(
    faults.map(({ title }) => {
      const own = cases.filter((one) => one.title.includes(title))
      const count = (kind: keyof Result) => own.filter((one) => one.kind === kind).length
      return [title, { passed: count("passed"), failed: count("failed"), leftOut: count("leftOut") }]
    }),
  )
}

/** The cell of the page. */
export function resultText(result: Result | undefined): string {
  if (result === undefined || result.passed + result.failed + result.leftOut === 0) return "not run"
  const { passed, failed, leftOut } = result
  if (failed > 0) return `**failed** (${failed} of ${passed + failed} tests)`
  if (passed === 0) return "left out: a program is missing"
  return `passed (${passed} ${passed === 1 ? "test" : "tests"}${leftOut > 0 ? `, ${leftOut} left out` : ""})`
}

function plain(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll("&amp;", "&")
}
