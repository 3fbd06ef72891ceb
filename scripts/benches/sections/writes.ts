// Durable adds a second: through the API by one client and by 32, by bare libSQL one by one, and through `ipgate import`.

import { join } from "node:path"
import { TOKEN } from "../../../test/support/binary.ts"
import { importFile } from "../import-file.ts"
import { judgeTurn } from "../judge-turn.ts"
import type { Lab } from "../lab.ts"
import { Lines } from "../lines.ts"
import { makeEntries } from "../million.ts"
import type { Report } from "../report.ts"
import { median, samplesByFigure } from "../statistics.ts"
import { type Turn, turn } from "../wrk.ts"

const LEAST = 4
/** Each turn adds addresses of its own, from 1.0.0.0 on. */
const FIRST = 1 << 24
const EACH = 1 << 20
/** Milliseconds without a change after which nothing is on its way. */
const REST = 50

export async function measureWrites(lab: Lab, report: Report): Promise<void> {
  report.section("writes")
  const { plan, programs } = lab
  const server = await lab.serve("writes.db")
  const oneByOne: number[] = []
  const prepared: number[] = []
  const turns = new Map<number, Turn[]>([
    [1, []],
    [32, []],
  ])
  let block = 0
  for (let round = 0; round < plan.writeRounds; round++) {
    oneByOne.push(await addOneByOne(lab, "one-by-one"))
    prepared.push(await addOneByOne(lab, "one-by-one-prepared"))
    if (programs.wrk === null) continue
    for (const [connections, taken] of turns) {
      const before = await permanentCount(server.url)
      const added = await turn(lab, {
        url: server.url,
        script: "adds.lua",
        args: [TOKEN, String(FIRST + EACH * block++)],
        connections,
        seconds: plan.writeSeconds,
        servers: [server.pid],
      })
      taken.push(added)
      // wrk leaves without the answers to its last requests.
      const listed = (await permanentCount(server.url)) - before
      const isRight = listed >= added.requests && listed <= added.requests + connections
      const wrong = judgeTurn(added, 204)
      if (wrong !== null || !isRight) {
        report.wrongAnswer(
          `adds by ${connections} clients: ${wrong ?? `${added.requests} answered`}, ${listed} listed`,
        )
      }
    }
  }
  const entries = await makeEntries(lab, "writes", plan.importedWhileWatched)
  const imported = await importFile(lab, server.url, entries.file)
  await server.stop()

  const named = [...turns].map(([connections, taken]) => [`API, ${connections} clients`, taken])
  report.keepRounds("writes", {
    oneByOne,
    oneByOnePrepared: prepared,
    ...samplesByFigure(Object.fromEntries(named)),
  })
  const base = median(oneByOne)
  const rows = [...turns].flatMap(([connections, taken]) => {
    if (taken.length === 0) return []
    const perSecond = median(taken.map((turn) => turn.perSecond))
    const cpu = median(taken.map((turn) => turn.cpuMicros))
    return [
      [connections === 1 ? "API, 1 client" : `API, ${connections} clients`, perSecond, perSecond / base, cpu],
    ]
  })
  const importRate = entries.count / imported.seconds
  report.table(
    "Durable adds, each with its audit row",
    ["way", "adds a second", "of one by one", "CPU of the server, us an add"],
    [
      ["bare libSQL, one by one, @libsql/client", base, 1, ""],
      ["bare libSQL, one by one, statements prepared once", median(prepared), median(prepared) / base, ""],
      ...rows,
      [`ipgate import, ${entries.count} entries`, importRate, importRate / base, ""],
    ],
    "Whoever adds is on the core of the load, except for the bare libSQL loop, which has the server's core for itself.",
  )
  const many = turns.get(32) ?? []
  if (many.length > 0) {
    const perSecond = median(many.map((turn) => turn.perSecond))
    report.target({
      what: "durable adds a second, 32 clients, of the one-by-one libSQL figure (@libsql/client)",
      value: perSecond / base,
      unit: "",
      must: "at least",
      target: LEAST,
      detail: `${many.map((turn, i) => (turn.perSecond / (oneByOne[i] as number)).toFixed(2)).join(", ")} in the rounds; ${(perSecond / median(prepared)).toFixed(2)} of one by one with statements prepared once`,
    })
  }
}

async function addOneByOne(lab: Lab, name: "one-by-one" | "one-by-one-prepared"): Promise<number> {
  const script = join(import.meta.dir, `../contenders/${name}.ts`)
  const command = [process.execPath, script, lab.path(`${name}.db`), String(lab.plan.writeSeconds)]
  const child = lab.start([...lab.cores.server, ...command])
  const { adds, seconds } = JSON.parse(await new Lines(child, name).next())
  await child.exited
  return adds / seconds
}

/** The number of entries when it does not grow any more: what a turn has asked for last can still be on its way. */
async function permanentCount(url: string): Promise<number> {
  let before = -1
  for (;;) {
    const status = (await (await fetch(`${url}/status`)).json()) as { perm_whitelist_count: number }
    if (status.perm_whitelist_count === before) return before
    before = status.perm_whitelist_count
    await Bun.sleep(REST)
  }
}
