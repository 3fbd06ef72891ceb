// The unit as systemd's own tools judge it, and the promises between it, the configuration and the program.

import { describe, expect, test } from "bun:test"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EXIT } from "../../cli/exit.ts"
import { loadConfig } from "../../src/config/config.ts"
import { formatListenAddress, parseListenAddress } from "../../src/listen-address.ts"
import { builtBinary } from "../support/binary.ts"

const PACKAGING = join(import.meta.dir, "../../scripts/packaging")
const UNIT = join(PACKAGING, "ipgate.service")
const unit = readFileSync(UNIT, "utf8")
const valuesOf = (name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value]) => value)

const LARGEST_EXPOSURE = 1.5

describe.if(Bun.which("systemd-analyze") !== null)("systemd-analyze", () => {
  test("finds it as closed as it can be", () => {
    const { stdout } = Bun.spawnSync(["systemd-analyze", "security", "--offline=yes", "--no-pager", UNIT])
    const [, exposure] = /Overall exposure level for ipgate\.service: ([\d.]+)/.exec(stdout.toString()) ?? []
    expect(Number(exposure)).toBeGreaterThan(0)
    expect(Number(exposure)).toBeLessThanOrEqual(LARGEST_EXPOSURE)
  })

  test("finds nothing wrong, once the program and its manual are there", () => {
    const directory = mkdtempSync(join(tmpdir(), "ipgate-unit-"))
    try {
      mkdirSync(join(directory, "bin"))
      cpSync(builtBinary(), join(directory, "bin/ipgate"))
      const installed = unit
        .replaceAll("/usr/bin/ipgate", join(directory, "bin/ipgate"))
        .replace(/^Documentation=.*\n/m, "")
      writeFileSync(join(directory, "ipgate.service"), installed)
      const { exitCode, stderr } = Bun.spawnSync([
        "systemd-analyze",
        "verify",
        "--man=no",
        join(directory, "ipgate.service"),
      ])
      // Units of the machine itself may have faults of their own.
      const ours = stderr
        .toString()
        .split("\n")
        .filter((line) => line.includes("ipgate"))
      expect({ exitCode, ours }).toEqual({ exitCode: 0, ours: [] })
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})

describe("the unit and the program", () => {
  const config = loadConfig({
    flags: {},
    env: { CREDENTIALS_DIRECTORY: "/run/credentials/ipgate.service", IPGATE_CONFIG: "x" },
    userId: 999,
    read: () => readFileSync(join(PACKAGING, "ipgate.toml"), "utf8"),
    isSocket: () => false,
  })

  test("the shipped configuration is accepted, and is for the directories of the unit", () => {
    expect(valuesOf("StateDirectory")).toEqual(["ipgate"])
    expect(config.databasePath).toBe("/var/lib/ipgate/ipgate.db")
    expect(valuesOf("RuntimeDirectory")).toEqual(["ipgate"])
    expect(config.listen.map(formatListenAddress)).toEqual(["127.0.0.1:8765", "unix:/run/ipgate/ipgate.sock"])
    expect(valuesOf("Environment")).toContain(`TMPDIR=/var/cache/${valuesOf("CacheDirectory")[0]}`)
  })

  // A runtime that no longer knows the variable would ignore it without a word.
  test("the allocator of the runtime knows what the unit tells it", () => {
    const options = valuesOf("Environment").flatMap((one) => /^MIMALLOC_(\w+)=/.exec(one ?? "")?.[1] ?? [])
    expect(options).not.toEqual([])
    const binary = readFileSync(builtBinary())
    for (const option of options) expect(binary.includes(`\0${option.toLowerCase()}\0`)).toBe(true)
  })

  test("a client finds the socket where the shipped configuration puts it", () => {
    const { server } = loadConfig({
      flags: {},
      env: {},
      userId: 1000,
      read: () => null,
      isSocket: (path) => config.listen.some((one) => one.kind === "unix" && one.path === path),
    })
    expect(parseListenAddress(server)?.kind).toBe("unix")
  })

  test("a reload reads the file that the credential is a copy of", () => {
    expect(config.tokenFile).toBe("/run/credentials/ipgate.service/api-token")
    expect(valuesOf("LoadCredential")).toEqual([`api-token:${config.tokenFileOfReload}`])
  })

  test("an invalid configuration is not tried again, and a reload checks it first", () => {
    expect(valuesOf("RestartPreventExitStatus")).toEqual([String(EXIT.config)])
    const [start = ""] = valuesOf("ExecStart")
    expect(valuesOf("ExecReload")).toEqual([
      `/usr/bin/env --unset=CREDENTIALS_DIRECTORY ${start.replace(" serve ", " serve --check ")}`,
      "/bin/sh -c 'kill -HUP $MAINPID'",
    ])
  })

  test("nothing of it is opened to others", () => {
    expect(config.socketMode & 0o007).toBe(0)
    expect([
      ...valuesOf("StateDirectoryMode"),
      ...valuesOf("RuntimeDirectoryMode"),
      ...valuesOf("UMask"),
    ]).toEqual(["0700", "0750", "0077"])
  })
})
