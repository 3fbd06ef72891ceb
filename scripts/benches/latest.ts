// The figures of the last whole run, which only another whole one may replace.

import { join } from "node:path"
import { compactJson } from "./compact-json.ts"
import { markdown } from "./markdown.ts"
import type { Findings } from "./report.ts"
import { isMet } from "./target.ts"

/** Why this run must not take the place of the last whole one; `null` if it may. `missing` are sections that did not run. */
export function whyNotLatest(
  { plan, leftOut, wrong }: Pick<Findings, "plan" | "leftOut" | "wrong">,
  missing: readonly string[],
): string | null {
  if (plan.quick) return "this was the quick form"
  if (missing.length > 0) return `not all sections ran, ${missing.join(", ")} did not`
  if (leftOut.length > 0) return `something was left out: ${leftOut.join("; ")}`
  return wrong.length > 0 ? `of the answers, ${wrong.length} were wrong` : null
}

export async function writeLatest(findings: Findings): Promise<void> {
  const targets = findings.targets.map((target) => ({ ...target, met: isMet(target) }))
  await Bun.write(join(import.meta.dir, "latest.json"), compactJson({ ...findings, targets }))
  await Bun.write(join(import.meta.dir, "latest.md"), markdown(findings))
}
