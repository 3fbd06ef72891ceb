// The licence of ipgate, and those of everything that its executable holds.

import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

type Manifest = {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** The parts that are no npm packages with a licence file of their own. */
const NATIVE_PARTS = (bun: string) => `\
Bun ${bun} (https://bun.com), the runtime: MIT licence. It is linked with JavaScriptCore and other parts of WebKit,
which are under the GNU Lesser General Public License, version 2, and BSD licences, and with the libraries that
https://bun.com/docs/project/license names with their licences. Its sources, and what is needed to link it anew with
another version of those libraries, are at https://github.com/oven-sh/bun. On Debian the text of that licence is in
/usr/share/common-licenses/LGPL-2, elsewhere at https://www.gnu.org/licenses/old-licenses/lgpl-2.0.txt.

libSQL (https://github.com/tursodatabase/libsql), the database: MIT licence. It holds SQLite, which is in the public
domain.
`

/** Debian has this text on every machine, and wants a package to point to it. */
const APACHE = /^ *Apache License\n *Version 2\.0.*[\s\S]*$/m
const APACHE_POINTER = "The text of this licence is in /usr/share/common-licenses/Apache-2.0.\n"

/** One text: ours first, then each part with its name, its version and its licence. */
export async function licences(root: string, { forDebian }: { forDebian: boolean }): Promise<string> {
  const own = readFileSync(join(root, "LICENSE"), "utf8")
  const { dependencies, engines } = await Bun.file(join(root, "package.json")).json()
  const modules = join(root, "node_modules")
  const parts = [...closure(modules, Object.keys(dependencies))].toSorted()
  return [
    `ipgate is under this licence:\n\n${own}`,
    `The executable holds these parts, each under a licence of its own.\n\n${NATIVE_PARTS(engines.bun)}`,
    ...parts
      .map((name) => licenceOf(modules, name))
      .map((text) => (forDebian ? text.replace(APACHE, APACHE_POINTER) : text)),
  ].join(`\n${"-".repeat(78)}\n\n`)
}

/** The packages, and those that they need. Types and tools for development are not among them. */
function closure(modules: string, names: readonly string[]): Set<string> {
  const found = new Set(names)
  for (const name of found) {
    for (const needed of Object.keys(manifestOf(modules, name).dependencies ?? {})) {
      if (existsSync(join(modules, needed)) && !needed.startsWith("@types/")) found.add(needed)
    }
  }
  return found
}

function licenceOf(modules: string, name: string): string {
  const { version, license } = manifestOf(modules, name)
  if (license === undefined) throw new Error(`node_modules/${name} does not say its licence`)
  const directory = join(modules, name)
  const file = readdirSync(directory).find((entry) => /^licen[cs]e(\.md|\.txt)?$/i.test(entry))
  const text = file === undefined ? "" : `\n${readFileSync(join(directory, file), "utf8").trimEnd()}\n`
  return `${name} ${version}: ${license}\n${text}`
}

function manifestOf(modules: string, name: string): Manifest {
  return JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"))
}
