// Screens of `ipgate watch` that are kept as files, with everything that time changes replaced by signs of the same width.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const DIRECTORY = join(import.meta.dir, "golden")
const compared = new Set<string>()

/** In columns, what a time is replaced by is as wide as it was, with the spaces behind it. */
const VOLATILE: ReadonlyArray<readonly [pattern: RegExp, sign: string]> = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<- time and date ->Z"],
  [/\b\d\d:\d\d:\d\dZ/g, "<-time->Z"],
  [/(?:\d+[dhms]){1,2} *(?=[█░])/g, "<left>"],
  [/(?:\d+[dhms]){1,2} ago */g, "<ago>"],
  [/(?<=let in for )(?:\d+[dhms]){1,2}(?! ?[a-z])/g, "<left>"],
  [/(?<= up )(?:\d+[dhms]){1,2}/g, "<up>"],
  [/(?<=127\.0\.0\.1:)\d+/g, "<port>"],
  [/(?:\d+(?:\.\d)?|-)\/s/g, "<rate>"],
  [/(?<=no answer since )\d+/g, "<n>"],
]

export function steady(screen: string): string {
  const text = VOLATILE.reduce((text, [pattern, sign]) => {
    return text.replace(pattern, (found) => sign.padEnd(/ $/.test(found) ? found.length : 0))
  }, screen)
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
}

/** The screen that is expected. With UPDATE_GOLDEN=1 it becomes the screen that there is. */
export function goldenScreen(name: string, screen: string): string {
  const path = join(DIRECTORY, `${name}.txt`)
  if (process.env.UPDATE_GOLDEN === "1" && !compared.has(name)) {
    mkdirSync(DIRECTORY, { recursive: true })
    writeFileSync(path, screen)
  }
  compared.add(name)
  if (!existsSync(path)) throw new Error(`${path} is missing: run the test with UPDATE_GOLDEN=1 to write it`)
  return readFileSync(path, "utf8")
}
