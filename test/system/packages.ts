// The packages of this version, and of a made-up next one with a newer database, both by the release script itself.

import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { run } from "../../scripts/packaging/run.ts"
import { VERSION } from "../../src/version.ts"

const ROOT = join(import.meta.dir, "../..")

/** Of this machine, as Debian and the release script name it. */
const [TARGET, ARCHITECTURE] =
  process.arch === "arm64" ? (["linux-arm64", "arm64"] as const) : (["linux-x64", "amd64"] as const)

export const NEXT_VERSION = VERSION.replace(
  /^(\d+)\.(\d+).*/,
  (_, major, minor) => `${major}.${Number(minor) + 1}.0`,
)

/** A release must not depend on who tests it, and when. */
const ORIGIN = { DEBFULLNAME: "ipgate tests", DEBEMAIL: "tests@ipgate.org", SOURCE_DATE_EPOCH: "1767225600" }

/** Releases this version for this machine, as it is published. The result is the package. */
export async function releaseThis(directory: string): Promise<string> {
  await release(ROOT, directory, "--target", TARGET)
  return join(directory, `ipgate_${VERSION}_${ARCHITECTURE}.deb`)
}

/** Releases this version for these machines or for all, hardly compressed. */
export async function releaseQuickly(directory: string, ...targets: readonly string[]): Promise<void> {
  await release(ROOT, directory, "--quick", ...targets.flatMap((name) => ["--target", name]))
}

/** A package of the next version for this machine, from a copy of the sources. */
export async function releaseNext(directory: string): Promise<string> {
  const copy = join(directory, "sources")
  mkdirSync(copy, { recursive: true })
  for (const name of readdirSync(ROOT)) {
    if (["dist", "test"].includes(name) || name.startsWith(".git")) continue
    if (["node_modules", ".tools"].includes(name)) symlinkSync(join(ROOT, name), join(copy, name))
    else cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  }
  await edit(join(copy, "package.json"), `"version": "${VERSION}"`, `"version": "${NEXT_VERSION}"`)
  const schema = join(copy, "src/store/schema.ts")
  await edit(schema, "export const MIGRATIONS", "const RELEASED")
  await edit(
    schema,
    "export const VERSION_STAMP",
    'export const MIGRATIONS = [...RELEASED, ["CREATE TABLE made_up (id INTEGER PRIMARY KEY) STRICT"]]\nexport const VERSION_STAMP',
  )
  const out = join(directory, "release")
  await release(copy, out, "--deb", "--quick", "--target", TARGET)
  return join(out, `ipgate_${NEXT_VERSION}_${ARCHITECTURE}.deb`)
}

async function release(root: string, out: string, ...options: readonly string[]): Promise<void> {
  const command = [process.execPath, "scripts/packaging/main.ts", "--out", out, ...options]
  await run(command, { cwd: root, env: ORIGIN })
}

/** A text that is not there would leave the version as it is, and the upgrade unproved. */
async function edit(path: string, text: string, by: string): Promise<void> {
  const before = await Bun.file(path).text()
  if (before.split(text).length !== 2) throw new Error(`${path} has not exactly one "${text}"`)
  await Bun.write(path, before.replace(text, by))
}
