// Runs the type check, the lint, the build and the tests, and ends with one line that counts what passed and failed.
// `faults` runs the tests of the fault catalogue in their long form, `faults A-03 H` those of some rows.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MISSING } from "../test/e2e/proxies/proxy-programs.ts"
import { BASH_COMPLETION } from "../test/support/bash-completion.ts"
import { LIBFAKETIME } from "../test/support/faketime.ts"
import { GROFF, MAN, MANDOC } from "../test/support/man.ts"
import { NGINX } from "../test/support/nginx.ts"
import { MISSING_FOR_SYSTEM } from "../test/system/debian-tree.ts"
import { runFaults } from "./faults.ts"

type Count = { passed: number; failed: number; skipped: number }

const SYSTEM_PATH = `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin`

/** What tests need besides Bun, by the command that installs it: whether it is there. */
const PROGRAMS: ReadonlyArray<readonly [name: string, present: boolean, install: string]> = [
  ["nginx", NGINX !== null, "apt-get install nginx"],
  ...["caddy", "haproxy", "curl", "tmux", "zsh", "fish"].map(
    (name) => [name, Bun.which(name, { PATH: SYSTEM_PATH }) !== null, `apt-get install ${name}`] as const,
  ),
  ["groff", GROFF !== null, "apt-get install groff-base"],
  ["man", MAN !== null, "apt-get install man-db"],
  ["mandoc", MANDOC !== null, "apt-get install mandoc"],
  ["bash-completion", BASH_COMPLETION !== null, "apt-get install bash-completion"],
  ...[
    ["debootstrap", "apt-get install debootstrap"],
    ["systemd-nspawn", "apt-get install systemd-container"],
    ["lintian", "apt-get install lintian"],
    ["root", "sudo ./scripts/test test/system"],
  ].map(([name = "", install = ""]) => [name, !MISSING_FOR_SYSTEM.includes(name), install] as const),
  ["libfaketime", LIBFAKETIME !== null, "apt-get install faketime"],
  ...["traefik", "envoy"].map((name) => [name, !MISSING.includes(name), "./scripts/proxies"] as const),
]

const patterns = process.argv.slice(2)
// The word alone, so that `test/faults` is still the files of that folder, and so is every other pattern.
const areFaults = patterns[0] === "faults"
const inCi = process.env.CI === "true" || process.env.CI === "1"
const total: Count = { passed: 0, failed: 0, skipped: 0 }

if (patterns.length === 0) {
  step("type check", ["run", "typecheck"])
  step("lint and format", ["run", "lint"])
}
step("build", ["run", "build"])
if (areFaults) add(runFaults({ only: patterns.slice(1), long: process.env.FAULTS !== "short", bun }))
else add(tests(patterns))

for (const [name, present, install] of PROGRAMS) {
  if (!present) console.error(`\nThe tests that need ${name} were left out. To run them: ${install}`)
}
// Whoever forgets to install a program in CI must not get a green run for it.
if (inCi) add({ passed: 0, failed: total.skipped, skipped: -total.skipped })

const leftOut = total.skipped === 0 ? "" : `, ${total.skipped} skipped`
console.log(`\n${total.passed} passed, ${total.failed} failed${leftOut}`)
process.exit(total.failed === 0 ? 0 : 1)

function step(name: string, args: readonly string[]): void {
  console.log(`\n== ${name}`)
  const failed = bun(args) === 0 ? 0 : 1
  add({ passed: 1 - failed, failed, skipped: 0 })
}

function tests(patterns: readonly string[]): Count {
  console.log("\n== tests")
  const directory = mkdtempSync(join(tmpdir(), "ipgate-check-"))
  try {
    const report = join(directory, "junit.xml")
    const exitCode = bun(["test", "--reporter=junit", `--reporter-outfile=${report}`, ...patterns])
    return countOf(report, exitCode)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** The report counts the tests; a file that does not load, or a runner that dies, shows only in the exit code. */
function countOf(report: string, exitCode: number): Count {
  const text = existsSync(report) ? readFileSync(report, "utf8") : ""
  const root = /<testsuites [^>]*>/.exec(text)?.[0] ?? ""
  const number = (name: string) => Number(new RegExp(` ${name}="([0-9]+)"`).exec(root)?.[1] ?? 0)
  const skipped = number("skipped")
  const passed = number("tests") - number("failures") - skipped
  const failed = number("failures")
  return { passed, skipped, failed: failed === 0 && exitCode !== 0 ? 1 : failed }
}

function bun(args: readonly string[], env: Readonly<Record<string, string>> = {}): number {
  return Bun.spawnSync([process.execPath, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  }).exitCode
}

function add({ passed, failed, skipped }: Count): void {
  total.passed += passed
  total.failed += failed
  total.skipped += skipped
}
