// The Debian in which the packages are proved: made once by debootstrap, and kept in .tools.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { run } from "../../scripts/packaging/run.ts"

const MAKE_TREE = join(import.meta.dir, "make-tree")
const KEPT = join(import.meta.dir, "../../.tools")

/** What an administrator finds on a server, or installs before ipgate. */
const PACKAGES = "systemd,systemd-sysv,sudo,curl,nginx-light"

const PROGRAMS = ["debootstrap", "systemd-nspawn", "unshare", "nsenter", "dpkg-deb", "lintian"]

/** The programs of Debian that are not there; `root` if the tests run as somebody else. */
export const MISSING_FOR_SYSTEM: readonly string[] = [
  ...PROGRAMS.filter((name) => Bun.which(name, { PATH: `${process.env.PATH}:/usr/sbin:/sbin` }) === null),
  ...(process.getuid?.() === 0 ? [] : ["root"]),
]

/** The path of the archive. Remove it to have a newer Debian. */
export async function debianTree(): Promise<string> {
  const { suite, mirror } = await debianOfThisMachine()
  const recipe = Bun.hash(PACKAGES + readFileSync(MAKE_TREE, "utf8")).toString(16)
  const kept = join(KEPT, `${suite}-${recipe}.tar`)
  if (existsSync(kept)) return kept
  mkdirSync(KEPT, { recursive: true })
  const fresh = `${kept}.${process.pid}`
  try {
    await run(["unshare", "--mount", MAKE_TREE, suite, mirror, PACKAGES, fresh])
    // Another run may do the same at the same time: either archive is good.
    renameSync(fresh, kept)
  } finally {
    rmSync(fresh, { force: true })
  }
  return kept
}

/** The Debian that apt installs from, and where: no other place is asked. */
async function debianOfThisMachine(): Promise<{ suite: string; mirror: string }> {
  const format = "$(RELEASE) $(REPO_URI)"
  const targets = await run([
    ...["apt-get", "indextargets", "--format", format],
    ...["Created-By: Packages", "Component: main"],
  ])
  // Not the updates and security fixes beside a suite, whose names have a dash: debootstrap wants the suite itself.
  const found = targets.split("\n").find((line) => /^[a-z]+ \S*\/debian\/?$/.test(line))
  const [suite, mirror] = found?.split(" ") ?? []
  if (suite === undefined || mirror === undefined) throw new Error(`apt knows no Debian:\n${targets}`)
  return { suite, mirror }
}
