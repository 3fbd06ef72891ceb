// The pages that say how ipgate is used: README.md and its references.

import { readFileSync } from "node:fs"
import { join } from "node:path"

const ROOT = join(import.meta.dir, "../..")

/** Their paths, in the order in which one administrator works through their consoles: a later one builds on the earlier. */
export const PAGES = ["docs/commands.md", "docs/api.md", "docs/configuration.md", "README.md"] as const

/** The text of a file of the project, by its path there. */
export function readPage(path: string): string {
  return readFileSync(join(ROOT, path), "utf8")
}

/** All pages as one, for what may stand on any of them. */
export function allPages(): string {
  return PAGES.map(readPage).join("\n")
}
