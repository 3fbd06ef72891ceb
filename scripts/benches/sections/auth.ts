// /auth itself: requests a second and processor time a request, beside the empty handlers and nginx.

import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { PERMANENT_PATH } from "../../../src/wire/paths.ts"
import { type BareServer, startBare } from "../bare-server.ts"
import { importFile } from "../import-file.ts"
import type { Lab } from "../lab.ts"
import { type Entries, EVERY_LENGTH, makeEntries } from "../million.ts"
import { startGeo, startSite } from "../nginx.ts"
import { type Report, shown } from "../report.ts"
import { median, type Ratio, ratioOf, type Sample } from "../statistics.ts"
import { type Turn, turn } from "../wrk.ts"
import { largeDatabase } from "./bulk.ts"

const CONNECTIONS = 32
/** The fastest peer reached this share of the bare Bun handler when it was measured; it is not part of this run. */
const PEER_OF_BARE = 0.2

/** Ten networks that contain every address: so ten entries can be asked for the clients of any other lists. */
const EVERYBODY = [
  ...["0.0.0.0/2", "64.0.0.0/2", "128.0.0.0/2", "192.0.0.0/2"],
  ...["::/3", "2000::/3", "4000::/3", "6000::/3", "8000::/2", "c000::/2"],
]

type Clients = { readonly file: string; readonly held: number }

type Contender = {
  readonly name: string
  readonly clientsText: string
  readonly url: string
  readonly servers: readonly number[]
  readonly clients: Clients
  /** `null`: it says yes to everybody, so its answers prove nothing. */
  readonly answer: 204 | 401 | null
}

export async function measureAuth(lab: Lab, report: Report): Promise<void> {
  const { database, entries } = await largeDatabase(lab, report)
  report.section("/auth")
  if (lab.programs.wrk === null) return
  const contenders = await startContenders(lab, report, database, entries)
  const turns = await takeTurns(lab, report, lab.programs.wrk, contenders)
  tell(report, contenders, turns)
}

async function startContenders(
  lab: Lab,
  report: Report,
  database: string,
  entries: Entries,
): Promise<Contender[]> {
  const { count } = entries
  const ten = await makeEntries(lab, "ten", 10)
  const every = await makeEntries(lab, "every", count, { kind: EVERY_LENGTH })
  const strangers = await lab.write("strangers.txt", `${entries.out.join("\n")}\n`)
  const everyStranger = await lab.write("every-strangers.txt", `${every.out.join("\n")}\n`)

  await importOnce(lab, "ten.db", ten.file)
  await importOnce(lab, "everybody.db", await lab.write("everybody.txt", `${EVERYBODY.join("\n")}\n`))
  await importOnce(lab, "every.db", every.file)
  copyFileSync(lab.path("every.db"), lab.path("zero.db"))

  const bare = await startBare(lab, [process.execPath, join(import.meta.dir, "../contenders/bare-bun.ts")])
  const header = await startBare(lab, [
    process.execPath,
    join(import.meta.dir, "../contenders/header-bun.ts"),
  ])
  const gate = async (name: string): Promise<BareServer> => lab.serve(name)
  const large = await gate(database)
  const small = await gate("ten.db")
  const wide = await gate("everybody.db")
  const mixed = await gate("every.db")
  const open = await lab.serve("zero.db")
  for (const ip of ["0.0.0.0/0", "::/0"]) await open.api("POST", PERMANENT_PATH, { ip })

  const thousand: Clients = { file: entries.clients, held: 1_000 }
  const another: Clients = { file: entries.clients, held: 0 }
  const row = (
    name: string,
    clientsText: string,
    { url, pid }: BareServer,
    clients: Clients,
    answer: Contender["answer"] = 204,
  ): Contender => ({ name, clientsText, url, servers: [pid], clients, answer })

  const contenders = [
    row("bare Bun.serve", "1,000 clients", bare, thousand, null),
    row("bare Bun.serve", "every request another", bare, another, null),
    row("Bun.serve that reads the header", "1,000 clients", header, thousand, null),
    row("ipgate, 10 entries", "10 clients", small, { file: ten.clients, held: 10 }),
    row(`ipgate, ${count} entries`, "1,000 clients", large, thousand),
    row(`ipgate, ${count} entries`, "every request another", large, another),
    row(`ipgate, ${count} entries`, "1,000 strangers", large, { file: strangers, held: 1_000 }, 401),
    row("ipgate, 10 entries", "every request another of all lengths", wide, { file: every.clients, held: 0 }),
    row("ipgate, all lengths from 1", "1,000 clients", mixed, { file: every.clients, held: 1_000 }),
    row("ipgate, all lengths from 1", "every request another", mixed, { file: every.clients, held: 0 }),
    row("ipgate, all lengths from 1", "1,000 strangers", mixed, { file: everyStranger, held: 1_000 }, 401),
    row("ipgate, all lengths from 0", "1,000 clients", open, { file: every.clients, held: 1_000 }),
  ]
  const { node, nginx } = lab.programs
  if (node !== null) {
    const plain = await startBare(lab, [node, join(import.meta.dir, "../contenders/bare-node.js")])
    contenders.push(row("bare node:http", "1,000 clients", plain, thousand, null))
  }
  if (nginx !== null) {
    const geo = await startGeo(lab, entries.geo)
    const asked = { url: geo.url, pid: geo.worker }
    contenders.push(row(`nginx geo, ${count} entries`, "1,000 clients", asked, thousand))
    contenders.push(row(`nginx geo, ${count} entries`, "every request another", asked, another))
    const open = await startSite(lab, null)
    const guarded = await startSite(lab, large.url.replace("http://", ""))
    contenders.push(
      row("nginx, a page", "1,000 clients", { url: open.url, pid: open.worker }, thousand, null),
    )
    contenders.push({
      ...row(
        "nginx, a page behind ipgate",
        "1,000 clients",
        { url: guarded.url, pid: guarded.worker },
        thousand,
      ),
      servers: [guarded.worker, large.pid],
    })
    await checkAnswers(report, "nginx geo", geo.url, entries, 204)
    await checkAnswers(report, "nginx behind ipgate", guarded.url, entries, 200)
  }
  await checkAnswers(report, `ipgate, ${count} entries`, large.url, entries, 204)
  await checkAnswers(report, "ipgate, 10 entries", small.url, ten, 204)
  await checkAnswers(report, "ipgate, all lengths", mixed.url, every, 204)
  return contenders
}

async function importOnce(lab: Lab, database: string, file: string): Promise<void> {
  const server = await lab.serve(database)
  await importFile(lab, server.url, file)
  await server.stop()
}

/** Each client at hand once: the load below only counts refusals. */
async function checkAnswers(
  report: Report,
  name: string,
  url: string,
  entries: Entries,
  yes: number,
): Promise<void> {
  const ask = async (client: string, expected: number) => {
    const { status } = await fetch(`${url}/auth`, { headers: { "X-Real-IP": client } })
    if (status !== expected) report.wrongAnswer(`${name}: ${client} gets ${status} in place of ${expected}`)
  }
  for (const client of entries.in) await ask(client, yes)
  for (const client of entries.out) await ask(client, 401)
}

/** In each round everybody has a turn; a first, short round warms up and is thrown away. */
async function takeTurns(
  lab: Lab,
  report: Report,
  wrk: string,
  contenders: readonly Contender[],
): Promise<Map<Contender, Turn[]>> {
  const { rounds, turnSeconds, warmUpSeconds } = lab.plan
  const turns = new Map<Contender, Turn[]>(contenders.map((contender) => [contender, []]))
  const lengths = [
    ...(warmUpSeconds > 0 ? [warmUpSeconds] : []),
    ...new Array<number>(rounds).fill(turnSeconds),
  ]
  for (const [round, seconds] of lengths.entries()) {
    for (const contender of contenders) {
      const { url, servers, clients, answer } = contender
      const taken = await turn({
        command: [...lab.cores.load, wrk],
        url: `${url}/auth`,
        script: "load.lua",
        // Another place of the file in each round, so that no client comes again soon.
        args: [clients.file, String(clients.held), String(round / lengths.length)],
        connections: CONNECTIONS,
        seconds,
        servers,
      })
      judge(report, contender, taken, answer)
      if (warmUpSeconds === 0 || round > 0) turns.get(contender)?.push(taken)
    }
  }
  return turns
}

function judge(
  report: Report,
  { name, clientsText }: Contender,
  turn: Turn,
  answer: Contender["answer"],
): void {
  const refused = answer === 401 ? turn.requests : 0
  if (turn.refused === refused && turn.broken === 0) return
  report.wrongAnswer(
    `${name}, ${clientsText}: ${turn.requests} requests, ${turn.refused} refused, ${turn.broken} without an answer`,
  )
}

function tell(report: Report, contenders: readonly Contender[], turns: Map<Contender, Turn[]>): void {
  const find = (name: string, clientsText: string): readonly Sample[] => {
    const contender = contenders.find(
      (other) => other.name.startsWith(name) && other.clientsText === clientsText,
    )
    return (contender === undefined ? undefined : turns.get(contender)) ?? []
  }
  const count = contenders.find(({ name }) => /^ipgate, [0-9]{3,} entries/.test(name))?.name ?? "ipgate, "
  const bare = find("bare Bun", "1,000 clients")
  const bareAnother = find("bare Bun", "every request another")
  const large = find(count, "1,000 clients")
  const another = find(count, "every request another")
  const ten = find("ipgate, 10 entries", "10 clients")
  const geo = find("nginx geo", "1,000 clients")
  const node = find("bare node", "1,000 clients")

  const page = find("nginx, a page", "1,000 clients")
  const guarded = find("nginx, a page behind", "1,000 clients")
  const cost =
    page.length === 0
      ? ""
      : ` A page behind ipgate: ${shown(ratioOf(guarded, page).value)} of the page without a check.`
  report.table(
    "GET /auth, medians",
    ["contender", "clients", "requests/s", "CPU us a request", "core in use", "of the bare handler"],
    contenders.map((contender) => {
      const taken = turns.get(contender) ?? []
      const to = contender.clientsText.startsWith("every request another") ? bareAnother : bare
      return [
        contender.name,
        contender.clientsText,
        median(taken.map(({ perSecond }) => perSecond)),
        median(taken.map(({ cpuMicros }) => cpuMicros)),
        `${(median(taken.map(({ busy }) => busy)) * 100).toFixed(0)} %`,
        ratioOf(taken, to).value,
      ]
    }),
    `wrk with ${CONNECTIONS} connections in turns of the same length. The processor time of a page behind ipgate is that of nginx and ipgate together, on one core.${cost}`,
  )

  const target = (what: string, ratio: Ratio, least: number, scale = 1, more = "") =>
    report.target({
      what,
      value: ratio.value * scale,
      unit: "",
      must: "at least",
      target: least,
      detail: `by ${ratio.by}; requests/s ${(ratio.requests * scale).toFixed(2)}, CPU time ${(ratio.cpu * scale).toFixed(2)}${more}`,
    })
  const size = count.replace("ipgate, ", "")
  target(`/auth, ${size}, 1,000 clients, of a bare Bun.serve handler`, ratioOf(large, bare), 0.9)
  target(
    `/auth, ${size}, every request another client, of a bare Bun.serve handler`,
    ratioOf(another, bareAnother),
    0.8,
  )
  if (geo.length > 0)
    target(`/auth, ${size}, of nginx deciding by its own geo table`, ratioOf(large, geo), 0.85)
  target(
    `/auth, ${size}, of the fastest peer`,
    ratioOf(large, bare),
    4,
    1 / PEER_OF_BARE,
    `; the peer is not in this run: it is put at ${PEER_OF_BARE} of the bare Bun handler, as measured earlier${
      node.length > 0
        ? `; of a bare node:http handler, which no peer on Node can beat, ${ratioOf(large, node).value.toFixed(2)}`
        : ""
    }`,
  )
  target(`/auth, ${size}, of the same with 10 entries`, ratioOf(large, ten), 0.9)
  target(
    "/auth, all prefix lengths from 1 in use, every request another client, of 10 entries asked for the same",
    ratioOf(
      find("ipgate, all lengths from 1", "every request another"),
      find("ipgate, 10 entries", "every request another of all lengths"),
    ),
    0.9,
  )
  target(
    "/auth, all 33 + 129 prefix lengths in use, of 10 entries",
    ratioOf(find("ipgate, all lengths from 0", "1,000 clients"), ten),
    0.9,
  )
}
