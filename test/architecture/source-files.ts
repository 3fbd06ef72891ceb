// The files of the product as text, and what each of them imports, for the tests of its shape.

import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

export const ROOT = join(import.meta.dir, "../..")

export type SourceFile = {
  /** Below the project, with slashes: `src/core/address.ts`. */
  readonly path: string
  readonly text: string
}

/** `type` is gone when the program runs, `dynamic` is loaded when it is asked for, `thread` is started as one. */
export type ImportKind = "static" | "type" | "dynamic" | "thread"

export type Import = {
  readonly from: string
  /** A file below the project, or the name of a package. */
  readonly to: string
  readonly specifier: string
  readonly kind: ImportKind
}

/** Every TypeScript file below the folders. */
export function sourceFiles(...folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .sort()
      .map((name) => ({ path: join(folder, name), text: readFileSync(join(ROOT, folder, name), "utf8") })),
  )
}

const PATTERNS: ReadonlyArray<readonly [kind: ImportKind, pattern: RegExp]> = [
  ["type", /^(?:import|export) type [^"]*? from "([^"]+)"/gm],
  ["static", /^(?:import|export) (?!type )[^"]*? from "([^"]+)"/gm],
  ["static", /^import "([^"]+)"/gm],
  ["dynamic", /\bimport\("([^"]+)"\)/g],
  ["thread", /\bnew URL\("([^"]+)", import\.meta\.url\)/g],
]

export function importsOf({ path, text }: SourceFile): Import[] {
  return PATTERNS.flatMap(([kind, pattern]) =>
    [...text.matchAll(pattern)].map(([, specifier = ""]) => ({
      from: path,
      to: specifier.startsWith(".") ? normalize(join(dirname(path), specifier)) : specifier,
      specifier,
      kind,
    })),
  )
}

/** Everything that is loaded with a file, itself included: its imports, theirs, and so on, and the packages. */
export function loadedWith(
  entry: string,
  imports: readonly Import[],
  kinds: readonly ImportKind[] = ["static"],
): string[] {
  const loaded = new Set([entry])
  for (const file of loaded) {
    for (const { from, to, kind } of imports) {
      if (from === file && kinds.includes(kind)) loaded.add(to)
    }
  }
  return [...loaded]
}
