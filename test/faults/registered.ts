// Every call of `fault` in the tests, read from their source: what is covered, without running it.

import { importsOf, loadedWith, sourceFiles } from "../architecture/source-files.ts"

export type Registered = {
  readonly ids: readonly string[]
  readonly done: string
  readonly holds: string
  /** Below the project. */
  readonly file: string
  /** As `fault` makes it. */
  readonly title: string
}

const STRING = String.raw`("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')`
const CALL = new RegExp(String.raw`\bfault\(\s*${STRING},\s*${STRING},\s*${STRING},?\s*\)`, "g")

/** A file that makes such titles. */
const USER = /^import \{ fault \} from "[./a-z]*fault\.ts"$/m

/** In the order of the files. Throws if a call is not of plain texts, because the page would not show it. */
export function registeredFaults(): Registered[] {
  return sourceFiles("test").flatMap(({ path, text }) => {
    if (!USER.test(text)) return []
    const found = [...text.matchAll(CALL)].map(([, ...literals]) => {
      const [ids = "", done = "", holds = ""] = literals.map(textOf)
      return { ids: ids.split(" "), done, holds, file: path, title: `[${ids}] ${done}: ${holds}` }
    })
    if (found.length !== text.match(/\bfault\(/g)?.length) {
      throw new Error(`${path}: a call of fault() is not of plain texts`)
    }
    return found
  })
}

function textOf(literal: string): string {
  const body = literal.slice(1, -1).replace(/\\(.)/g, "$1")
  if (/\\[^"'\\]/.test(literal)) throw new Error(`no escapes but of quotes in a title of a fault: ${literal}`)
  return body
}

/** The test files in which a run of these faults takes place: their own, and those that bring in a shared suite. */
export function testFilesOf(faults: readonly Registered[]): string[] {
  const files = sourceFiles("test")
  const imports = files.flatMap(importsOf)
  const wanted = new Set(faults.map(({ file }) => file))
  return files
    .map(({ path }) => path)
    .filter((path) => /\.test\.tsx?$/.test(path))
    .filter((path) => loadedWith(path, imports).some((file) => wanted.has(file)))
}
