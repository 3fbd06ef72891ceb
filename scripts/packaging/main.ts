// Makes a release: for every target an executable in a tarball, for Debian a package, and the checksums of all.

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { parseArgs } from "node:util"
import { VERSION } from "../../src/version.ts"
import { buildExecutable } from "../build.ts"
import { debianVersion, makeDebianPackage } from "./debian-package.ts"
import { fetchForeignParts } from "./foreign-parts.ts"
import { type ProductFile, productFiles } from "./product-files.ts"
import { RELEASE_TARGETS, type ReleaseTarget } from "./release-targets.ts"
import { run } from "./run.ts"
import { makeTarball } from "./tarball.ts"

const USAGE = `Usage: ./scripts/release [--out DIRECTORY] [--target NAME]...

Makes the packages and tarballs of the version in package.json, and SHA256SUMS.

  --out DIRECTORY   where to; default: dist/release, which is emptied first
  --target NAME     only for ${RELEASE_TARGETS.map(({ name }) => name).join(", ")}
  --deb             no tarballs
  --quick           hardly compressed: for a trial on this machine

DEBFULLNAME and DEBEMAIL name the maintainer, SOURCE_DATE_EPOCH the time of the
files; without them, the latest commit does.`

const ROOT = join(import.meta.dir, "../..")

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(ROOT, "dist/release") },
    target: { type: "string", multiple: true, default: RELEASE_TARGETS.map(({ name }) => name) },
    deb: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const targets = values.target.map(targetNamed)
process.chdir(ROOT)
rmSync(values.out, { recursive: true, force: true })
mkdirSync(values.out, { recursive: true })
const scratch = mkdtempSync(join(values.out, "building-"))
const made: string[] = []
try {
  const files = await productFiles(ROOT, scratch)
  const origin = await originOfRelease()
  for (const target of targets) made.push(...(await make(target, files, origin)))
} finally {
  rmSync(scratch, { recursive: true })
}
const sums = made.map((path) => `${sha256(path)}  ${basename(path)}\n`)
await Bun.write(join(values.out, "SHA256SUMS"), sums.join(""))
console.log(sums.join("").trimEnd())

/** The paths of what was made. */
async function make(
  target: ReleaseTarget,
  files: readonly ProductFile[],
  origin: { maintainer: string; epoch: number },
): Promise<string[]> {
  const executable = join(scratch, `ipgate-${target.name}`)
  const parts = await fetchForeignParts(ROOT, target, join(ROOT, ".tools/release"))
  await buildExecutable({ target: target.target, outfile: executable, ...parts })
  const paths: string[] = []
  if (!values.deb) {
    const path = join(values.out, `ipgate-${VERSION}-${target.name}.tar.gz`)
    await makeTarball(path, { root: ROOT, executable, files, epoch: origin.epoch, quick: values.quick })
    paths.push(path)
  }
  if (target.debian !== null) {
    const path = join(values.out, `ipgate_${debianVersion(VERSION)}_${target.debian}.deb`)
    await makeDebianPackage(path, {
      ...{ root: ROOT, executable, files, version: VERSION, architecture: target.debian, ...origin },
      quick: values.quick,
    })
    paths.push(path)
  }
  return paths
}

/** Who makes the release, and of when its sources are. */
async function originOfRelease(): Promise<{ maintainer: string; epoch: number }> {
  const { DEBFULLNAME, DEBEMAIL, SOURCE_DATE_EPOCH } = process.env
  const commit = (format: string) =>
    run(["git", "log", "-1", `--format=${format}`]).then((text) => text.trim())
  return {
    maintainer: `${DEBFULLNAME ?? (await commit("%an"))} <${DEBEMAIL ?? (await commit("%ae"))}>`,
    epoch: Number(SOURCE_DATE_EPOCH ?? (await commit("%ct"))),
  }
}

function targetNamed(name: string): ReleaseTarget {
  const target = RELEASE_TARGETS.find((target) => target.name === name)
  if (target === undefined) {
    console.error(`scripts/release: unknown target ${name}\n\n${USAGE}`)
    process.exit(2)
  }
  return target
}

function sha256(path: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex")
}
