// Draws docs/watch.svg: a picture of `ipgate watch`, from a real screen in a real terminal.
//
// Needs tmux: bun scripts/screenshot.ts [FILE]

import { AUDIT_LOG_ROWS } from "../src/core/audit.ts"
import type { Change } from "../src/core/change.ts"
import { LibsqlStore } from "../src/store/libsql-store.ts"
import { builtBinary, type ServerProcess, Workplace } from "../test/support/binary.ts"
import { address, network } from "../test/support/parsed.ts"
import { copyDatabase } from "../test/support/temp-store.ts"
import { TmuxTerminal } from "../test/support/tmux.ts"
import { svgOf } from "./screen-svg.ts"

const SIZE = { columns: 112, rows: 27 }
const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Who was let in when, for how long, and why: all of it before the picture is taken. */
const GRANTS: ReadonlyArray<readonly [ip: string, agoMinutes: number, hours: number, reason: string]> = [
  ["198.51.100.23", 55, 1, "vendor visit, ticket 4711"],
  ["203.0.113.7", 200, 4, "on call"],
  ["2001:db8:7::/64", 130, 4, "Mara, train"],
  ["192.0.2.140", 215, 8, "audit"],
  ["198.51.100.128/25", 65, 8, "branch office, line down"],
  ["2001:db8:40::/56", 20, 8, "home office"],
  ["203.0.113.64", 130, 24, "build host"],
  ["192.0.2.61", 1100, 72, "contractor, until the end of the week"],
]

const [file = "docs/watch.svg"] = process.argv.slice(2)
await using place = await Workplace.make()
// This process may hold the lock of a file for as long as it runs, so the server gets a copy.
const draft = place.path("draft.db")
await prepare(draft)
copyDatabase(draft, place.database)
const server = await place.serve(["--listen", "127.0.0.1:8765"])
await using terminal = await TmuxTerminal.open({
  directory: place.directory,
  env: { ...place.env, COLORTERM: "truecolor" },
  ...SIZE,
})
await knock(server)
await terminal.run(`clear; ${builtBinary()} watch`)
await terminal.shows("vendor visit", "branch office")
const traffic = keepKnocking(server)
await terminal.press("Tab")
await Bun.sleep(4_500)
await terminal.press("Home")
await terminal.until((screen) => /^> 203\.0\.113\.99 .* expired [0-9]+s ago/m.test(screen), "the visitor")
await Bun.write(file, svgOf(await terminal.styledScreen(), SIZE))
traffic.stop()
await terminal.press("q")
await server.stop()
console.log(`wrote ${file}`)

/** Fills the database as if the last hours had been lived through. */
async function prepare(path: string): Promise<void> {
  const store = new LibsqlStore({ path, auditRows: AUDIT_LOG_ROWS })
  const now = Date.now()
  const by = address("192.0.2.10")
  const grants = GRANTS.map(([ip, agoMinutes, hours, reason]): Change => {
    const at = now - agoMinutes * MINUTE
    const expiresAt = at + hours * HOUR
    return { op: "add_temp", network: network(ip), at, by, ttlSeconds: hours * 3600, expiresAt, reason }
  })
  const changes: Change[] = [
    ...["10.20.0.0/16", "192.0.2.0/28", "2001:db8:1::/48"].map(
      (ip): Change => ({ op: "add_perm", network: network(ip), at: now - 30 * HOUR, by }),
    ),
    ...grants,
  ]
  await store.open(0)
  await store.commit(changes.toSorted((a, b) => a.at - b.at))
  await store.close()
}

/** What the screen shall tell of refused clients: one was let in until a moment ago, others never. */
async function knock(server: ServerProcess): Promise<void> {
  await server.api("POST", "/api/whitelist/temp", { ip: "203.0.113.99", ttl_seconds: 1, reason: "visitor" })
  await Bun.sleep(1_700)
  for (const [ip, times] of [
    ["198.51.100.9", 2],
    ["2001:db8:bad::17", 31],
    ["192.0.2.200", 7],
    ["198.51.100.77", 112],
  ] as const) {
    for (let n = 0; n < times; n++) await server.decision(ip)
  }
}

/** Clients as there are all day, of whom some are refused. */
function keepKnocking(server: ServerProcess): { stop: () => void } {
  let n = 0
  const timer = setInterval(() => {
    n++
    void server.decision("203.0.113.7").catch(() => {})
    if (n % 25 === 0) void server.decision("203.0.113.99").catch(() => {})
  }, 8)
  return { stop: () => clearInterval(timer) }
}
