// Checks this installation: its token, its files, its database, its clock, and every place where it should answer.

import { statSync } from "node:fs"
import { dirname } from "node:path"
import type { Config } from "../../src/config/config.ts"
import { DEFAULT_LISTEN } from "../../src/config/keys.ts"
import { GateError } from "../../src/core/errors.ts"
import type { Gate } from "../../src/core/gate.ts"
import { formatListenAddress, reachable } from "../../src/listen-address.ts"
import { TokenError } from "../../src/token-file.ts"
import { STATUS_PATH } from "../../src/wire/paths.ts"
import { clientToken } from "../client-token.ts"
import type { CommandEnv } from "../command-env.ts"
import type { Finding, FindingCode } from "./finding.ts"
import { type Answer, ask, type Target } from "./raw-request.ts"

export type InstallationReport = {
  readonly findings: readonly Finding[]
  /** What was looked at. */
  readonly checked: readonly string[]
  /** No server answers, and none had to be left out with --offline. */
  readonly unreachable: boolean
}

/** Rights of others, of everybody but the owner to write, and the bit that keeps others from removing a file. */
const OTHERS = 0o007
const WRITE = 0o022
const OTHERS_WRITE = 0o002
const STICKY = 0o1000
/** Milliseconds: the `Date` header has whole seconds, and the answer was under way. */
const CLOCK_TOLERANCE = 5_000
/** For a user whom the rights of a socket keep out: the socket itself is as it should be. */
const JOIN_GROUP = "sudo ipgate doctor, or join the group of the socket (ipgate) and log in again"

/** Throws `ConfigError` for a configuration that makes no sense. */
export async function examineInstallation(env: CommandEnv): Promise<InstallationReport> {
  const config = env.config()
  const findings: Finding[] = []
  const checked: string[] = []
  let unreachable = false
  const report = (code: FindingCode, message: string, ...change: readonly (string | undefined)[]) =>
    findings.push({ code, over: [], message, change: change.filter((line) => line !== undefined) })
  const examine = async (what: string, check: () => unknown) => {
    checked.push(what)
    await check()
  }

  await examine("token", () => examineToken(env, config, report))
  await examine("permissions", () => examinePermissions(config, report))
  if (env.options.offline) {
    await examine("temporary directory", () => examineTemporaryDirectory(env, report))
    await examine("database", () => examineDatabase(env, config, report))
    return { findings, checked, unreachable }
  }
  await examine("server", async () => {
    unreachable = !(await examineServer(env, report))
  })
  if (unreachable) {
    // A server that runs has unpacked its driver, in its own temporary directory and not in this one.
    await examine("temporary directory", () => examineTemporaryDirectory(env, report))
    return { findings, checked, unreachable }
  }
  checked.push("database")
  await examine("clock", () => examineServerClock(env, config, report))
  await examine("listeners", () => examineListeners(config, report))
  return { findings, checked, unreachable }
}

type Report = (code: FindingCode, message: string, ...change: readonly (string | undefined)[]) => void

function examineToken({ process }: CommandEnv, config: Config, report: Report): void {
  try {
    clientToken(config, process)
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    const change = 'token_file = "/path/to/api-token"  under [auth], or --token-file'
    report("token", error.message, error.hint ?? change)
  }
}

function examinePermissions({ databasePath, listen }: Config, report: Report): void {
  const directory = dirname(databasePath)
  if (((modeOf(directory) ?? 0) & WRITE) !== 0) {
    report("permissions", `others than the owner can write into ${directory}`, `chmod 0700 ${directory}`)
  }
  for (const path of [databasePath, `${databasePath}-wal`, `${databasePath}-shm`]) {
    if (((modeOf(path) ?? 0) & OTHERS) !== 0) {
      report("permissions", `${path} is open to other users`, `chmod 0600 ${path}`)
    }
  }
  for (const address of listen) {
    if (address.kind !== "unix") continue
    const { path } = address
    if (((modeOf(path) ?? 0) & OTHERS) !== 0) {
      report("permissions", `every user of this machine can ask over ${path}`, `chmod 0660 ${path}`)
    }
    const beside = modeOf(dirname(path)) ?? 0
    if ((beside & OTHERS_WRITE) !== 0 && (beside & STICKY) === 0) {
      report(
        "permissions",
        `every user can put a socket of theirs in place of ${path}`,
        `chmod o-w ${dirname(path)}`,
      )
    }
  }
}

/** The mode of a file, or `null` if it is not there or is out of sight. */
function modeOf(path: string): number | null {
  try {
    return statSync(path).mode
  } catch {
    return null
  }
}

function examineTemporaryDirectory({ process }: CommandEnv, report: Report): void {
  const directory = process.environment.TMPDIR || "/tmp"
  const mounts = (process.readFile("/proc/self/mounts") ?? "").split("\n").map((line) => line.split(" "))
  const holding = mounts.filter(([, point = "/"]) =>
    `${directory}/`.startsWith(point === "/" ? "/" : `${point}/`),
  )
  // The longest is the one that counts, and of several on one point the last.
  const [, point, , options = ""] = holding.reduce(
    (best, one) => ((one[1] ?? "").length >= (best[1] ?? "").length ? one : best),
    ["", "", "", ""],
  )
  if (!options.split(",").includes("noexec")) return
  report(
    "temporary-directory",
    `${point} is mounted noexec: serve and --offline cannot load the database driver from ${directory}`,
    `TMPDIR=${process.environment.HOME ?? "/var/lib/ipgate"}  in the environment of serve`,
  )
}

async function examineDatabase(env: CommandEnv, { databasePath }: Config, report: Report): Promise<void> {
  // Opening one that is not there would make it.
  if (modeOf(databasePath) === null) {
    report("database", `there is no database at ${databasePath}`, '--db, or url = "file:…"  under [database]')
    return
  }
  try {
    // Opening it checks whose it is, its version, and every page of it.
    await env.withGate((gate) => examineLog(env, gate, report))
  } catch (error) {
    if (!(error instanceof GateError)) throw error
    report("database", error.message, error.hint)
  }
}

/** False if no server answers. */
async function examineServer(env: CommandEnv, report: Report): Promise<boolean> {
  try {
    return await env.withGate(async (gate) => {
      const status = await gate.status()
      if (!status.databaseOk) {
        report(
          "database",
          "the database of the server does not work: decisions go on, changes fail",
          "the server's log has the reason: make room on its disk, or put its file back; then ipgate status",
        )
      }
      await gate.listTemporary({ limit: 1, offset: 0 })
      await examineLog(env, gate, report)
      return true
    })
  } catch (error) {
    if (error instanceof TokenError) return true
    if (!(error instanceof GateError)) throw error
    if (error.code === "unauthorized") {
      report("token", "the server refuses this token", "--token-file with a token of the server")
      return true
    }
    if (error.code === "forbidden") {
      report("token", error.message, "--token-file with a token that may read")
      return true
    }
    report("server", error.message, error.hint)
    return error.code !== "unavailable"
  }
}

/** A record of the future tells that a clock was wrong when it was written, or is now. */
async function examineLog({ process }: CommandEnv, gate: Gate, report: Report): Promise<void> {
  const [newest] = await gate.audit({ limit: 1, offset: 0 })
  const now = process.clock.wall()
  if (newest === undefined || newest.at <= now + CLOCK_TOLERANCE) return
  report(
    "clock",
    `the log has a record of ${new Date(newest.at).toISOString()}, and here it is ${new Date(now).toISOString()}`,
    "timedatectl set-ntp true",
  )
}

async function examineServerClock({ process }: CommandEnv, config: Config, report: Report): Promise<void> {
  const answer = await statusOf(targetOf(config.server)).catch(() => null)
  const theirs = Date.parse(answer?.headers.get("date") ?? "")
  const off = theirs - process.clock.wall()
  if (Number.isNaN(off) || Math.abs(off) <= CLOCK_TOLERANCE) return
  report(
    "clock",
    `the clock of the server is ${Math.round(Math.abs(off) / 1000)} s ${off > 0 ? "ahead of" : "behind"} this one`,
    "timedatectl set-ntp true  on both machines",
  )
}

async function examineListeners({ listen, server }: Config, report: Report): Promise<void> {
  const all = listen.map((address) => ({ address, text: formatListenAddress(address) }))
  // Whoever has set nothing and asks a server elsewhere has none here.
  if (server !== DEFAULT_LISTEN && all.every(({ text }) => text === DEFAULT_LISTEN)) return
  for (const { address, text } of all) {
    // Chosen at the start of the server, and known to it alone.
    if (address.kind === "tcp" && address.port === 0) continue
    const target: Target =
      address.kind === "unix"
        ? { kind: "unix", path: address.path }
        : { kind: "tcp", address: reachable(address.hostname), port: address.port, tlsName: null }
    const answer = await statusOf(target).catch((error: Error) => error)
    if (!(answer instanceof Error) && answer.status === 200) continue
    if (answer instanceof Error && (answer as NodeJS.ErrnoException).code === "EACCES") {
      report("listener", `this user may not ask at ${text}`, JOIN_GROUP)
      continue
    }
    const why = answer instanceof Error ? answer.message : `status ${answer.status}`
    report(
      "listener",
      `the configuration says ${text}, and no ipgate answers there: ${why}`,
      `listen = ["${text}"]  under [server], and a restart of the server`,
    )
  }
}

function statusOf(target: Target): Promise<Answer> {
  return ask({ target, host: "localhost", path: STATUS_PATH })
}

/** Where `--server` leads: `host:port`, a URL, or `unix:/path`. */
function targetOf(server: string): Target {
  if (server.startsWith("unix:")) return { kind: "unix", path: server.slice("unix:".length) }
  const url = new URL(/^https?:\/\//.test(server) ? server : `http://${server}`)
  const tls = url.protocol === "https:"
  const hostname = url.hostname.replace(/^\[|\]$/g, "")
  const port = url.port === "" ? (tls ? 443 : 80) : Number(url.port)
  return { kind: "tcp", address: hostname, port, tlsName: tls ? hostname : null }
}
