// The day of a release: that of the changelog, so that a page is the same whenever it is made.

import changelog from "../../CHANGELOG.md" with { type: "text" }

/** `2026-11-21`, or `unreleased` for a version that has no section with a day yet. */
export function releaseDate(version: string, text: string = changelog): string {
  const headings = text.matchAll(/^## \[(.+?)\] - (\d{4}-\d\d-\d\d)$/gm)
  for (const [, name, day] of headings) if (name === version && day !== undefined) return day
  return "unreleased"
}
