// What a release makes: for which machines, with what in it, without an error of lintian, and always the same bytes.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, normalize } from "node:path"
import { debianVersion } from "../../scripts/packaging/debian-package.ts"
import { RELEASE_TARGETS } from "../../scripts/packaging/release-targets.ts"
import { run } from "../../scripts/packaging/run.ts"
import { VERSION } from "../../src/version.ts"
import { linksOf } from "../docs/markdown.ts"
import { allPages, PAGES } from "../docs/pages.ts"
import { fault } from "../faults/fault.ts"
import { MISSING_FOR_SYSTEM } from "./debian-tree.ts"
import { releaseQuickly } from "./packages.ts"

setDefaultTimeout(300_000)

const ROOT = join(import.meta.dir, "../..")
const isPossible = MISSING_FOR_SYSTEM.every((name) => !["lintian", "dpkg-deb"].includes(name))
const directory = mkdtempSync(join(tmpdir(), "ipgate-packages-"))
const out = join(directory, "release")
const tarballs = RELEASE_TARGETS.map(({ name }) => `ipgate-${VERSION}-${name}.tar.gz`)
const packages = RELEASE_TARGETS.flatMap(({ debian }) =>
  debian === null ? [] : [`ipgate_${debianVersion(VERSION)}_${debian}.deb`],
)

/** Where links of the pages lead that only the sources have. */
const OF_THE_SOURCES = [
  ...["CONTRIBUTING.md", "LICENSE", "src/README.md", "test/faults/README.md", "scripts/benches/latest.md"],
  "scripts/packaging/ipgate.service",
]

/** Who loads the executable of each target. */
const LOADERS: Readonly<Record<string, string>> = {
  "linux-x64": "/lib64/ld-linux-x86-64.so.2",
  "linux-arm64": "/lib/ld-linux-aarch64.so.1",
  "linux-x64-musl": "/lib/ld-musl-x86_64.so.1",
  "linux-arm64-musl": "/lib/ld-musl-aarch64.so.1",
}

beforeAll(async () => {
  if (!isPossible) return
  await releaseQuickly(out)
  // Here and not in a test, so that each test finds them also when it is the only one that runs.
  await Promise.all(
    tarballs.map((name) => run(["tar", "--extract", "--file", join(out, name), "--directory", directory])),
  )
})
afterAll(() => rmSync(directory, { recursive: true }))

describe.skipIf(!isPossible)("a release", () => {
  test(fault("S-04", "the files of a release", "all of them, and each has its checksum"), async () => {
    expect(readdirSync(out).toSorted()).toEqual(["SHA256SUMS", ...tarballs, ...packages].toSorted())
    const checked = await run(["sha256sum", "--check", "--strict", "SHA256SUMS"], { cwd: out })
    expect(checked.trim().split("\n")).toHaveLength(tarballs.length + packages.length)
  })

  test.each(RELEASE_TARGETS)(
    "for $name holds a program for it, and all that belongs to it",
    async ({ name }) => {
      const folder = `ipgate-${VERSION}-${name}`
      const files = readdirSync(join(directory, folder), { recursive: true, encoding: "utf8" })
      for (const wanted of [
        ...["ipgate", "LICENSES", "README.md", "CHANGELOG.md", "docs/commands.md", "docs/configuration.md"],
        ...["systemd/ipgate.service", "systemd/ipgate.sysusers", "systemd/ipgate.toml"],
        ...[
          "completions/ipgate.bash",
          "completions/_ipgate",
          "completions/ipgate.fish",
          "man/ipgate.1",
          "man/ipgate.toml.5",
        ],
        ...["examples/nginx.conf", "examples/Caddyfile", "examples/haproxy.cfg", "examples/envoy.yaml"],
        ...["examples/ipgate.lua", "examples/traefik-ipgate.yml"],
      ]) {
        expect(files).toContain(wanted)
        expect(readFileSync(join(directory, folder, wanted)).length, wanted).toBeGreaterThan(80)
      }
      const program = readFileSync(join(directory, folder, "ipgate"))
      const loader = LOADERS[name] ?? "?"
      expect(program.subarray(0, 4096).toString("latin1")).toContain(`${loader}\0`)
    },
  )

  test("has its pages where their links lead, in the tarball and in the package", async () => {
    const folder = `ipgate-${VERSION}-linux-x64`
    const inTarball = readdirSync(join(directory, folder), { recursive: true, encoding: "utf8" })
    const listing = await run(["dpkg-deb", "--contents", join(out, packages[0] ?? "")])
    const inPackage = [...listing.matchAll(/ \.\/usr\/share\/doc\/ipgate\/(\S+)$/gm)].map(([, path]) => path)
    const leftOut = new Set<string>()
    for (const page of PAGES) {
      for (const link of linksOf(readFileSync(join(directory, folder, page), "utf8"))) {
        const [path = ""] = link.split("#")
        if (path === "" || /^https?:/.test(path)) continue
        const target = normalize(join(dirname(page), path))
        if (OF_THE_SOURCES.includes(target)) leftOut.add(target)
        else
          expect([target, inTarball, inPackage]).toEqual([
            target,
            ...Array(2).fill(expect.arrayContaining([target])),
          ])
      }
    }
    expect([...leftOut].toSorted()).toEqual(OF_THE_SOURCES.toSorted())
  })

  test("runs from its tarball on this machine, database and all", async () => {
    const program = join(directory, `ipgate-${VERSION}-linux-${process.arch}`, "ipgate")
    const offline = (...args: readonly string[]) =>
      run([program, ...args, "--offline", "--db", join(directory, "gate.db")], {
        env: { HOME: directory, IPGATE_CONFIG: "/dev/null" },
      })
    expect(await offline("allow", "192.0.2.0/28")).toContain("allowed 192.0.2.0/28")
    expect(await offline("check", "192.0.2.5")).toContain("allowed by permanent 192.0.2.0/28")
  })

  test(
    fault("S-03", "the names of variables are sought in the released program", "all are documented"),
    () => {
      const program = readFileSync(
        join(directory, `ipgate-${VERSION}-linux-${process.arch}`, "ipgate"),
        "latin1",
      )
      // With a character behind it, as in the text of the program: in its bytecode the next byte may look like one more letter.
      const namesIn = (text: string) => new Set(text.match(/\bIPGATE_[A-Z_]+(?![A-Z_])(?=[ -~])/g))
      expect([...namesIn(program)].toSorted()).toEqual([...namesIn(allPages())].toSorted())
    },
  )

  test("has neither an error nor a warning of lintian", async () => {
    // As root it says that it had rather not.
    const check = ["lintian", "--allow-root", "--fail-on", "error,warning"]
    await Promise.all(packages.map((name) => run([...check, join(out, name)])))
  })

  test("installs nothing below /etc but the configuration, and nothing for others to write", async () => {
    for (const name of packages) {
      const listing = (await run(["dpkg-deb", "--contents", join(out, name)])).trim().split("\n")
      const paths = listing.map((line) => line.replace(/^.* \.\//, "/"))
      expect(paths.filter((path) => /^\/etc\/.*[^/]$/.test(path))).toEqual(["/etc/ipgate/ipgate.toml"])
      expect(listing.filter((line) => !/^[d-]rw[x-]r-[x-]r-[x-] root\/root /.test(line))).toEqual([])
      expect(await run(["dpkg-deb", "--field", join(out, name), "Version"])).toBe(
        `${debianVersion(VERSION)}\n`,
      )
    }
  })

  test("is the same, byte for byte, when it is made again", async () => {
    const again = join(directory, "again")
    await releaseQuickly(again, "linux-x64")
    for (const line of readFileSync(join(again, "SHA256SUMS"), "utf8").trim().split("\n")) {
      expect(readFileSync(join(out, "SHA256SUMS"), "utf8")).toContain(line)
    }
  })
})

test("every target gets the Bun that package.json pins", async () => {
  const { engines } = await Bun.file(join(ROOT, "package.json")).json()
  const { optionalDependencies } = await Bun.file(
    join(ROOT, "scripts/packaging/runtimes/package.json"),
  ).json()
  const wanted = RELEASE_TARGETS.map(({ runtime }) => [runtime, engines.bun])
  expect(optionalDependencies).toEqual(Object.fromEntries(wanted))
})

test("a version before a release sorts before it in Debian too", () => {
  expect([debianVersion("1.2.3"), debianVersion("1.2.3-rc.1")]).toEqual(["1.2.3", "1.2.3~rc.1"])
})
