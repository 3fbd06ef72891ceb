// A package for Debian and Ubuntu, by dpkg-deb: the program, its service, its configuration, and what makes a user and a token.

import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import type { ProductFile } from "./product-files.ts"
import { run } from "./run.ts"

export type DebianParts = {
  readonly root: string
  readonly executable: string
  readonly files: readonly ProductFile[]
  readonly version: string
  readonly architecture: string
  /** `NAME <ADDRESS>`. */
  readonly maintainer: string
  /** Seconds since 1970, the time of every file in it and of the entry in its changelog. */
  readonly epoch: number
  /** Compressed as fast as possible. */
  readonly quick: boolean
}

const SCRIPTS = ["postinst", "prerm", "postrm"]

/** Debian sorts `1.0.0~rc.1` before `1.0.0`, as semver does `1.0.0-rc.1`. */
export function debianVersion(version: string): string {
  return version.replace("-", "~")
}

export async function makeDebianPackage(path: string, parts: DebianParts): Promise<void> {
  const tree = join(dirname(parts.executable), `${parts.architecture}.deb`)
  await writeFiles(tree, parts)
  await writeControl(tree, parts)
  for (const name of readdirSync(tree, { recursive: true, encoding: "utf8" })) {
    const entry = join(tree, name)
    const isProgram = name === "usr/bin/ipgate" || SCRIPTS.some((script) => name === `DEBIAN/${script}`)
    chmodSync(entry, statSync(entry).isDirectory() || isProgram ? 0o755 : 0o644)
  }
  // A tenth larger than with the default level, which takes six times as long.
  const compression = parts.quick ? ["-Zgzip", "-z1"] : ["-Zxz", "-z1"]
  await run(["dpkg-deb", "--root-owner-group", ...compression, "--build", tree, path], {
    env: { SOURCE_DATE_EPOCH: String(parts.epoch) },
  })
}

async function writeFiles(tree: string, parts: DebianParts): Promise<void> {
  const { root, executable, files } = parts
  const doc = "usr/share/doc/ipgate"
  mkdirSync(join(tree, "usr/bin"), { recursive: true })
  cpSync(executable, join(tree, "usr/bin/ipgate"))
  for (const [from, to] of [
    ["ipgate.service", "usr/lib/systemd/system/ipgate.service"],
    ["ipgate.sysusers", "usr/lib/sysusers.d/ipgate.conf"],
    ["ipgate.toml", "etc/ipgate/ipgate.toml"],
    ["debian/lintian-overrides", "usr/share/lintian/overrides/ipgate"],
  ] as const) {
    await Bun.write(join(tree, to), Bun.file(join(root, "scripts/packaging", from)))
  }
  for (const { kind, name, content } of files) {
    if (name === "LICENSES") continue
    const place = placeOf(kind, name)
    await Bun.write(join(tree, place), place.endsWith(".gz") ? zipped(content) : content)
  }
  await Bun.write(join(tree, doc, "changelog.gz"), zipped(changelog(parts)))
}

/** As Debian's policy says, but for one thing: the documents are not packed, so that their links to each other lead somewhere. */
function placeOf(kind: ProductFile["kind"], name: string): string {
  switch (kind) {
    case "completions":
      if (name.endsWith(".bash")) return "usr/share/bash-completion/completions/ipgate"
      if (name.endsWith(".fish")) return `usr/share/fish/vendor_completions.d/${name}`
      return `usr/share/zsh/vendor-completions/${name}`
    case "man":
      return `usr/share/man/man${name.slice(-1)}/${name}.gz`
    case "examples":
      return `usr/share/doc/ipgate/examples/${name}`
    case "doc":
      return `usr/share/doc/ipgate/${name}`
  }
}

async function writeControl(tree: string, parts: DebianParts): Promise<void> {
  const source = join(parts.root, "scripts/packaging/debian")
  const packed = readdirSync(tree, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(tree, name)).isFile())
    .toSorted()
  const sizes = packed.map((name) => Math.ceil(statSync(join(tree, name)).size / 1024))
  const values: Record<string, string> = {
    VERSION: debianVersion(parts.version),
    ARCHITECTURE: parts.architecture,
    MAINTAINER: parts.maintainer,
    SIZE: String(sizes.reduce((sum, size) => sum + size, 0)),
    GLIBC: newestGlibc(parts.executable),
  }
  const template = readFileSync(join(source, "control"), "utf8")
  await Bun.write(
    join(tree, "DEBIAN/control"),
    template.replace(/@([A-Z]+)@/g, (_, name: string) => values[name] ?? ""),
  )
  const sums = packed.map((name) => `${md5(readFileSync(join(tree, name)))}  ${name}\n`)
  await Bun.write(join(tree, "DEBIAN/md5sums"), sums.join(""))
  // Everything below /etc is the administrator's as soon as it is installed.
  const conffiles = packed.filter((name) => name.startsWith("etc/")).map((name) => `/${name}\n`)
  await Bun.write(join(tree, "DEBIAN/conffiles"), conffiles.join(""))
  for (const script of SCRIPTS) await Bun.write(join(tree, "DEBIAN", script), Bun.file(join(source, script)))
}

/** What the runtime and the addon inside it ask of the C library, by the names of its symbol versions. */
function newestGlibc(executable: string): string {
  const minors = [...readFileSync(executable, "latin1").matchAll(/GLIBC_2\.([0-9]+)/g)].map(([, n]) =>
    Number(n),
  )
  return `2.${Math.max(...minors)}`
}

function changelog({ version, maintainer, epoch }: DebianParts): string {
  const date = new Date(epoch * 1000).toUTCString().replace("GMT", "+0000")
  return `ipgate (${debianVersion(version)}) stable; urgency=medium

  * Release ${version}: what has changed is in CHANGELOG.md.

 -- ${maintainer}  ${date}
`
}

function zipped(content: string): Uint8Array<ArrayBuffer> {
  return Bun.gzipSync(content, { level: 9 })
}

function md5(content: Uint8Array): string {
  return new Bun.CryptoHasher("md5").update(content).digest("hex")
}
