// Whole outputs that are kept as files, so that a change of what people and programs read is seen in a review.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const DIRECTORY = join(import.meta.dir, "golden")
const compared = new Set<string>()

/** The text that is expected. With UPDATE_GOLDEN=1 it becomes the text that there is. */
export function golden(name: string, text: string): string {
  const file = `${name}.txt`
  const path = join(DIRECTORY, file)
  // The first text of a run becomes the file, so that a second one that differs is still a failure.
  if (process.env.UPDATE_GOLDEN === "1" && !compared.has(file)) {
    mkdirSync(DIRECTORY, { recursive: true })
    writeFileSync(path, text)
  }
  compared.add(file)
  if (!existsSync(path)) throw new Error(`${path} is missing: run the test with UPDATE_GOLDEN=1 to write it`)
  return readFileSync(path, "utf8")
}

/** Files that no test has compared in this run. */
export function leftOver(): string[] {
  return readdirSync(DIRECTORY).filter((file) => !compared.has(file))
}
